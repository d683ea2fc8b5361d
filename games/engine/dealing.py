"""Dealing of a whole shoe: burned cards, coups, and the cut card that ends it.

A shoe is a fixed sequence of cards. Its progress is one number, `gone`: the cards that have left
it, burned cards included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from games.engine.cards import FULL_DECK, Card
from games.engine.coup import Coup, deal

CUT_CARD: Final = 14
"""The number of cards behind the cut card, as usual in casinos.

The coup in which the cut card appears is finished, and one more coup follows. A coup takes at most
six cards, so the cards never run out.
"""

TENS_BURN: Final = 10
"""The number of cards to burn after a first card worth zero points: a ten or a picture."""


class Opening(NamedTuple):
    """Preparation of a fresh shoe before its first coup."""

    burn_card: Card
    """The first card, which is turned up."""
    burned: int
    """The number of burned cards: the first card, and as many more as its value."""
    cut: int
    """The cut card is in front of the card with this index, counted from 0."""


def opening(cards: Sequence[Card]) -> Opening:
    """Return the opening of a shoe with these shuffled decks."""
    burn_card = cards[0]
    return Opening(burn_card, 1 + (burn_card.points or TENS_BURN), len(cards) - CUT_CARD)


def coup_at(cards: Iterable[Card], gone: int) -> Coup:
    """Return the coup that is dealt after this number of cards. Raises TooFewCards."""
    return deal(islice(cards, gone, None))


def cut_card_is_out(gone: int, cut: int) -> bool:
    """Return whether a card from behind the cut card was dealt.

    If so, exactly one more coup follows.
    """
    return gone > cut


def coups(cards: Sequence[Card]) -> Iterator[Coup]:
    """Yield every coup of a shoe, from the first after the burned cards to the one after the cut
    card.
    """
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
    """Return whether these cards are exactly this number of complete decks, in any order."""
    return Counter(cards) == Counter(FULL_DECK * decks)
