"""Tables of a copy: no more cards are dealt to which they had committed, and players get what they
are due. Rounds to which solo seats have committed are never dealt, since their seeds may have been
revealed. Shoes are retired: their seeds are published if the dealer still has them.

The cards of a dealt round determine its result, however long ago, so it is settled. At Chemin de
Fer the croupier decides by the rule for a player who is still asked, as for every absent one.
Rounds that are not dealt are cancelled.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from games.chemin import shoes as chemin_shoes
from games.chemin import stop, tick
from games.models import (
    OPEN_PHASES,
    CheminSeat,
    CheminTable,
    LiveRound,
    LiveTable,
    Phase,
    Shape,
    Shoe,
    ShoeEnding,
    SoloSeat,
)
from games.shared import malfunction, phases, shoes
from games.tables import clock
from ops.backup import pg_tools
from ops.backup.pg_tools import OWNER

STEPS: Final = 60  # more than a coup takes


@dataclass
class Cleared:
    """Number of rounds settled and cancelled and of shoes retired, and sentences about tables that
    wait for a ruling.
    """

    settled: int = 0
    cancelled: int = 0
    retired: int = 0
    waiting: list[str] = field(default_factory=list)


def clear(*, by: str, why: str) -> Cleared:
    """End the round and the shoe of every live table."""
    cleared = Cleared()
    for live_table in LiveTable.objects.select_related("table").order_by("pk"):
        is_chemin, shoe = live_table.table.shape == Shape.CHEMIN, _shoe_in_play(live_table)
        found = _round_of(live_table)
        if found is None:
            pass
        elif found.phase != Phase.DEALT:
            malfunction.cancel(round_id=found.pk, reason=why, by=by)
            cleared.cancelled += 1
        else:
            (_play_out if is_chemin else _settle)(live_table, found)
            cleared.settled += _round_of(live_table) is None
        if waits := _round_of(live_table):
            cleared.waiting.append(
                f"{live_table.table} is stopped over round {waits.code}, which is dealt and awaits a ruling."
            )
            continue
        if is_chemin and CheminSeat.objects.filter(live_table=live_table, left_at=None).exists():
            stop.break_up(live_table_id=live_table.pk, reason=why, by=by)
        cleared.retired += _retire(live_table, shoe, is_chemin=is_chemin)
    return cleared


def _round_of(live_table: LiveTable) -> LiveRound | None:
    return LiveRound.objects.filter(live_table=live_table, phase__in=OPEN_PHASES).first()


def _settle(live_table: LiveTable, found: LiveRound) -> None:
    """Settle at once: nobody watches the cards being revealed."""
    LiveRound.objects.using(pg_tools.OWNER).filter(pk=found.pk).update(deadline=clock.now())
    phases.advance(live_table.pk)


def _play_out(live_table: LiveTable, found: LiveRound) -> None:
    """Let each decision time out, so that the croupier decides for the player."""
    for _ in range(STEPS):
        late = clock.now() - timedelta(seconds=settings.LIVE_LATE_SECONDS + 1)
        CheminTable.objects.using(pg_tools.OWNER).filter(pk=live_table.pk, deadline__isnull=False).update(deadline=late)
        is_dealt = LiveRound.objects.filter(pk=found.pk, phase=Phase.DEALT).exists()
        if not (is_dealt and tick.advance(live_table.pk)):
            return


def _shoe_in_play(live_table: LiveTable) -> Shoe | None:
    return live_table.shoe if live_table.shoe and live_table.shoe.ended_at is None else None


@transaction.atomic
def _retire(live_table: LiveTable, before: Shoe | None, *, is_chemin: bool) -> int:
    """Retire the shoe on a table; return how many were retired, with the one there *before* its round ended."""
    live_table.refresh_from_db()
    shoe = _shoe_in_play(live_table)
    if shoe is not None:
        (chemin_shoes if is_chemin else shoes).end(shoe, ShoeEnding.RETIRED)
    ended = {each.pk for each in (before, shoe) if each is not None}
    return Shoe.objects.filter(pk__in=ended, ending=ShoeEnding.RETIRED).count()


def forget_commitments() -> int:
    """Make the rounds that seats at solo tables are committed to impossible to deal; return the number of seats.

    A seat commits to another round when its player opens the table. Its bets are kept.
    """
    return SoloSeat.objects.using(OWNER).update(rules_digest="", sealed_seed=b"")
