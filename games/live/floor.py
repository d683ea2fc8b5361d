"""Live tables as staff see them: the phase, the shoe, the cards that lie open, who has bet, and what is stopped. How
guests stand against each other at theirs is `games.chemin.floor`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count

from games.chemin.face_up import face_up
from games.chemin.floor import Guests, guests_at, in_words
from games.incidents import unruled
from games.live import clock
from games.models import OPEN_PHASES, UNDEALT, Incident, LiveRound, LiveSeat, LiveTable, LiveTotal, Phase, Shape, Shoe


@dataclass(frozen=True)
class Floor:
    """A live table for one kind of money, at one moment. Amounts in minor units."""

    live_table: LiveTable
    round: LiveRound | None
    shoe: Shoe | None
    turned: str  # the cards that lie open, in dealing order
    bettors: int
    staked: Mapping[str, int]  # currency -> what lies on the round
    waiting: Sequence[Incident]  # for the supervisor's ruling
    guests: Guests | None = None  # where they play each other

    @property
    def state(self) -> str:
        """In one word."""
        if self.live_table.stopped_by_id:
            return "stopped"
        if self.live_table.table.is_open:
            return "open"
        return "closing" if self.is_playing else "closed"

    @property
    def phase(self) -> str:
        """How far the round has come; "" where there is none yet."""
        return in_words(self.round) if self.round else ""

    @property
    def time_runs(self) -> bool:
        """Whether what is asked of guests has to be answered in time: not while the house stands still."""
        is_dealt = self.round is not None and self.round.phase == Phase.DEALT
        return self.live_table.stopped_by_id is None or (is_dealt and not self.waiting)

    @property
    def is_playing(self) -> bool:
        """Whether a round is in progress."""
        return self.round is not None and self.round.phase in OPEN_PHASES

    @property
    def may_be_cancelled(self) -> bool:
        """Whether a round is in progress whose cards are not drawn."""
        return self.round is not None and self.round.phase in UNDEALT

    @property
    def may_be_broken_up(self) -> bool:
        """Whether guests sit there, and no cards are drawn that have to be played out first."""
        is_dealt = self.round is not None and self.round.phase == Phase.DEALT
        return self.guests is not None and bool(self.guests.sitting) and not is_dealt


def floor() -> Mapping[int, list[Floor]]:
    """Return the live tables as they stand, real money first, by the id of their table. A fixed number of queries."""
    live_tables = LiveTable.objects.select_related(
        "table", "shoe", "round__version", "round__shoe", "round__live_table__table"
    ).order_by("-mode")
    rounds = [each.round_id for each in live_tables if each.round_id]
    seats = LiveSeat.objects.filter(round_id__in=rounds).exclude(stakes={})
    bettors = dict(seats.values_list("round_id").annotate(number=Count("pk")))
    staked = _staked(rounds)
    waiting: dict[int, list[Incident]] = {}
    for incident in unruled().select_related("live_round"):
        if incident.live_round:
            waiting.setdefault(incident.live_round.live_table_id, []).append(incident)
    guests = guests_at(each.pk for each in live_tables if each.table.shape == Shape.GUESTS)
    lying = face_up(each.round_id for each in live_tables if each.pk in guests and each.round_id)
    moment = clock.now()
    found: dict[int, list[Floor]] = {}
    for each in live_tables:
        found.setdefault(each.table_id, []).append(
            Floor(
                live_table=each,
                round=each.round,
                shoe=each.shoe,
                turned=_turned(each, moment, guests, lying),
                bettors=bettors.get(each.round_id, 0),
                staked=staked.get(each.round_id, {}),
                waiting=waiting.get(each.pk, ()),
                guests=guests.get(each.pk),
            )
        )
    return found


def _turned(live_table: LiveTable, moment: datetime, guests: Mapping[int, Guests], lying: Mapping[UUID, str]) -> str:
    if live_table.round is None:
        return ""
    if live_table.pk in guests:
        return lying.get(live_table.round.pk, "")
    return clock.lying_open(live_table.round, moment)


def _staked(rounds: Sequence[UUID]) -> Mapping[UUID | None, dict[str, int]]:
    staked: dict[UUID | None, dict[str, int]] = {}
    for total in LiveTotal.objects.filter(round__in=rounds).order_by("currency"):
        if amount := sum(total.stakes.values()):
            staked.setdefault(total.round_id, {})[total.currency] = amount
    return staked
