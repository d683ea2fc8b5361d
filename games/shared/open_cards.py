"""Which cards of a coup lie open, for the back office: from what the table has heard, which never tells one that lies
face down. So nobody opens a seed to show staff a table.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from games.chemin import event_codec
from games.engine.chemin.events import CardsDealt, Event, HandShown, ThirdCard
from games.engine.chemin.rules import Side
from games.models import CheminMove

FACE_DOWN: Final = "–"


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
