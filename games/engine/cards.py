"""The fifty-two cards and their points. Each card is one shared object."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final


class CardError(ValueError):
    """The text is not a card code."""


class Suit(Enum):
    """The four suits, in the order of a new deck. Suits do not count in the game."""

    CLUBS = ("C", "♣")
    DIAMONDS = ("D", "♦")
    HEARTS = ("H", "♥")
    SPADES = ("S", "♠")

    def __init__(self, letter: str, symbol: str) -> None:
        self.letter: Final = letter
        self.symbol: Final = symbol


class Rank(Enum):
    """The thirteen ranks with their points: ace one, two to nine at face value, ten and pictures
    zero.
    """

    ACE = ("A", 1)
    TWO = ("2", 2)
    THREE = ("3", 3)
    FOUR = ("4", 4)
    FIVE = ("5", 5)
    SIX = ("6", 6)
    SEVEN = ("7", 7)
    EIGHT = ("8", 8)
    NINE = ("9", 9)
    TEN = ("T", 0)
    JACK = ("J", 0)
    QUEEN = ("Q", 0)
    KING = ("K", 0)

    def __init__(self, letter: str, points: int) -> None:
        self.letter: Final = letter
        self.points: Final = points


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Card:
    """One of the fifty-two objects of `FULL_DECK`.

    Equal cards are the same object.

    A shoe of several decks contains the same object several times.
    """

    rank: Rank
    suit: Suit
    points: int
    code: str
    """Rank and suit in two characters: "9H", "TD"."""

    @staticmethod
    def parse(code: str) -> Card:
        """Return the card of a code such as "9H".

        Raises CardError with a message that describes the fault.
        """
        card = _BY_CODE.get(code) if isinstance(code, str) else None
        if card is None:
            raise CardError(
                f"{code!r} is no card: a rank of {RANK_LETTERS} and a suit of {SUIT_LETTERS}, such as 9H or TD"
            )
        return card

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        return f"Card({self.code})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        """Make copies and unpickled cards the same shared object."""
        return Card.parse, (self.code,)


RANK_LETTERS: Final = "".join(rank.letter for rank in Rank)
SUIT_LETTERS: Final = "".join(suit.letter for suit in Suit)

FULL_DECK: Final[tuple[Card, ...]] = tuple(
    Card(rank, suit, rank.points, rank.letter + suit.letter) for suit in Suit for rank in Rank
)
"""Clubs, diamonds, hearts, spades; ace to king in each. Every shuffle starts from this order."""

_BY_CODE: Final = {card.code: card for card in FULL_DECK}
