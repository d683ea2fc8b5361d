"""Limits: sources, periods, and the start of a change."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import DatabaseError, ProgrammingError, connection, connections, transaction

from players.models import Jurisdiction, LimitChange, LimitKind, LimitSource, Period, Player, User
from players.protection import eligibility
from players.protection.limits import (
    LimitRequired,
    NothingChanges,
    confirm_change,
    decline_offer,
    limits_of,
    must_set_limits,
    own_limits,
    pending,
    period_days,
    period_ends,
    set_limit,
    should_offer,
    withdraw_change,
)
from tests.builders import a_player, confirm_identity
from tests.harness.sweeps import sample
from tests.people import events
from tests.players.limit_clock import let_pass

DEPOSIT, LOSS, STAKE, TIME = LimitKind.DEPOSIT, LimitKind.LOSS, LimitKind.STAKE, LimitKind.TIME
DAY, WEEK, MONTH = Period
CODES = ["SE", "DK", "RO", "DE", "GB"]


def a_newcomer(code: str) -> Player:
    """A player without limits who has not answered an offer."""
    where = Jurisdiction.objects.get(pk=code)
    user = User.objects.create_user(f"newcomer.{code.lower()}@example.com", None)
    player = Player.objects.create(
        user=user, jurisdiction=where, currency=where.currencies[0], birth_date=date(1990, 1, 1)
    )
    confirm_identity(player)
    return player


def ask(player, kind, period, amount, *, source=LimitSource.PLAYER, reason=""):
    return set_limit(
        player=player, kind=kind, period=period, amount=amount, by=str(player), source=source, reason=reason
    )


def holds(player, kind, period):
    limit = limits_of(player).get((kind, period))
    return limit and limit.amount


@pytest.mark.django_db
class TestTheStrictestHolds:
    def test_gli19_2_5_5_of_the_players_and_the_houses_the_stricter(self):
        player = a_player("GB")
        ask(player, STAKE, WEEK, 500)
        assert (holds(player, STAKE, WEEK), limits_of(player)[STAKE, WEEK].source) == (500, "player")
        ask(player, STAKE, WEEK, 300, source=LimitSource.HOUSE, reason="for a test")
        assert (holds(player, STAKE, WEEK), limits_of(player)[STAKE, WEEK].source) == (300, "house")
        ask(player, STAKE, WEEK, 200)
        assert (holds(player, STAKE, WEEK), limits_of(player)[STAKE, WEEK].source) == (200, "player")

    def test_the_law_s_too(self):
        player = a_player("DE")
        assert (holds(player, DEPOSIT, MONTH), limits_of(player)[DEPOSIT, MONTH].source) == (100_000, "law")
        ask(player, DEPOSIT, MONTH, 99_999)
        assert limits_of(player)[DEPOSIT, MONTH].source == "player"

    def test_the_house_lifts_its_own_at_once_and_the_players_holds_on(self):
        player = a_player("GB")
        ask(player, LOSS, DAY, 500)
        ask(player, LOSS, DAY, 100, source=LimitSource.HOUSE, reason="for a test")
        ask(player, LOSS, DAY, None, source=LimitSource.HOUSE, reason="for a test")
        assert holds(player, LOSS, DAY) == 500

    def test_kinds_and_periods_stand_by_themselves(self):
        player = a_player("GB")
        for n, (kind, period) in enumerate((kind, period) for kind in LimitKind for period in Period):
            ask(player, kind, period, 1000 + n)
        assert {key: limit.amount for key, limit in limits_of(player).items()} == own_limits(player)
        assert len(own_limits(player)) == len(LimitKind) * len(Period)

    def test_a_limit_of_nothing_is_a_limit(self):
        player = a_player("GB")
        ask(player, DEPOSIT, DAY, 0, source=LimitSource.HOUSE, reason="for a test")
        assert holds(player, DEPOSIT, DAY) == 0


@pytest.mark.django_db
class TestChanging:
    @pytest.mark.parametrize("code", CODES)
    def test_gli19_a_3_7_stricter_holds_at_once_everywhere(self, code):
        player = a_player(code)
        change = ask(player, STAKE, MONTH, 1000)
        assert change.effective_at == change.asked_at
        stricter = ask(player, STAKE, MONTH, 999)
        assert stricter.effective_at == stricter.asked_at
        assert (stricter.before, holds(player, STAKE, MONTH)) == (1000, 999)

    @pytest.mark.parametrize(("code", "hours"), [("DK", 24), ("RO", 24), ("DE", 7 * 24), ("GB", 24)])
    @pytest.mark.parametrize("amount", [501, None], ids=["raised", "removed"])
    def test_gli19_a_3_8_looser_waits_as_long_as_the_profile_says(self, code, hours, amount):
        player = a_player(code)
        ask(player, STAKE, DAY, 500)
        change = ask(player, STAKE, DAY, amount)
        assert change.effective_at - change.asked_at == timedelta(hours=hours)
        assert holds(player, STAKE, DAY) == 500
        assert pending(player)[STAKE, DAY].amount == amount

    @pytest.mark.parametrize("period", Period, ids=str)
    def test_in_sweden_72_hours_and_not_before_the_running_period_ends(self, period):
        player = a_player("SE")
        ask(player, STAKE, period, 500)
        change = ask(player, STAKE, period, 501)
        end = period_ends(player)[period]
        assert change.effective_at == max(change.asked_at + timedelta(hours=72), end)
        there = end.astimezone(ZoneInfo("Europe/Stockholm"))
        assert (there.hour, there.minute, there.second) == (0, 0, 0)

    def test_a_second_request_replaces_the_first_and_waits_again(self):
        player = a_player("GB")
        ask(player, LOSS, DAY, 500)
        first, second = ask(player, LOSS, DAY, 600), ask(player, LOSS, DAY, 700)
        assert second.effective_at > first.effective_at
        assert (pending(player)[LOSS, DAY].amount, holds(player, LOSS, DAY)) == (700, 500)

    def test_stricter_withdraws_what_was_to_come(self):
        player = a_player("GB")
        ask(player, LOSS, DAY, 500)
        ask(player, LOSS, DAY, 600)
        ask(player, LOSS, DAY, 400)
        assert (pending(player), holds(player, LOSS, DAY)) == ({}, 400)

    def test_a_pending_change_is_seen_and_withdrawn(self):
        player = a_player("GB")
        ask(player, LOSS, DAY, 500)
        ask(player, LOSS, DAY, None)
        withdraw_change(player=player, kind=LOSS, period=DAY, by=str(player))
        assert (pending(player), holds(player, LOSS, DAY)) == ({}, 500)
        assert events("limits.withdrawn", on=str(player))[0]["data"]["after"] == 500
        with pytest.raises(NothingChanges):
            withdraw_change(player=player, kind=LOSS, period=DAY, by=str(player))

    def test_what_holds_already_is_no_change(self):
        player = a_player("GB")
        ask(player, LOSS, DAY, 500)
        with pytest.raises(NothingChanges):
            ask(player, LOSS, DAY, 500)
        with pytest.raises(NothingChanges):
            ask(player, STAKE, DAY, None)
        waiting = ask(player, LOSS, DAY, 600)
        with pytest.raises(NothingChanges):
            ask(player, LOSS, DAY, 600)
        assert pending(player)[LOSS, DAY].effective_at == waiting.effective_at

    def test_gli19_2_8_5_who_asked_for_what_and_when_is_kept(self):
        player = a_player("GB")
        ask(player, DEPOSIT, WEEK, 500)
        ask(player, DEPOSIT, WEEK, 700)
        kept = [event["data"] for event in events("limits.changed", on=str(player))]
        assert [(line["before"], line["after"], line["source"]) for line in kept] == [
            (None, 500, "player"),
            (500, 700, "player"),
        ]
        first, second = LimitChange.objects.filter(player=player).order_by("pk")
        for row, amount, hours in ((first, 500, 0), (second, 700, 24)):
            assert (row.kind, row.period, row.amount, row.source) == ("deposit", "week", amount, "player")
            assert row.asked_by == str(player)
            assert row.effective_at - row.asked_at == timedelta(hours=hours)


class TestAsTimeGoesBy:
    @pytest.mark.parametrize(("code", "hours"), sample([("DK", 24), ("RO", 24), ("DE", 7 * 24)], 1))
    def test_a_looser_limit_holds_when_its_time_has_come_and_not_before(self, cloned_db, owner, code, hours):
        player = a_player(code)
        ask(player, STAKE, DAY, 500)
        ask(player, STAKE, DAY, 600)
        let_pass(owner, player, hours - 1)
        assert (holds(player, STAKE, DAY), len(pending(player))) == (500, 1)
        let_pass(owner, player, 1)
        assert (holds(player, STAKE, DAY), len(pending(player))) == (600, 0)

    def test_a_removed_one_is_gone_then(self, cloned_db, owner):
        player = a_player("DK")
        ask(player, STAKE, DAY, 500)
        ask(player, STAKE, DAY, None)
        let_pass(owner, player, 24)
        assert holds(player, STAKE, DAY) is None

    def test_what_was_withdrawn_never_comes(self, cloned_db, owner):
        player = a_player("DK")
        ask(player, STAKE, DAY, 500)
        ask(player, STAKE, DAY, 600)
        withdraw_change(player=player, kind=STAKE, period=DAY, by=str(player))
        let_pass(owner, player, 1000)
        assert holds(player, STAKE, DAY) == 500

    def test_what_has_taken_effect_can_only_be_tightened_at_once(self, cloned_db, owner):
        player = a_player("DK")
        ask(player, STAKE, DAY, 500)
        ask(player, STAKE, DAY, 600)
        let_pass(owner, player, 24)
        assert ask(player, STAKE, DAY, 550).before == 600
        assert holds(player, STAKE, DAY) == 550

    def test_gb_a_raise_takes_effect_when_it_is_confirmed_after_the_wait_and_not_before(self, cloned_db, owner):
        player = a_player("GB")
        which: dict[str, Any] = {"player": player, "kind": DEPOSIT, "period": WEEK, "by": str(player)}
        ask(player, DEPOSIT, WEEK, 500)
        assert ask(player, DEPOSIT, WEEK, 600).needs_confirmation
        for hours in (0, 23):
            let_pass(owner, player, hours)
            with pytest.raises(NothingChanges):
                confirm_change(**which)
        let_pass(owner, player, 1000)
        assert (holds(player, DEPOSIT, WEEK), pending(player)[DEPOSIT, WEEK].amount) == (500, 600)
        confirmed = confirm_change(**which)
        assert (confirmed.before, confirmed.amount) == (500, 600)
        assert (holds(player, DEPOSIT, WEEK), pending(player)) == (600, {})
        assert events("limits.changed", on=str(player))[-1]["data"]["change"] == confirmed.pk
        with pytest.raises(NothingChanges):
            confirm_change(**which)
        ask(player, DEPOSIT, WEEK, None)
        let_pass(owner, player, 24)
        withdraw_change(**which)
        assert holds(player, DEPOSIT, WEEK) == 600

    def test_not_even_the_owner_of_the_tables_changes_what_was_asked(self, cloned_db, owner):
        player = a_player("DK")
        ask(player, STAKE, DAY, 500)
        for statement in (
            "UPDATE players_limitchange SET amount = 1000",
            "DELETE FROM players_limitchange",
            "TRUNCATE players_limitchange",
            "UPDATE players_limitoffer SET answered_at = now()",
        ):
            with pytest.raises(Exception, match="never changed"):
                owner.execute(statement)


@pytest.mark.django_db
class TestPeriods:
    """Calendar periods in the player's time zone, with its clock changes."""

    @pytest.mark.parametrize(
        ("zone", "period", "moment", "start", "hours"),
        [
            ("Europe/Bucharest", "day", "2026-10-25 12:00", "2026-10-24 21:00", 25),
            ("Europe/Bucharest", "day", "2026-03-29 12:00", "2026-03-28 22:00", 23),
            ("Europe/London", "day", "2026-03-29 00:30", "2026-03-29 00:00", 23),
            ("Europe/London", "day", "2026-10-25 23:59", "2026-10-24 23:00", 25),
            ("Europe/London", "week", "2026-03-29 22:59", "2026-03-23 00:00", 7 * 24 - 1),
            ("Europe/Stockholm", "week", "2026-11-22 22:59", "2026-11-15 23:00", 7 * 24),
            ("Europe/Stockholm", "week", "2026-11-22 23:00", "2026-11-22 23:00", 7 * 24),
            ("Europe/Berlin", "month", "2026-03-15 00:00", "2026-02-28 23:00", 31 * 24 - 1),
            ("Europe/Copenhagen", "month", "2026-10-31 22:59", "2026-09-30 22:00", 31 * 24 + 1),
            ("Europe/Copenhagen", "month", "2026-10-31 23:00", "2026-10-31 23:00", 30 * 24),
        ],
    )
    def test_begin_at_midnight_there(self, zone, period, moment, start, hours):
        at = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT players_period_start(%s::text, %s::timestamptz, %s::text),"
                " players_period_end(%s::text, %s::timestamptz, %s::text)",
                [period, at, zone] * 2,
            )
            begins, ends = cursor.fetchone()
        assert begins == datetime.fromisoformat(start).replace(tzinfo=UTC)
        assert ends - begins == timedelta(hours=hours)

    @pytest.mark.parametrize("code", CODES)
    def test_a_week_begins_on_monday_and_a_month_on_the_first(self, code):
        days = period_days(a_player(code))
        assert days[WEEK].isoweekday() == 1
        assert days[MONTH].day == 1
        assert days[WEEK] <= days[DAY] < days[WEEK] + timedelta(days=7)


@pytest.mark.django_db
class TestBeforePlay:
    @pytest.mark.parametrize(("code", "periods"), [("SE", [DAY, WEEK, MONTH]), ("DE", [MONTH])])
    def test_play_waits_until_every_required_limit_is_set(self, code, periods):
        player = a_newcomer(code)
        for period in periods:
            assert must_set_limits(player)
            ask(player, DEPOSIT, period, 1000)
        assert not must_set_limits(player)
        assert not should_offer(player)

    @pytest.mark.parametrize("code", ["DK", "RO", "GB"])
    def test_elsewhere_it_is_offered_once(self, code):
        player = a_newcomer(code)
        assert (must_set_limits(player), should_offer(player)) == (False, True)
        decline_offer(player=player)
        decline_offer(player=player)
        assert not should_offer(player)
        assert len(events("limits.declined", on=str(player))) == 1

    @pytest.mark.parametrize("code", ["DK", "RO", "GB"])
    def test_a_player_who_sets_one_is_not_asked(self, code):
        player = a_newcomer(code)
        ask(player, DEPOSIT, WEEK, 1000)
        assert not should_offer(player)

    @pytest.mark.parametrize("code", CODES)
    def test_the_gate_leads_to_the_limits_before_real_money_and_not_before_free(self, code):
        player = a_player(code)
        newcomer = a_newcomer(code)
        newcomer.agreement_set.create(terms_version=player.agreement_set.get().terms_version)
        for ineligibility in (eligibility.check_play(newcomer, real=True), eligibility.check_deposit(newcomer)):
            assert ineligibility is not None
            assert (ineligibility.code in (eligibility.Code.LIMITS, eligibility.Code.OFFER), ineligibility.page) == (
                True,
                "limits",
            )
        assert eligibility.check_play(newcomer, real=False) is None
        assert eligibility.check_play(player, real=True) is None

    @pytest.mark.parametrize(("code", "period"), [("SE", DAY), ("SE", WEEK), ("SE", MONTH), ("DE", MONTH)])
    def test_a_required_limit_can_be_raised_and_not_removed(self, code, period):
        player = a_newcomer(code)
        ask(player, DEPOSIT, period, 1000)
        with pytest.raises(LimitRequired):
            ask(player, DEPOSIT, period, None)
        assert ask(player, DEPOSIT, period, 2000).amount == 2000

    def test_in_sweden_a_limit_above_10_000_kronor_a_month_calls_for_contact(self):
        player = a_newcomer("SE")
        ask(player, DEPOSIT, WEEK, 5_000_000)
        ask(player, DEPOSIT, MONTH, 1_000_000)
        assert events("limits.contact_due") == []
        ask(player, DEPOSIT, MONTH, 1_000_001)
        assert [event["on"] for event in events("limits.contact_due")] == [str(player)]

    def test_no_other_profile_calls_for_contact(self):
        for code in ("DK", "RO", "DE", "GB"):
            ask(a_newcomer(code), DEPOSIT, MONTH, 10**9)
        assert events("limits.contact_due") == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO players_limitchange (player_id) SELECT id FROM players_player",
        "UPDATE players_limitchange SET amount = NULL",
        "DELETE FROM players_limitchange",
        "UPDATE players_limitoffer SET answered_at = now()",
        "DELETE FROM players_limitoffer",
    ],
)
def test_web_and_workers_write_no_limit_past_the_function(statement):
    a_player("GB")
    with (
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("source", "kind", "period", "amount"),
    [
        ("law", "stake", "day", 1),
        ("player", "wine", "day", 1),
        ("player", "stake", "year", 1),
        ("player", "stake", "day", -1),
    ],
)
def test_what_is_no_limit_is_refused_by_the_database(source, kind, period, amount):
    player = a_player("GB")
    with pytest.raises(DatabaseError), transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute(
            "SELECT players_change_limit(%s::bigint, %s::text, %s::text, %s::text, %s::bigint, '', '')",
            [player.pk, source, kind, period, amount],
        )
