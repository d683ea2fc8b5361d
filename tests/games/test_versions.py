"""Versions of a table: a round is played under the version that its player was shown."""

from copy import deepcopy
from html import unescape
from itertools import pairwise
from threading import Barrier, Event, Thread
from typing import Any

import pytest
from django.db import connection, connections
from django.test import Client
from django.utils import translation

from games import solo
from games.betting.limits import Limits
from games.betting.rules import Change
from games.errors import BalanceTooLow, TableChanged, TableClosed
from games.models import Participation, Round, SoloSeat, TableVersion
from games.tables.checks import NothingChanged, ReturnTooLow, TableError, UnusableLimits
from games.tables.default_tables import baccarat_limits, load_tables
from games.variants import VARIANTS
from tests.builders import a_player, a_round, a_seat, a_table, put_live
from tests.harness.sweeps import sample
from tests.people import events
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

MONEY = 1_000_000
LANGUAGES = ("sv", "da", "ro", "de", "en")
OTHER_DIGEST = "07" * 32
OTHER_RULES = f"""
INSERT INTO games_highestodds (rules_digest, bet, outcome, win, per)
SELECT '{OTHER_DIGEST}', bet, outcome, win, per FROM games_highestodds
WHERE rules_digest = '{VARIANTS["baccarat"].digest}';
INSERT INTO games_betcombinations (rules_digest, exclusions, needs, wins, decks)
SELECT '{OTHER_DIGEST}', exclusions, needs, wins, decks FROM games_betcombinations
WHERE rules_digest = '{VARIANTS["baccarat"].digest}'
"""


def limits_with(bet: str, low: int, high: int):
    """Return the shipped limits with other limits in SEK for one bet."""
    limits = deepcopy(baccarat_limits())
    limits["SEK"]["bets"][bet] = [low, high]
    return limits


def change(table, limits=None, reason="a new season"):
    return put_live(table_id=table.pk, limits=limits or limits_with("tie", 1000, 5000), reason=reason)


@pytest.mark.django_db
class TestANewVersion:
    def test_gli19_a_6_1_is_the_next_number_and_in_force_at_once(self):
        table = a_table()
        version = change(table)
        table.refresh_from_db()
        assert (table.version, version.number) == (version, 2)
        assert Limits.of(version.limits, "SEK").bets["tie"].maximum == 5000
        assert TableVersion.objects.get(table=table, number=1).limits == baccarat_limits()

    def test_gli19_a_5_1_is_recorded_with_what_was_and_what_is(self):
        table = a_table()
        change(table, reason="quiet evenings")
        event = events("table.version", on=f"table:{table.pk}")[-1]
        approval = TableVersion.objects.get(table=table, number=2).approval
        assert approval is not None
        assert (event["by"], event["data"]["asked_by"]) == (approval.decision.by, approval.by)
        assert event["by"] != approval.by
        assert event["data"]["reason"] == "quiet evenings"
        assert event["data"]["before"]["number"] == 1
        assert event["data"]["before"]["limits"] == baccarat_limits()
        assert event["data"]["after"]["limits"]["SEK"]["bets"]["tie"] == [1000, 5000]
        assert event["data"]["after"]["rules_digest"] == VARIANTS["baccarat"].digest

    def test_without_a_change_is_refused(self):
        table = a_table()
        with pytest.raises(NothingChanged):
            change(table, baccarat_limits())
        assert TableVersion.objects.count() == 1

    def test_without_a_reason_is_refused(self):
        with pytest.raises(TableError, match="reason"):
            change(a_table(), reason=" ")

    def test_gli19_4_7_1_that_returns_too_little_is_refused_and_nothing_changes(self):
        limits = baccarat_limits()
        limits["EUR"] = {"step": 1, "chips": [1], "bets": {bet: [1, 100] for bet in ("player", "banker", "tie")}}
        table = a_table()
        with pytest.raises(ReturnTooLow):
            change(table, limits)
        table.refresh_from_db()
        assert table.version is not None
        assert table.version.number == 1

    @pytest.mark.parametrize(
        "broken",
        [
            {"bets": {"player": [1000, 2000]}},
            {"chips": [1500]},
            {"chips": []},
            {"bets": {bet: [2000, 1000] for bet in ("player", "banker", "tie")}},
            {"bets": {bet: [1000, 2500] for bet in ("player", "banker", "tie")}},
        ],
        ids=["a bet is missing", "chip off the step", "no chips", "minimum over maximum", "maximum off the step"],
    )
    def test_that_cannot_be_played_is_refused(self, broken):
        limits = baccarat_limits()
        limits["SEK"] |= broken
        with pytest.raises(UnusableLimits):
            change(a_table(), limits)

    def test_takes_the_table_from_nobody(self):
        limits = baccarat_limits()
        del limits["DKK"]
        with pytest.raises(UnusableLimits, match="DKK"):
            change(a_table(), limits)


@pytest.mark.django_db
class TestAPageOfAnotherVersion:
    def test_deals_nothing_and_moves_nothing(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        change(table)
        with pytest.raises(TableChanged):
            solo.play_round(
                player=player,
                table_id=table.pk,
                mode=Mode.REAL,
                round_id=seat.round_id,
                slip_version=seat.slip_version,
                table_version=1,
            )
        assert not Round.objects.exists()
        assert accounts.balance(player.pk, Mode.REAL) == MONEY
        assert events("round.refused")[0]["data"]["reason"] == "TableChanged"

    def test_places_no_chip_and_changes_no_slip(self):
        player, table = a_player(real=MONEY), a_table()
        a_seat(player, table, player=1000)
        change(table)
        where: dict[str, Any] = {"player": player, "table_id": table.pk, "mode": Mode.REAL, "table_version": 1}
        with pytest.raises(TableChanged):
            solo.add_chip(**where, bet="player", chip=1000)
        with pytest.raises(TableChanged):
            solo.change_slip(**where, change=Change.DOUBLE)
        assert a_seat(player, table).slip == {"player": 1000}

    def test_still_finds_the_round_it_played_before(self):
        player, table = a_player(real=MONEY), a_table()
        seat = a_seat(player, table, player=1000)
        deal: dict[str, Any] = {
            "player": player,
            "table_id": table.pk,
            "mode": Mode.REAL,
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": 1,
        }
        solo.play_round(**deal)
        change(table)
        assert solo.play_round(**deal).repeated

    def test_gli19_a_6_1_under_rules_that_the_software_does_not_have_is_a_closed_table(self, monkeypatch):
        player, table = a_player(real=MONEY), a_table()
        a_seat(player, table, player=1000)
        monkeypatch.setitem(vars(VARIANTS["baccarat"]), "digest", OTHER_DIGEST)
        with pytest.raises(TableClosed):
            a_round(player, table)
        load_tables()
        with connection.cursor() as cursor:  # as `manage.py migrate` does with a release that has these rules
            cursor.execute("SELECT tests.as_owner(%s)", [OTHER_RULES])
        a_round(player, table)
        assert Round.objects.get().table_version.number == 2
        taken, renewed = events("seat.committed")
        assert (taken["data"]["reason"], renewed["data"]["reason"]) == ("taken", "rules")
        assert renewed["data"]["rules"] == OTHER_DIGEST != taken["data"]["rules"]


@pytest.mark.django_db
class TestThePage:
    @pytest.fixture
    def player(self):
        return a_player(real=MONEY)

    @pytest.fixture
    def visitor(self, player) -> Client:
        visitor = Client()
        visitor.force_login(player.user)
        return visitor

    def click(self, visitor, action, version, language="en", **headers):
        seat = SoloSeat.objects.get()
        form = {
            "action": action,
            "round_id": seat.round_id,
            "slip_version": seat.slip_version,
            "table_version": version,
            "chip": 1000,
        }
        return visitor.post(f"/{language}/table/baccarat/real/play/", form, headers=headers)

    @pytest.mark.sweep
    @pytest.mark.parametrize("language", sample(LANGUAGES, 1))
    def test_says_that_the_limits_changed_and_which_bets_no_longer_fit(self, visitor, player, language):
        table = a_table()
        a_seat(player, table, player=1000, tie=10_000)
        change(table)
        answer = self.click(visitor, "deal", 1, language, **{"HX-Request": "true"})
        text = unescape(answer.text)
        english = "The limits or rules of this table have changed. No bet was placed. Check the changes, then continue."
        with translation.override(language):
            assert language == "en" or translation.gettext(english) != english
            assert translation.gettext(english) in text
        assert format_money(5000, "SEK", language) in text
        assert 'name="table_version" value="2"' in text
        assert format_money(11_000, "SEK", language) in text, "the bets are still on the table"
        assert not Round.objects.exists()

    @pytest.mark.sweep
    def test_deals_after_that_what_was_changed_to_fit(self, visitor, player):
        table = a_table()
        a_seat(player, table, player=1000, tie=10_000)
        change(table)
        for action, version in (("bet:player", 1), ("clear", 2), ("bet:tie", 2), ("deal", 2)):
            self.click(visitor, action, version, **{"HX-Request": "true"})
        assert Participation.objects.get().staked == 1000
        assert Round.objects.get().table_version.number == 2

    @pytest.mark.sweep
    def test_says_it_without_javascript_too(self, visitor, player):
        a_seat(player, (table := a_table()), player=1000)
        change(table)
        assert self.click(visitor, "deal", 1).status_code == 302
        assert "have changed" in visitor.get("/en/table/baccarat/real/").text


def test_gli19_a_5_1_rounds_against_changes_are_each_played_under_the_version_that_allowed_them(cloned_db):
    """Players stake what only one of two alternating versions allows; real threads, real commits."""
    table, seats, changes = a_table(limits=limits_with("player", 1000, 1000)), 4, 12
    players = [a_player(real=100 * MONEY) for _ in range(seats)]
    for each in players:
        a_seat(each, table)
    over, barrier = Event(), Barrier(seats + 1)
    wrong: list[Exception] = []

    def deal(player) -> None:
        """Stake what the shown version allows, and deal under its number."""
        where: dict[str, Any] = {"player": player, "table_id": table.pk, "mode": Mode.REAL}
        while not over.is_set():
            shown = solo.solo_seat_at(**where)
            assert shown.table.version is not None
            allowed = Limits.of(shown.table.version.limits, "SEK").bets["player"].minimum
            number = shown.table.version.number
            solo.change_slip(**where, change=Change.CLEAR, table_version=number)
            seat = solo.add_chip(**where, bet="player", chip=allowed, table_version=number)
            solo.play_round(**where, round_id=seat.round_id, slip_version=seat.slip_version, table_version=number)

    def sit(player) -> None:
        barrier.wait()
        while not over.is_set():
            try:
                deal(player)
            except (TableChanged, BalanceTooLow):
                continue
            except Exception as error:  # noqa: BLE001  (the test looks at every outcome)
                wrong.append(error)
                break
        connections.close_all()

    threads = [Thread(target=sit, args=(each,)) for each in players]
    for thread in threads:
        thread.start()
    barrier.wait()
    for number in range(changes):
        amount = 5000 if number % 2 == 0 else 1000
        version = change(table, limits_with("player", amount, amount))
        while not wrong and not Round.objects.filter(table_version=version).exists():
            continue  # until somebody has played under it
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    versions = list(TableVersion.objects.order_by("number"))
    assert len(versions) == changes + 1
    ends = {version.pk: after.created_at for version, after in pairwise(versions)}
    rounds = list(Round.objects.select_related("table_version"))
    for round_ in rounds:
        version = round_.table_version
        staked = Participation.objects.get(round=round_).staked
        assert staked == Limits.of(version.limits, "SEK").bets["player"].minimum
        assert version.created_at <= round_.at
        assert version.pk not in ends or round_.at <= ends[version.pk]
