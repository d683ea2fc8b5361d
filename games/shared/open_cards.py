"""The face-up cards of a round, for the back office: exactly those that players see.

At Chemin de Fer they are read from the table's events, which never contain a face-down card. So no
seed is unsealed to show a table to staff.
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
    """Return the face-up cards of a round, in dealing order.

    The back office shows no card before the players see it. At Chemin de Fer a mark stands for each
    face-down card.
    """
    if live_round.live_table.table.shape == Shape.CHEMIN:
        return face_up([live_round.pk]).get(live_round.pk, "")
    cards = live_round.cards.split()
    if live_round.phase == Phase.DEALT and live_round.dealt_at:
        cards = cards[: Clock.of(live_round.version.clock or {}).turned(moment - live_round.dealt_at)]
    return " ".join(cards)


def face_up(rounds: Iterable[UUID]) -> Mapping[UUID, str]:
    """Return the cards of coups in dealing order, with a mark for each face-down card. One query.

    Coups without cards are left out.
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
