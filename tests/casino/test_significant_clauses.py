"""Each significant event of GLI-19 v3.0, 2.8.8 is found when it happens."""

import pytest
from django.conf import settings

from audit import approvals, log
from audit.models import Category, Event, Significant, Step, Weight, Work
from audit.sealing import sealer
from audit.significant import detection
from audit.significant.detection import Limit
from audit.staff_text import english
from games.shared import phases
from games.tables import status
from players.account import closures
from players.account.registration import record_change
from players.login import locks
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player, a_round, a_table, a_verified_player
from tests.casino.at_risk import banker_always_wins
from tests.games.test_void import balance, spend, void_round
from tests.live.at_table import a_live_table, bet, make_late
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, log_in
from tests.wallet.at_the_bank import a_payment, call_back, statement
from tests.wallet.test_withdrawals import hear, sent
from wallet.models import Mode

pytestmark = pytest.mark.django_db

MONEY = 10_000_000
BY = "staff:1"


def found(category: Category, on: object = None) -> list[Significant]:
    """Return the findings of a category about a subject, in order."""
    sealer.seal()
    while detection.find():
        pass
    of = Significant.objects.filter(category=category).order_by("pk")
    return list(of if on is None else of.filter(on=str(on)))


def event_of(one: Significant) -> Event:
    """Return the event that a finding is about."""
    assert one.event
    return one.event


def significant_from(what: str, single: int, summed: int, *, days: int = 7, currency: str = "SEK") -> None:

    before, after = detection.threshold(what, currency), Limit(single, summed, days)
    assert before
    detection.change(what=what, currency=currency, before=before, after=after, reason="for a test", by=BY)


def test_gli19_2_8_8_failed_log_ins_with_their_address():
    player, visitor = a_player("SE", password="right password for this"), a_visitor()
    log_in(visitor, player.user, "wrong")
    log_in(visitor, player.user, "wrong again")
    (one,) = found(Category.LOG_IN, player)
    assert (event_of(one).kind, one.weight) == ("login.failed", Weight.NOTICE)
    compliance = a_visitor()
    compliance.force_login(a_member_of_staff("compliance").user)
    page = compliance.get(f"/staff/significant/{one.pk}/")
    address = visitor.defaults["REMOTE_ADDR"]
    assert [each.address for each in page.context["tries"]] == [address, address]
    assert address in page.content.decode()
    assert address not in f"{english(one.because)} {one.rows} {one.key}"


def test_gli19_2_8_8_an_account_that_is_locked_is_an_alert():
    player = a_player()
    number = 0
    while not locks.end_try(player.user.email, number, ip="192.0.2.1"):
        number = locks.begin_try(player.user.email) or 0
    (one,) = found(Category.LOG_IN, player)
    assert (event_of(one).kind, one.weight) == ("login.locked", Weight.ALERT)
    compliance = a_visitor()
    compliance.force_login(a_member_of_staff("compliance").user)
    assert "192.0.2.1" in compliance.get(f"/staff/significant/{one.pk}/").content.decode()


@pytest.mark.parametrize("changes", [{"amount": 1}, {"currency": "EUR"}])
def test_gli19_2_8_8_mismatches(changes):
    player = a_verified_player("SE")
    call_back(statement(a_payment(player), **changes))
    (one,) = found(Category.ERROR, player)
    assert (event_of(one).kind, one.weight) == ("payment.mismatched", Weight.ALERT)


def test_gli19_2_8_8_times_when_play_stood_still():
    live_table = a_live_table()
    bet(a_player("SE", real=MONEY), live_table, player=10_000)
    make_late(live_table, settings.LIVE_LATE_SECONDS + 60)
    phases.advance(live_table.pk)
    (one,) = found(Category.STANDSTILL, f"table:{live_table.table_id}")
    assert (event_of(one).kind, one.weight) == ("incident.opened", Weight.ALERT)
    assert one.title == "Round exceeded its deadline"


class TestLargeAmounts:
    def test_gli19_2_8_8_a_large_wager_and_a_large_win(self):
        significant_from("wager", 1_000, 10**9, currency="GBP")
        significant_from("win", 900, 10**9, currency="GBP")
        player, table = a_player("GB", real=MONEY, free=MONEY), a_table()
        with banker_always_wins():
            small = a_round(player, table, banker=500)
            large = a_round(player, table, banker=1_000)
            a_round(player, table, Mode.FREE, banker=1_000)
        (wager,) = found(Category.LARGE_WAGER, player)
        (win,) = found(Category.LARGE_WIN, player)
        assert event_of(wager).on == event_of(win).on == f"round:{large.round_id}" != f"round:{small.round_id}"
        assert (wager.currency, wager.amount, win.amount) == ("GBP", 1_000, 950)

    def test_gli19_2_8_8_wagers_and_wins_summed_over_days_are_found_once(self):
        significant_from("wager", 1_500, 1_500, currency="GBP")
        significant_from("win", 1_000, 1_000, currency="GBP")
        player, table = a_player("GB", real=MONEY), a_table()
        with banker_always_wins():
            for expected in (0, 0, 1, 1, 1):
                a_round(player, table, banker=500)
                assert len(found(Category.LARGE_WAGER, player)) == expected
        (wager,) = found(Category.LARGE_WAGER, player)
        (win,) = found(Category.LARGE_WIN, player)
        assert (wager.amount, win.amount) == (1_500, 3 * 475)
        assert "7 days" in english(wager.because)

    @pytest.mark.sweep
    def test_gli19_2_8_8_deposits_single_and_summed(self):
        significant_from("deposit", 60_000, 90_000, days=30)
        player = a_verified_player("SE")
        for amount, expected in ((50_000, []), (40_000, [90_000]), (60_000, [90_000, 60_000])):
            payment = a_payment(player, amount)
            assert call_back(statement(payment)) == 200
            assert [each.amount for each in found(Category.LARGE_PAYMENT, player)] == expected
        single = found(Category.LARGE_PAYMENT, player)[-1]
        assert single.key == f"deposit:payment {payment.pk}:{player}"
        assert len(found(Category.LARGE_PAYMENT, player)[0].rows) == 1  # a day

    @pytest.mark.sweep
    def test_gli19_2_8_8_withdrawals_paid_out_single_and_summed(self):
        significant_from("withdrawal", 60_000, 90_000)
        player = a_verified_player("SE", real=MONEY)
        large, small = sent(player, 60_000), sent(player, 40_000)
        assert found(Category.LARGE_PAYMENT, player) == []
        hear(large, "paid")
        (one,) = found(Category.LARGE_PAYMENT, player)
        assert (one.key, one.amount) == (f"withdrawal:{large}:{player}", 60_000)
        hear(small, "paid")
        assert [each.amount for each in found(Category.LARGE_PAYMENT, player)] == [60_000, 100_000]

    @pytest.mark.sweep
    def test_gli19_2_8_8_from_when_on_is_set_for_each_currency(self):
        significant_from("deposit", 1, 10**9)
        player = a_verified_player("DE")
        call_back(statement(a_payment(player, 50_000)))
        assert found(Category.LARGE_PAYMENT, player) == []


def test_gli19_2_8_8_voids_and_the_balances_they_adjust():
    player, table = a_player("GB", real=MONEY), a_table()
    with banker_always_wins():
        kept, spent = (a_round(player, table, banker=1_000).round_id for _ in range(2))
    spend(player, balance(player) - 1_200)
    for round_id in (kept, spent):
        void_round(round_id)
    for round_id in (kept, spent):
        (one,) = found(Category.CORRECTION, f"round:{round_id}")
        assert {"What": "players 1 returned", "Value": "-950"} in one.rows
    (made_up,) = found(Category.ADJUSTMENT, player)
    assert (event_of(made_up).on, made_up.currency, made_up.amount) == (f"round:{spent}", "GBP", 700)
    assert made_up.weight == Weight.ALERT


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        ("round.cancelled", Category.CORRECTION),
        ("incident.ruled", Category.CORRECTION),
        ("table.version", Category.PARAMETER),
    ],
)
def test_gli19_2_8_8_overrides_and_changes_name_who_made_them(kind, category):
    event = log.record(kind, by=BY, on="table:1", data={"reason": "for a test", "before": 1, "after": 2})
    (one,) = [each for each in found(category) if each.event_id == event]
    assert BY in english(one.because)
    assert [row["Value"] for row in one.rows] == ["2", "1", "for a test"]


def test_gli19_2_8_8_an_exclusion_lifted_before_its_time_names_both_who_did_it():
    player, one, other = a_player(), a_member_of_staff("compliance"), a_member_of_staff("compliance")
    exclusion = exclusions.exclude(player=player, days=30, reason="for a test", by=one)
    asked = exclusions.ask(exclusion=exclusion, reason="it was another", by=one)
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    (lifted,) = found(Category.CORRECTION, player)
    assert (event_of(lifted).kind, lifted.weight) == ("exclusion.lifted", Weight.ALERT)
    assert str(other) in english(lifted.because)
    assert str(one) in str(lifted.rows)


def test_gli19_2_8_8_changes_of_thresholds_and_tables():
    significant_from("deposit", 5, 6)
    table = a_table()
    status.close_table(table_id=table.pk, reason="for a test", by=BY)
    assert found(Category.PARAMETER, "threshold:deposit:SEK")
    assert [each.title for each in found(Category.PARAMETER, f"table:{table.pk}")][-1] == "Table closed"


def test_the_set_up_of_a_house_is_stored_and_no_open_work_until_somebody_has_logged_in():
    """Closed with a comment by the system and a separate event, so that nothing is hidden."""
    changes = {"table": 1}
    log.record("table.opened", by="system", on="table:101", data=changes)
    log.record("table.opened", by=BY, on="table:102", data=changes)
    log.record("national_rule.changed", by="system", on="rule:SE:pause_hours", data=changes)
    log_in(a_visitor(), a_player(password=PASSWORD).user)
    log.record("table.opened", by="system", on="table:103", data=changes)
    states = {each.on: each.state for each in found(Category.PARAMETER)}
    names = ("table:101", "table:102", "rule:SE:pause_hours", "table:103")
    assert [states[name] for name in names] == [Work.CLOSED, Work.NEW, Work.NEW, Work.NEW]
    (step,) = Significant.objects.get(on="table:101").steps.all()
    assert (step.step, step.by, step.text) == (Step.CLOSED, "system", detection.SET_UP)
    (closed,) = events("significant.closed")
    assert closed["data"]["after"] == "closed"
    sealer.seal()
    assert not detection.scan()


def test_gli19_2_8_8_changes_to_personal_data():
    player: Player = a_player()
    record_change("address.changed", user=player.user, ip="192.0.2.1", old_email="before@example.com")
    (one,) = found(Category.PERSONAL, player)
    assert "before@example.com" not in f"{english(one.because)} {one.rows}"


def test_gli19_2_8_8_deactivations():
    player = a_player()
    exclusions.exclude_self(player=player, months=12, by=str(player))
    closures.begin(player=player, ip="192.0.2.1")
    kinds = [event_of(each).kind for each in found(Category.DEACTIVATION, player)]
    assert sorted(kinds) == ["account.closing", "player.excluded"]
