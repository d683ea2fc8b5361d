"""Coups for tests, written as people write them."""

from games.engine.cards import Card
from games.engine.coup import Coup, deal


def cards(codes: str) -> tuple[Card, ...]:
    """ "9H 4D" as cards."""
    return tuple(Card.parse(code) for code in codes.split())


def coup(codes: str) -> Coup:
    """The coup that cards in dealing order make."""
    return deal(cards(codes))
