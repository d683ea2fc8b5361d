"""Builders of coups from text."""

from games.engine.cards import Card
from games.engine.coup import Coup, deal


def cards(codes: str) -> tuple[Card, ...]:
    """Return the cards of "9H 4D"."""
    return tuple(Card.parse(code) for code in codes.split())


def coup(codes: str) -> Coup:
    """Return the coup of these cards in dealing order."""
    return deal(cards(codes))
