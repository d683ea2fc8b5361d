"""Finds seeds whose coup is what a test needs, by dealing one after another."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count

from games.engine.coup import Coup, deal
from games.engine.shoe import shuffle


def seeds_where(wanted: Callable[[Coup], bool], *, decks: int = 1, start: int = 0) -> Iterator[str]:
    """Yield seeds, in hex, that deal a coup for which *wanted* holds."""
    for number in count(start):
        seed = sha256(number.to_bytes(8, "big")).digest()
        if wanted(deal(shuffle(seed, decks))):
            yield seed.hex()


def seed_where(wanted: Callable[[Coup], bool], *, decks: int = 1) -> str:
    """Return the first such seed."""
    return next(seeds_where(wanted, decks=decks))
