"""The report of deposits and withdrawals: every payment, its state, and sums equal to the
ledger's.
"""

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from audit import approvals
from audit.reports.kinds import Interval
from players.protection import exclusions
from tests import reports_history
from tests.harness import databases
from tests.harness.databases import Database
from tests.people import a_member_of_staff
from tests.reports_history import a_depositor, ask, clock, deposit, paid_out
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet import reports, withdrawals
from wallet.payments import held_deposits
from wallet.payments.notifications import ask_about
from wallet.sandbox_bank.orders import Answer

pytestmark = pytest.mark.django_db


def read(interval, **choices):
    """Return the rows and the sums below them, by column name."""
    names = [column.name for column in reports.PAYMENT_COLUMNS]
    answer = reports.payments(ask(interval, **choices))
    rows = [dict(zip(names, row, strict=True)) for row in answer.rows]
    return rows, [dict(zip(names, row, strict=True)) for row in answer.totals()]


def summed(interval):
    return {(row["currency"], row["kind"], row["status"]): row["amount"] for row in read(interval)[1]}


LEDGER = """
SELECT e.currency, j.kind, sum(abs(e.amount))::bigint FROM wallet_journal j JOIN wallet_entry e ON e.journal_id = j.id
WHERE j.kind IN ('deposit', 'withdraw', 'withdraw_paid', 'withdraw_returned') AND e.mode = 'R' AND e.line = 1
  AND j.at >= %s AND j.at < %s GROUP BY 1, 2
"""
AS_REPORTED = {
    "deposit": ("deposit", "credited"),
    "withdraw": ("withdrawal", "requested"),
    "withdraw_paid": ("withdrawal", "paid"),
    "withdraw_returned": ("withdrawal", "returned to balance"),
}


def by_the_ledger(interval):
    with connection.cursor() as cursor:
        cursor.execute(LEDGER, [interval.since, interval.until])
        return {(currency, *AS_REPORTED[kind]): amount for currency, kind, amount in cursor}


@pytest.fixture(scope="module")
def history(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[reports_history.History]:
    """One history for all tests that only read it."""
    with django_db_blocker.unblock(), databases.kept_for_several_tests():
        yield reports_history.make()


def test_shows_payments_in_and_out_and_equals_the_ledger(history):
    for interval in (history.before, history.interval, Interval(history.before.since, history.interval.until)):
        assert summed(interval) == by_the_ledger(interval) != {}


@pytest.mark.sweep
def test_ends_before_its_end_however_its_interval_is_cut():
    since = clock()
    player = a_depositor("SE")
    paid_out(a_withdrawal(player, 20_000))
    whole, _ = read(Interval(since, clock()))
    paid = whole[-1]["decided_at"]
    cuts = [Interval(since, reports_history.moment(paid)), Interval(reports_history.moment(paid), clock())]
    assert [by_the_ledger(cut) for cut in cuts] == [summed(cut) for cut in cuts]
    assert summed(cuts[1]) == {("SEK", "withdrawal", "paid"): 20_000}


def test_a_deposit_has_its_authorisation_number_and_the_balance_before_and_after():
    player = a_depositor("SE", 100_000)
    since = clock()
    deposit(player, 30_000)
    ((row,), _) = read(Interval(since, clock()))
    assert row["player"] == str(player)
    assert (row["kind"], row["status"], row["currency"], row["amount"]) == ("deposit", "credited", "SEK", 30_000)
    assert (row["before"], row["after"]) == (100_000, 130_000)
    assert row["authorisation"] != ""
    assert row["asked_at"] < row["decided_at"]


@pytest.mark.sweep
def test_a_deposit_that_is_declined_or_not_decided_moves_nothing():
    player = a_depositor("SE", 100_000)
    since = clock()
    deposit(player, 40_000, Answer.DECLINE)
    a_payment(player, 10_000)
    rows, sums = read(Interval(since, clock()))
    assert [(row["status"], row["before"], row["decided_at"] is None) for row in rows] == [
        ("declined", None, False),
        ("waiting", None, True),
    ]
    assert sums == []


def test_a_deposit_that_was_held_is_sent_back_and_not_returned_to_the_balance():
    player = a_depositor("SE", 100_000)
    since = clock()
    payment = a_payment(player, 40_000)
    at_the_bank(payment)
    exclusions.pause(player=player, by=str(player))
    ask_about(payment.pk)
    assert summed(Interval(since, clock())) == {("SEK", "deposit", "held"): 40_000}
    held_deposits.return_due()
    assert summed(Interval(since, clock())) == {("SEK", "deposit", "sent back"): 40_000}


def test_a_withdrawal_names_who_handled_it_and_who_approved_it():
    player, one, other = a_depositor("SE", 5_000_000), a_member_of_staff("finance"), a_member_of_staff("finance")
    since = clock()
    withdrawal = a_withdrawal(player, 2_000_001)
    approve(withdrawal, one)
    (asked,) = approvals.waiting().filter(on=str(withdrawal))
    approvals.decide(approval_id=asked.pk, yes=True, by=str(other), person=other.person, reason="seen", may=bool)
    ((row,), _) = read(Interval(since, clock()))
    assert row["approved_by"] == f"{one}, {other}"
    assert (row["handler"], row["status"], row["decided_at"]) == (str(other), "approved", None)
    assert (row["before"], row["after"]) == (5_000_000, 2_999_999)


@pytest.mark.sweep
def test_one_that_is_refused_says_why():
    player, staff = a_depositor("SE"), a_member_of_staff("finance")
    withdrawal = a_withdrawal(player, 15_000)
    since = clock()
    withdrawals.refuse(withdrawal_id=withdrawal.pk, by=str(staff), code="identity", note="for a test")
    ((row,), (total,)) = read(Interval(since, clock()))
    assert (row["status"], row["handler"], row["reason"]) == ("refused", str(staff), "identity: for a test")
    assert (total["status"], total["amount"], total["id"][1]) == ("returned to balance", 15_000, {"count": 1})


def test_only_the_chosen_rows_are_listed(history):
    rows, sums = read(history.interval, kind="withdrawal", currency="SEK", status="paid")
    assert [row["amount"] for row in rows] == [20_000]
    assert {row["kind"] for row in sums} == {"withdrawal"}


def test_of_nothing_it_says_nothing():
    moment = clock()
    assert read(Interval(moment, clock())) == ([], [])
