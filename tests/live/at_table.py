"""Helpers for a shared table: open it, bet, and run its real steps without waiting.

Nothing waits for a clock. A test makes deadlines due in the database (`hurry`).
"""

from collections.abc import Mapping
from typing import Any

from games.models import LiveRound, LiveSeat, LiveTable, Phase, Table
from games.shared import phases
from games.shared.bets import add_chip
from games.shared.seats import seat_at
from players.models import Player
from tests.builders import a_shared_table
from tests.harness.owner import as_owner, update_as_owner
from wallet.models import Mode

STEPS = 12  # more than the steps between any two phases


def a_live_table(variant: str = "no_commission", mode: Mode = Mode.REAL, **options: Any) -> LiveTable:
    """Return an open shared table of a game whose round takes bets, for real money by default."""
    table = a_shared_table(variant, **options)
    live_table = live_table_of(table, mode)
    assert phases.advance(live_table.pk)
    return live_table


def live_table_of(table: Table, mode: Mode = Mode.REAL) -> LiveTable:
    """Return the live table for one kind of money."""
    return LiveTable.objects.get(table=table, mode=mode)


def round_at(live_table: LiveTable) -> LiveRound:
    """Return the latest round of the table from the database."""
    return LiveRound.objects.select_related("shoe", "version__table", "live_table").get(
        pk=LiveTable.objects.values_list("round", flat=True).get(pk=live_table.pk)
    )


def hurry(live_table: LiveTable) -> None:
    """Make the deadline of the table's round due in the database, and that of a shoe that is being cut."""
    as_owner("UPDATE games_shoecut SET open_until = clock_timestamp() WHERE live_table_id = %s", [live_table.pk])
    as_owner(
        "UPDATE games_liveround SET deadline = clock_timestamp()"
        " WHERE id = (SELECT round_id FROM games_livetable WHERE id = %s)",
        [live_table.pk],
    )


def make_late(live_table: LiveTable, seconds: float) -> None:
    """Set the deadline of the table's round some seconds into the past."""
    as_owner(
        "UPDATE games_liveround SET deadline = clock_timestamp() - make_interval(secs => %s)"
        " WHERE id = (SELECT round_id FROM games_livetable WHERE id = %s)",
        [seconds, live_table.pk],
    )


def step(live_table: LiveTable) -> LiveRound:
    """Make the table due, move it one phase on, and return the round."""
    hurry(live_table)
    assert phases.advance(live_table.pk), f"{round_at(live_table).phase}: nothing was due"
    return round_at(live_table)


def advance_to(live_table: LiveTable, phase: Phase) -> LiveRound:
    """Move the table on to the next time its round is in that phase."""
    for _ in range(STEPS):
        live_round = step(live_table)
        if live_round.phase == phase:
            return live_round
    raise AssertionError(f"never {phase}: {live_round.phase}")


def bet(player: Player, live_table: LiveTable, /, **chips: int) -> LiveSeat:
    """Put one chip on each bet of the open round: ``bet(player, live_table, tie=1000)``."""
    seat = seat_at(player, live_table)
    for code, chip in chips.items():
        seat = add_chip(
            player=player, live_table_id=live_table.pk, round_id=round_at(live_table).pk, bet=code, chip=chip
        )
    return seat


def slip_of(player: Player, live_round: LiveRound) -> Mapping[str, int]:
    return LiveSeat.objects.get(player=player, round_id=live_round.pk).stakes


def lay(player: Player, live_table: LiveTable, stakes: Mapping[str, int]) -> LiveSeat:
    """Put this slip on the open round as the owner of the tables, held as the table holds it.

    The stakes need not be within the limits, so that payouts must be rounded.
    """
    seat, live_round = seat_at(player, live_table), round_at(live_table)
    held = [live_round.pk, seat.account_id, sum(stakes.values())]
    as_owner("SELECT wallet_set_hold(%s::uuid, %s::bigint, %s::bigint)", held)
    update_as_owner(LiveSeat.objects.filter(pk=seat.pk), round_id=live_round.pk, stakes=dict(stakes))
    seat.refresh_from_db()
    return seat
