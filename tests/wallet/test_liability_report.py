"""Operator liability (GLI-19 v3.0, 2.9.3), compared with an independent sum of the entries."""

from datetime import timedelta

import pytest
from django.db import connection

from audit.hours import HOUR
from audit.reports.kinds import Interval, kind_of
from games.models import Phase
from tests import reports_history
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, a_staked_coup, sit
from tests.harness.owner import as_owner, without_guards
from tests.live.at_table import a_live_table, advance_to, bet, lay, round_at
from tests.people import events
from tests.reports_history import a_depositor, ask, clock
from tests.voiding import cancel
from tests.wallet.payout_builders import a_withdrawal
from wallet import reports
from wallet.ledger import hourly_totals
from wallet.models import Hold

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
        theirs = {kind: was.get(kind, 0) for kind in ("cash", "purse", "bank", "escrow", "stakes", "pending", "refund")}
        assert row["total"] == sum(theirs.values()) == -was.get("house", 0) - was["cashier"]
        assert row["total"] == row["available"] + row["held"] + row["pending"] + row["refund"]
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


def two_hours_earlier(hour):
    """Let everything that was booked and held so far have been two hours ago, well before the full *hour*."""
    with without_guards("wallet_journal", "wallet_hold"):
        for table in ("wallet_journal", "wallet_hold"):
            as_owner(f"UPDATE {table} SET at = at - interval '2 hours'")
    assert Hold.objects.filter(at__lt=hour).exists()


def nothing(player, live_table):
    """The bets are still on the table."""


def more(player, live_table):
    bet(player, live_table, player=5000)


def fewer(player, live_table):
    lay(player, live_table, {"player": 5000})


def none(player, live_table):
    lay(player, live_table, {})


def void(player, live_table):
    cancel(round_id=round_at(live_table).pk, by="staff:1")


def paid(player, live_table):
    advance_to(live_table, Phase.SETTLED)


@pytest.mark.parametrize("then", [nothing, more, fewer, none, void, paid])
def test_gli19_2_9_3_at_the_end_of_a_day_it_says_what_was_held_then_whatever_became_of_it(then):
    """Days begin and end at full hours of UTC. The bets were placed two hours ago; all the rest is after the hour."""
    midnight = clock().replace(minute=0, second=0, microsecond=0)
    player, live_table = a_depositor("SE", 100_000), a_live_table()
    bet(player, live_table, player=10_000)
    two_hours_earlier(midnight)
    then(player, live_table)
    bet(a_depositor("SE", 100_000), a_live_table(slug="another"), player=5000)
    row = read(Interval(midnight - timedelta(days=1), midnight))["SEK", "end"]
    assert (row["total"], row["available"], row["held"], row["pending"]) == (100_000, 90_000, 10_000, 0)
    assert (row["set_aside"], row["set_aside_at"]) == (10_000, midnight.isoformat())
    assert hourly_totals.held_at(midnight - HOUR) == {"SEK": 10_000}
    hourly_totals.roll(midnight - 2 * HOUR)
    hourly_totals.roll(midnight - HOUR)
    (event,) = [each["data"] for each in events("accounts.snapshot") if each["data"]["at"] == midnight.isoformat()]
    assert ["cash", "SEK", "R", 100_000, 10_000] in event["rows"]


def test_between_full_hours_of_the_past_it_says_as_of_when_it_knows():
    moment = clock() - timedelta(hours=1)
    a_depositor("SE", 100_000)
    row = read(Interval(moment, clock()))["SEK", "beginning"]
    assert row["set_aside_at"] == moment.replace(minute=0, second=0, microsecond=0).isoformat()


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
