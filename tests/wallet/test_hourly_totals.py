"""Hourly totals of the ledger, and totals of any interval, compared with the entries."""

from datetime import timedelta

import psycopg
import pytest
from django.db import connection

from audit import hours
from audit.hours import HOUR
from audit.reports.kinds import Interval
from tests import reports_history
from tests.harness import databases
from tests.hours import settle
from tests.reports_history import a_depositor, clock
from wallet.ledger import hourly_totals
from wallet.models import LedgerHourlyTotal

LEDGER = """
SELECT coalesce('void_' || was.kind, j.kind), a.kind, e.currency, e.mode, count(*), sum(e.amount)::bigint,
       coalesce(sum(e.amount) FILTER (WHERE e.amount > 0), 0)::bigint
FROM wallet_entry e JOIN wallet_account a ON a.id = e.account_id JOIN wallet_journal j ON j.id = e.journal_id
LEFT JOIN wallet_journal was ON was.id = j.reverses_id
WHERE j.at >= %s AND j.at < %s GROUP BY 1, 2, 3, 4
"""


def by_the_entries(interval):
    with connection.cursor() as cursor:
        cursor.execute(LEDGER, [interval.since, interval.until])
        return {hourly_totals.Sum(*row) for row in cursor}


@pytest.mark.django_db
@pytest.mark.sweep
def test_is_what_the_entries_say_however_the_time_is_cut():
    history = reports_history.make()
    middle = history.interval.since + (history.interval.until - history.interval.since) / 2
    for interval in (
        history.interval,
        Interval(history.before.since, middle),
        Interval(middle, history.interval.until),
    ):
        assert set(hourly_totals.read_totals(interval)) == by_the_entries(interval)
    assert {"settle", "void_settle", "void_shortfall"} <= {
        each.journal_kind for each in hourly_totals.read_totals(history.interval)
    }


@pytest.mark.django_db
def test_an_hour_is_summed_up_as_it_was_and_what_comes_later_is_a_difference():
    a_depositor("SE")
    hour = clock().replace(minute=0, second=0, microsecond=0)
    whole = Interval(hour, hour + timedelta(hours=1))
    due = by_the_entries(whole)
    read = hourly_totals.roll(hour)
    kept = {
        hourly_totals.Sum(*row)
        for row in LedgerHourlyTotal.objects.filter(hour=hour).values_list(
            "journal_kind", "account_kind", "currency", "mode", "entries", "amount", "into"
        )
    }
    assert kept == due
    assert read == sum(each.entries for each in due)
    assert list(hourly_totals.differences(whole)) == []
    a_depositor("SE")
    assert any("deposit cash SEK R" in message for message in hourly_totals.differences(whole))


@pytest.mark.django_db
def test_the_first_journal_is_found_by_its_time():
    since = clock()
    a_depositor("SE")
    first = hourly_totals.first(since)
    assert first is not None
    assert since < first < clock()
    assert hourly_totals.first(clock()) is None


# The first deposit was so long ago that another statement reads it than the second one.
EARLIER = """
SET session_replication_role = replica;
UPDATE wallet_journal
SET at = at - interval '1 hour' * CASE id WHEN (SELECT min(id) FROM wallet_journal) THEN 40 ELSE 3 END
"""
FIRST = "(SELECT min(id) FROM wallet_journal)"
TOTAL = "ctid = (SELECT min(ctid) FROM wallet_ledgerhourlytotal WHERE account_kind = 'cashier')"
STORED, SUMMED = "is stored, but the entries give another total", "is the total of the entries"
CASH, CASHIER = "deposit cash SEK R 1 1000000 1000000", "deposit cashier SEK R 1 -1000000 0"
# What only the owner can do, and the sentences, each with the hours after the first deposit.
CHANGES = {
    f"UPDATE wallet_ledgerhourlytotal SET amount = amount - 1 WHERE {TOTAL}": {
        (0, f"{CASHIER} {SUMMED}"),
        (0, f"deposit cashier SEK R 1 -1000001 0 {STORED}"),
    },
    f"UPDATE wallet_ledgerhourlytotal SET hour = hour + interval '1 hour' WHERE {TOTAL}": {
        (0, f"{CASHIER} {SUMMED}"),
        (1, f"{CASHIER} {STORED}"),
    },
    f"DELETE FROM wallet_ledgerhourlytotal WHERE {TOTAL}": {(0, f"{CASHIER} {SUMMED}")},
    f"UPDATE wallet_entry SET amount = amount + 1 WHERE journal_id = {FIRST} AND amount > 0": {
        (0, f"{CASH} {STORED}"),
        (0, f"deposit cash SEK R 1 1000001 1000001 {SUMMED}"),
    },
    f"DELETE FROM wallet_entry WHERE journal_id = {FIRST}": {(0, f"{CASH} {STORED}"), (0, f"{CASHIER} {STORED}")},
    f"DELETE FROM wallet_journal WHERE id = {FIRST}": {(0, f"{CASH} {STORED}"), (0, f"{CASHIER} {STORED}")},
    f"UPDATE wallet_journal SET at = at + interval '30 hours' WHERE id = {FIRST}": {
        (0, f"{CASH} {STORED}"),
        (0, f"{CASHIER} {STORED}"),
        (30, f"{CASH} {SUMMED}"),
        (30, f"{CASHIER} {SUMMED}"),
    },
    f"UPDATE wallet_journal SET kind = 'top_up' WHERE id = {FIRST}": {
        (0, f"{CASH} {STORED}"),
        (0, f"{CASHIER} {STORED}"),
        (0, f"top_up cash SEK R 1 1000000 1000000 {SUMMED}"),
        (0, f"top_up cashier SEK R 1 -1000000 0 {SUMMED}"),
    },
    f"UPDATE wallet_account SET kind = 'purse' WHERE id = (SELECT account_id FROM wallet_entry"
    f" WHERE journal_id = {FIRST} AND amount > 0)": {
        (0, f"{CASH} {STORED}"),
        (0, f"deposit purse SEK R 1 1000000 1000000 {SUMMED}"),
    },
}


def test_an_old_total_or_entry_that_its_owner_changes_is_named(cloned_db):
    a_depositor("SE")
    a_depositor("RO")
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
        superuser.execute(EARLIER)
    settle()
    hours.roll_due()
    begin, until = hourly_totals.first(None), hours.rolled_until(hourly_totals.HOURLY_TOTALS)
    assert begin is not None
    assert until is not None
    whole = Interval(begin.replace(minute=0, second=0, microsecond=0), until)
    assert (until - whole.since) // HOUR > hourly_totals.CHECKED
    wrong = []
    for change, due in {"SELECT": set(), **CHANGES}.items():
        with databases.damaged(change):
            found = set(hourly_totals.differences(whole))
        sentences = {f"{whole.since + number * HOUR:%Y-%m-%d %H:%M}: {sentence}" for number, sentence in due}
        if found != sentences:
            wrong.append((change, found, sentences))
    assert not wrong
