"""Finds seeds of shoes whose first coup is the one that a test needs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import count

import pytest

from games.engine.cards import Card
from games.engine.chemin.rules import DECKS
from games.engine.coup import NATURALS, total
from games.engine.shoe import shuffle
from tests.harness.dealer import first, the_dealer


@dataclass(frozen=True)
class First:
    """The first coup of a shoe, with the most cards it can take."""

    cards: tuple[Card, ...]

    @property
    def punter(self) -> tuple[Card, Card]:
        return self.cards[0], self.cards[2]

    @property
    def banker(self) -> tuple[Card, Card]:
        return self.cards[1], self.cards[3]

    @property
    def thirds(self) -> tuple[Card, Card]:
        return self.cards[4], self.cards[5]

    @property
    def totals(self) -> tuple[int, int]:
        """The two-card totals of punter and banker."""
        return total(self.punter), total(self.banker)

    @property
    def is_distinguished(self) -> bool:
        """True if no card occurs twice, so that a test can tell the cards apart."""
        return len(set(self.cards)) == len(self.cards)


def third_cards_on_advice(coup: First) -> bool:
    """Return whether the punter may draw or stand, and the banker must draw after it."""
    punter, banker = coup.totals
    return punter == 5 and banker <= 2


def shown_at_once(coup: First) -> bool:
    """Return whether the punter has a natural and the banker does not."""
    punter, banker = coup.totals
    return punter in NATURALS and banker not in NATURALS


def third_card_refused(coup: First) -> bool:
    """Return whether the punter must draw and the banker has a natural."""
    punter, banker = coup.totals
    return punter <= 4 and banker in NATURALS


def both_may_depart(coup: First) -> bool:
    """By the rule both draw; if both stand, the coup is a draw."""
    punter, banker = coup.totals
    return punter == banker <= 4


def shoes_where(wanted: Callable[[First], bool]) -> Iterator[tuple[bytes, First]]:
    """Yield seeds and first coups that match and have no card twice."""
    for number in count():
        seed = sha256(number.to_bytes(8, "big")).digest()
        coup = First(shuffle(seed, DECKS)[:6])
        if coup.is_distinguished and wanted(coup):
            yield seed, coup


@cache
def shoe_where(wanted: Callable[[First], bool]) -> tuple[bytes, First]:
    """Return the first matching seed and its first coup."""
    return next(shoes_where(wanted))


def next_seed(monkeypatch: pytest.MonkeyPatch, seed: bytes) -> None:
    """Make this the next seed that the dealer of this process draws; later seeds are random again."""
    monkeypatch.setattr(the_dealer(), "draw", first(seed.hex()))
