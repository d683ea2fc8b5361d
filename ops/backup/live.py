"""Live tables of a copy: no card of their shoes is dealt any more, and whoever had something there gets what is theirs.

A round that is dealt has its result, which its cards say, however long ago: it is settled; between guests the croupier
decides by the rule for whoever is still asked, as for everybody who is absent. What is not dealt is cancelled.
"""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction

from games.chemin import closing, tick
from games.chemin import shoes as guests_shoes
from games.models import (
    OPEN_PHASES,
    CheminSeat,
    CheminTable,
    LiveRound,
    LiveTable,
    Phase,
    Shape,
    ShoeEnding,
)
from games.shared import malfunction, phases, shoes
from games.tables import clock

STEPS: Final = 60  # more than a coup takes


@dataclass
class Cleared:
    """How many rounds were settled and cancelled and how many shoes retired, and what waits for a ruling."""

    settled: int = 0
    cancelled: int = 0
    retired: int = 0
    waiting: list[str] = field(default_factory=list)


def clear(*, by: str, why: str) -> Cleared:
    """Have every live table done with its round and its shoe."""
    cleared = Cleared()
    for live_table in LiveTable.objects.select_related("table").order_by("pk"):
        is_of_guests = live_table.table.shape == Shape.GUESTS
        found = _round_of(live_table)
        if found is None:
            pass
        elif found.phase != Phase.DEALT:
            malfunction.cancel(round_id=found.pk, reason=why, by=by)
            cleared.cancelled += 1
        else:
            (_play_out if is_of_guests else _settle)(live_table, found)
            cleared.settled += _round_of(live_table) is None
        if waits := _round_of(live_table):
            cleared.waiting.append(
                f"{live_table.table} is stopped over round {waits.code}, which is dealt and awaits a ruling."
            )
            continue
        if is_of_guests and CheminSeat.objects.filter(live_table=live_table, left_at=None).exists():
            closing.break_up(live_table_id=live_table.pk, reason=why, by=by)
        cleared.retired += _retire(live_table, is_of_guests=is_of_guests)
    return cleared


def _round_of(live_table: LiveTable) -> LiveRound | None:
    return LiveRound.objects.filter(live_table=live_table, phase__in=OPEN_PHASES).first()


def _settle(live_table: LiveTable, found: LiveRound) -> None:
    """Nobody watches how the cards are turned up: it is due at once."""
    LiveRound.objects.filter(pk=found.pk).update(deadline=clock.now())
    phases.advance(live_table.pk)


def _play_out(live_table: LiveTable, found: LiveRound) -> None:
    """Whoever is asked has stood still for so long that the croupier decides for them."""
    for _ in range(STEPS):
        late = clock.now() - timedelta(seconds=settings.LIVE_LATE_SECONDS + 1)
        CheminTable.objects.filter(pk=live_table.pk, deadline__isnull=False).update(deadline=late)
        is_dealt = LiveRound.objects.filter(pk=found.pk, phase=Phase.DEALT).exists()
        if not (is_dealt and tick.advance(live_table.pk)):
            return


@transaction.atomic
def _retire(live_table: LiveTable, *, is_of_guests: bool) -> bool:
    """Deal nothing more from the shoe on a table; say whether there was one."""
    live_table.refresh_from_db()
    shoe = live_table.shoe
    if shoe is None or shoe.ended_at is not None:
        return False
    (guests_shoes if is_of_guests else shoes).end(shoe, ShoeEnding.RETIRED)
    return True
