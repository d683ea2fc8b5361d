"""Hourly snapshots of players' accounts."""

import pytest

from tests.live.at_table import a_live_table, bet
from tests.reports_history import a_depositor, clock
from wallet import reports
from wallet.models import AccountSnapshot
from wallet.tasks import take_account_snapshots

pytestmark = pytest.mark.django_db


def test_a_snapshot_keeps_balances_and_held_amounts():
    bet(a_depositor("SE", 100_000), a_live_table(), player=5000)
    since = clock()
    take_account_snapshots()
    standing = AccountSnapshot.objects.get(at__gte=since, account_kind="cash", currency="SEK", mode="R")
    assert (standing.balance, standing.held) == (100_000, 5000)
    assert set(AccountSnapshot.objects.values_list("at", flat=True)) == {standing.at}


def test_the_report_of_liability_knows_by_it_what_was_held():
    bet(a_depositor("SE", 100_000), a_live_table(), player=5000)
    take_account_snapshots()
    aside = reports.aside_before(clock())
    assert aside is not None
    assert aside.amounts["SEK"] == 5000
    assert aside.at < clock()
