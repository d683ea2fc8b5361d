"""A shared table in a test: opened, bet at, and moved on by the product's own steps, as fast as a test wants.

Nothing waits for a clock: what a test wants to be due is made due in the database (`hurry`).
"""

from collections.abc import Mapping
from typing import Any

from django.db import connection

from games.models import LiveRound, LiveSeat, LiveTable, Phase, Table
from games.shared import phases
from games.shared.bets import add_chip
from games.shared.seats import seat_at
from players.models import Player
from tests.builders import a_shared_table
from wallet.ledger import holds
from wallet.models import Mode

STEPS = 12  # more than there are between any two phases


def a_live_table(variant: str = "no_commission", mode: Mode = Mode.REAL, **options: Any) -> LiveTable:
    """An open shared table of that game, for real money unless asked otherwise, with a round that takes bets."""
    table = a_shared_table(variant, **options)
    live_table = live_table_of(table, mode)
    assert phases.advance(live_table.pk)
    return live_table


def live_table_of(table: Table, mode: Mode = Mode.REAL) -> LiveTable:
    """The shared table as it stands for one kind of money."""
    return LiveTable.objects.get(table=table, mode=mode)


def round_at(live_table: LiveTable) -> LiveRound:
    """The latest round of the table, as the database has it now."""
    return LiveRound.objects.select_related("shoe", "version__table", "live_table").get(
        pk=LiveTable.objects.values_list("round", flat=True).get(pk=live_table.pk)
    )


def hurry(live_table: LiveTable) -> None:
    """Make the deadline of the table's round due in the database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_liveround SET deadline = clock_timestamp()"
            " WHERE id = (SELECT round_id FROM games_livetable WHERE id = %s)",
            [live_table.pk],
        )


def make_late(live_table: LiveTable, seconds: int) -> None:
    """Put the deadline of the table's round so many seconds into the past."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_liveround SET deadline = clock_timestamp() - make_interval(secs => %s)"
            " WHERE id = (SELECT round_id FROM games_livetable WHERE id = %s)",
            [seconds, live_table.pk],
        )


def step(live_table: LiveTable) -> LiveRound:
    """Make the table due and move it one phase on; return the round as it stands then."""
    hurry(live_table)
    assert phases.advance(live_table.pk), f"{round_at(live_table).phase}: nothing was due"
    return round_at(live_table)


def advance_to(live_table: LiveTable, phase: Phase) -> LiveRound:
    """Move the table on until its round is in that phase; from there on, to the next such round."""
    for _ in range(STEPS):
        live_round = step(live_table)
        if live_round.phase == phase:
            return live_round
    raise AssertionError(f"never {phase}: {live_round.phase}")


def bet(player: Player, live_table: LiveTable, /, **chips: int) -> LiveSeat:
    """One chip of that value on each bet named, on the round that takes bets: ``bet(player, live_table, tie=1000)``."""
    seat = seat_at(player, live_table)
    for code, chip in chips.items():
        seat = add_chip(
            player=player, live_table_id=live_table.pk, round_id=round_at(live_table).pk, bet=code, chip=chip
        )
    return seat


def slip_of(player: Player, live_round: LiveRound) -> Mapping[str, int]:
    """What the player has on the round."""
    return LiveSeat.objects.get(player=player, round_id=live_round.pk).stakes


def lay(player: Player, live_table: LiveTable, stakes: Mapping[str, int]) -> LiveSeat:
    """Put this slip on the round that takes bets, held as the table holds it; stakes that no chip makes, so that what
    is paid has to be rounded.
    """
    seat, live_round = seat_at(player, live_table), round_at(live_table)
    holds.hold(live_round.pk, seat.account_id, sum(stakes.values()))
    seat.round_id, seat.stakes = live_round.pk, dict(stakes)
    seat.save(update_fields=["round_id", "stakes"])
    return seat
