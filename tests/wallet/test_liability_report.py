"""Operator liability (GLI-19 v3.0, 2.9.3), compared with an independent sum of the entries."""

from datetime import timedelta

import pytest
from django.db import connection

from audit.reports.kinds import Interval, kind_of
from tests import reports_history
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_staked_coup, sit
from tests.live.at_table import a_live_table, bet, round_at
from tests.reports_history import a_depositor, ask, clock
from tests.wallet.payout_builders import a_withdrawal
from wallet import reports
from wallet.models import AccountSnapshot

pytestmark = pytest.mark.django_db

LEDGER = """
SELECT e.currency, a.kind, sum(e.amount)::bigint FROM wallet_entry e JOIN wallet_journal j ON j.id = e.journal_id
JOIN wallet_account a ON a.id = e.account_id WHERE e.mode = 'R' AND j.at < %s GROUP BY 1, 2
"""


def read(interval, **choices):
    """Return the rows by currency and moment, by column name."""
    names = [column.name for column in reports.LIABILITY_COLUMNS]
    rows = [dict(zip(names, row, strict=True)) for row in reports.liability(ask(interval, **choices)).rows]
    return {(row["currency"], row["moment"]): row for row in rows}


def lying(moment):
    """Return the sum of all accounts of one kind before *moment*, by currency."""
    with connection.cursor() as cursor:
        cursor.execute(LEDGER, [moment])
        found: dict[str, dict[str, int]] = {}
        for currency, kind, amount in cursor:
            found.setdefault(currency, {})[kind] = amount
        return found


def test_gli19_2_9_3_has_exactly_these_headings():
    kind = kind_of("liability")
    assert kind is not None
    assert (kind.title, kind.clause) == ("Operator liability", "GLI-19 v3.0, 2.9.3")
    assert [column.heading for column in kind.columns][:7] == [
        "Currency",
        "Point",
        "Time",
        "Total held for players",
        "Available",
        "Held",
        "Pending withdrawal",
    ]


@pytest.mark.sweep
def test_gli19_2_9_3_says_what_is_held_for_players_in_each_currency_to_the_last_minor_unit():
    history = reports_history.make()
    rows = read(history.interval)
    assert {currency for currency, _ in rows} == {"SEK", "RON"}
    for (currency, word), row in rows.items():
        was = lying(history.interval.since if word == "beginning" else history.interval.until)[currency]
        theirs = {kind: was.get(kind, 0) for kind in ("cash", "purse", "bank", "escrow", "stakes", "pending")}
        assert row["total"] == sum(theirs.values()) == -was.get("house", 0) - was["cashier"]
        assert row["total"] == row["available"] + row["held"] + row["pending"]
        assert row["held"] == (row["set_aside"] or 0) + row["stakes"] + row["banks"]
        assert (row["cash"], row["purse"], row["pending"]) == (theirs["cash"], theirs["purse"], theirs["pending"])
        assert (row["banks"], row["stakes"]) == (theirs["bank"], theirs["escrow"] + theirs["stakes"])
    assert rows["SEK", "end"]["banks"] >= 10_000  # not covered by stakes
    held = {currency: rows[currency, "end"]["set_aside"] for currency in ("SEK", "RON")}
    assert held == {"SEK": 5000, "RON": 2000}  # of the round with closed bets
    assert rows["SEK", "end"]["pending"] > 12_000


def test_gli19_2_9_3_what_is_set_aside_for_bets_is_held_and_not_available():
    live_table, player = a_live_table(), a_depositor("SE", 100_000)
    since = clock()
    bet(player, live_table, player=5000, tie=5000)
    a_withdrawal(player, 20_000)
    row = read(Interval(since, clock()))["SEK", "end"]
    assert (row["total"], row["available"], row["held"], row["pending"]) == (100_000, 70_000, 10_000, 20_000)
    assert row["set_aside"] == 10_000
    assert round_at(live_table).phase == "betting"


def test_gli19_2_9_3_stakes_in_a_coup_and_its_bank_are_held_and_not_available():
    live_table, since = a_chemin_table(), clock()
    for place in (1, 2):
        sit(a_depositor("SE", 100_000), live_table, place)
    a_staked_coup(live_table, 10_000, 4_000)
    row = read(Interval(since, clock()))["SEK", "end"]
    assert (row["total"], row["available"], row["held"]) == (200_000, 186_000, 14_000)
    assert (row["stakes"], row["banks"], row["set_aside"]) == (4_000, 10_000, 0)


@pytest.mark.sweep
def test_what_was_set_aside_in_the_past_is_what_was_seen_last_before():
    a_depositor("SE", 100_000)
    past = clock() - timedelta(hours=3)
    seen = past - timedelta(minutes=20)
    for at, held in ((seen - timedelta(hours=1), 1), (seen, 777), (past + timedelta(minutes=40), 3)):
        AccountSnapshot.objects.create(at=at, account_kind="cash", currency="SEK", mode="R", balance=100_000, held=held)
    row = read(Interval(past - timedelta(days=1), past))
    assert row == {}  # no liability yet
    row = read(Interval(past, clock()))["SEK", "beginning"]
    assert (row["total"], row["set_aside"], row["set_aside_at"]) == (0, 0, seen.isoformat())


def test_of_a_moment_before_the_first_snapshot_it_says_unknown():
    a_depositor("SE", 100_000)
    row = read(Interval(clock() - timedelta(days=9), clock()))["SEK", "beginning"]
    assert (row["set_aside"], row["set_aside_at"]) == (None, None)


def test_free_money_is_nobody_s_claim():
    since = clock()
    a_player("GB", free=100_000)
    assert read(Interval(since, clock()), currency="GBP") == {}


@pytest.mark.sweep
def test_only_the_chosen_currency_is_listed():
    a_depositor("SE")
    a_depositor("RO")
    since = clock()
    assert {currency for currency, _ in read(Interval(since, clock()), currency="RON")} == {"RON"}
