"""Ledger reconciliation: without errors nothing differs, and each error is named."""

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import DjangoDbBlocker

from audit import hours
from audit.reports.kinds import Interval
from audit.staff_text import english
from games.reports import reconciliation
from tests import reports_history
from tests.builders import a_player
from tests.harness import databases
from tests.harness.databases import Database
from tests.people import events
from tests.reports_history import ask, clock
from wallet.ledger import hourly_totals

pytestmark = pytest.mark.django_db

# Accounts whose money is not held for players, and their changes by kind of journal.
LEDGER = """
SELECT e.currency, coalesce('void_' || was.kind, j.kind), -sum(e.amount)::bigint
FROM wallet_entry e JOIN wallet_account a ON a.id = e.account_id JOIN wallet_journal j ON j.id = e.journal_id
LEFT JOIN wallet_journal was ON was.id = j.reverses_id
WHERE a.kind IN ('house', 'cashier', 'mint') AND e.mode = %s AND j.at >= %s AND j.at < %s GROUP BY 1, 2
"""


def read(interval, **choices):
    """Return rows by currency, money and line, and notes."""
    answer = reconciliation.answer(ask(interval, **choices))
    rows = {(row[0], row[1], row[2]): tuple(row[3:]) for row in answer.rows}
    return rows, [english(note) for note in answer.notes()]


def given(mode, since, until):
    with connection.cursor() as cursor:
        cursor.execute(LEDGER, [mode, since, until])
        found: dict[str, dict[str, int]] = {}
        for currency, kind, amount in cursor:
            found.setdefault(currency, {})[kind] = amount
        return found


@pytest.fixture(scope="module")
def history(django_db_setup: Database, django_db_blocker: DjangoDbBlocker) -> Iterator[reports_history.History]:
    """One history for all tests that only read it."""
    with django_db_blocker.unblock(), databases.kept_for_several_tests():
        yield reports_history.make()


def test_nothing_differs_and_the_lines_make_the_closing_however_the_history_is_cut(history):
    begin, since, until = history.before.since, history.interval.since, history.interval.until
    middle = since + (until - since) / 3
    for interval in (Interval(begin, until), history.interval, Interval(begin, middle), Interval(middle, until)):
        rows, notes = read(interval)
        assert notes[-1] == "No differences."
        assert {difference for _, _, difference in rows.values()} <= {0, None}


def test_each_line_is_what_the_ledger_s_entries_add_up_to(history):
    rows, _ = read(history.interval, mode="R")
    interval = history.interval
    for currency, kinds in given("R", interval.since, interval.until).items():

        def ledger(name, currency=currency):
            return rows[currency, "real", name][0]

        assert ledger("Deposits") == kinds.get("deposit", 0)
        assert ledger("Withdrawals paid") == kinds.get("withdraw_paid", 0)
        assert ledger("Shortfalls covered") == kinds.get("void_shortfall", 0)
        stakes, payouts = "Stakes settled against the house", "Payouts of the house, less tax on Chemin de Fer coups"
        assert ledger(stakes) + ledger(payouts) == kinds.get("settle", 0)
        assert ledger("Voided rounds") == kinds.get("void_settle", 0)
        assert ledger(reconciliation.OPENING) == sum(
            given("R", history.before.since, interval.since)[currency].values()
        )
        assert ledger(reconciliation.CLOSING) == ledger(reconciliation.OPENING) + sum(kinds.values())
    assert rows["SEK", "real", "Shortfalls covered"][0] > 0
    assert rows["SEK", "real", "Withdrawals paid"] == (-20_000, -20_000, 0)


def test_free_money_is_distinguished(history):
    rows, _ = read(history.interval, mode="F", currency="SEK")
    assert rows["SEK", "free", "Free money"] == (10_000_00, None, None)
    assert {(currency, mode) for currency, mode, _ in rows} == {("SEK", "free")}


def test_a_deposit_of_which_no_payment_knows_is_a_difference_that_is_named():
    since = clock()
    a_player("GB", real=12_345)  # posted without the cashier
    rows, notes = read(Interval(since, clock()))
    assert rows["GBP", "real", "Deposits"] == (12_345, 0, 12_345)
    assert notes[-1] == "GBP, real money, “Deposits”: the ledger has £123.45 more than recorded."


def test_where_nothing_was_ever_held_there_is_nothing_to_reconcile():
    moment = hourly_totals.BEGINNING
    assert read(Interval(moment, moment.replace(year=2001)))[0] == {}


def test_history_has_no_hour_that_differs(history):
    hour = history.before.since
    while hour < history.interval.until:
        assert reconciliation.reconcile_hour(hour) > 0
        hour += hours.HOUR
    assert events(reconciliation.DIFFERS) == []
