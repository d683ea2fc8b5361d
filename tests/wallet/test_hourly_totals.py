"""Hourly totals of the ledger, and totals of any interval, compared with the entries."""

from datetime import timedelta

import pytest
from django.db import connection

from audit.reports.kinds import Interval
from tests import reports_history
from tests.reports_history import a_depositor, clock
from wallet.ledger import hourly_totals
from wallet.models import LedgerHourlyTotal

pytestmark = pytest.mark.django_db

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


def test_the_first_journal_is_found_by_its_time():
    since = clock()
    a_depositor("SE")
    first = hourly_totals.first(since)
    assert first is not None
    assert since < first < clock()
    assert hourly_totals.first(clock()) is None
