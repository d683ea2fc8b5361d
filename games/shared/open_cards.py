"""Which cards of a round lie open, for the back office: those that players see. At Chemin de Fer from what the table
has heard, which never tells one that lies face down. So nobody opens a seed to show staff a table.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final
from uuid import UUID

from games.chemin import event_codec
from games.engine.chemin.events import CardsDealt, Event, HandShown, ThirdCard
from games.engine.chemin.rules import Side
from games.models import CheminMove, LiveRound, Phase, Shape
from games.tables.clock import Clock

FACE_DOWN: Final = "–"


def lying_open(live_round: LiveRound, moment: datetime) -> str:
    """Return the cards of a round that are turned up, in dealing order: no page of the back office tells one before the
    players see it. Where guests play each other, one that lies face down has a mark in its place.
    """
    if live_round.live_table.table.shape == Shape.GUESTS:
        return face_up([live_round.pk]).get(live_round.pk, "")
    cards = live_round.cards.split()
    if live_round.phase == Phase.DEALT and live_round.dealt_at:
        cards = cards[: Clock.of(live_round.version.clock or {}).turned(moment - live_round.dealt_at)]
    return " ".join(cards)


def face_up(rounds: Iterable[UUID]) -> Mapping[UUID, str]:
    """Return the cards of coups as they lie, in dealing order, with a mark for each that lies face down; a coup without
    cards is left out. One query.
    """
    heard: dict[UUID | None, list[Event]] = {}
    moves = CheminMove.objects.filter(round_id__in=list(rounds)).order_by("number")
    for round_id, events in moves.values_list("round_id", "events"):
        heard.setdefault(round_id, []).extend(event_codec.read(event) for event in events)
    return {round_id: lying for round_id, events in heard.items() if round_id and (lying := _as_they_lie(events))}


def _as_they_lie(events: Iterable[Event]) -> str:
    pairs: dict[Side, tuple[str, ...]] = {}
    thirds: dict[Side, str] = {}
    for event in events:
        match event:
            case CardsDealt():
                pairs = dict.fromkeys(Side, (FACE_DOWN, FACE_DOWN))
            case HandShown():
                pairs[event.side] = tuple(card.code for card in event.cards)
            case ThirdCard():
                thirds[event.side] = event.card.code
    if not pairs:
        return ""
    first_four = [card for dealt in zip(pairs[Side.PUNTER], pairs[Side.BANKER], strict=True) for card in dealt]
    return " ".join([*first_four, *(thirds[side] for side in (Side.PUNTER, Side.BANKER) if side in thirds)])
