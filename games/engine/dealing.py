"""How a shoe is dealt through: the cards burned at its start, coup after coup, and the cut card that ends it.

A shoe is a sequence of cards that never changes. How far it has been dealt is one number, `gone`: how many cards have
left it, the burned ones included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from games.engine.cards import FULL_DECK, Card
from games.engine.coup import Coup, deal

CUT_CARD: Final = 14
"""So many cards lie behind the cut card, as is the custom of the trade. The coup in which it comes out is played to its
end, and one more after it: each takes six cards at most, so they never run out.
"""

TENS_BURN: Final = 10
"""A first card that counts nothing, a ten or a picture, burns as many as it has pips or would have."""


class Opening(NamedTuple):
    """What is done with a fresh shoe before its first coup."""

    burn_card: Card
    """The first card, which is turned up."""
    burned: int
    """How many cards are burned, the first one included: as many again as it counts."""
    cut: int
    """The cut card lies in front of the card of this number, counted from 0."""


def opening(cards: Sequence[Card]) -> Opening:
    """How the dealing of these shuffled decks begins."""
    burn_card = cards[0]
    return Opening(burn_card, 1 + (burn_card.points or TENS_BURN), len(cards) - CUT_CARD)


def coup_at(cards: Iterable[Card], gone: int) -> Coup:
    """The coup dealt when so many cards have left the shoe. Raises TooFewCards."""
    return deal(islice(cards, gone, None))


def cut_card_is_out(gone: int, cut: int) -> bool:
    """Whether a card from behind the cut card has left the shoe: then one coup more is dealt from it, and no other."""
    return gone > cut


def coups(cards: Sequence[Card]) -> Iterator[Coup]:
    """Every coup of a shoe, from behind the burned cards to the one after the cut card."""
    begun = opening(cards)
    shoe = islice(cards, begun.burned, None)
    gone = begun.burned
    last = False
    while not last:
        last = cut_card_is_out(gone, begun.cut)
        coup = deal(shoe)
        gone += len(coup.player) + len(coup.banker)
        yield coup


def is_whole(cards: Iterable[Card], decks: int) -> bool:
    """Whether these are exactly so many decks, in whatever order."""
    return Counter(cards) == Counter(FULL_DECK * decks)
