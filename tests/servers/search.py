"""Find seeds whose coup has a given outcome, by dealing one after another."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import count

from games.engine.coup import Coup, deal
from games.engine.shoe import shuffle


def seeds_where(
    wanted: Callable[[Coup], bool], *, decks: int = 1, start: int = 0, player_values: Sequence[str] = ("",)
) -> Iterator[str]:
    """Yield seeds, in hex, that deal a coup for which *wanted* holds, with each of the values of a player."""
    for number in count(start):
        seed = sha256(number.to_bytes(8, "big")).digest()
        if all(wanted(deal(shuffle(seed, decks, value))) for value in player_values):
            yield seed.hex()


def seed_where(wanted: Callable[[Coup], bool], *, decks: int = 1, player_values: Sequence[str] = ("",)) -> str:
    """Return the first such seed."""
    return next(seeds_where(wanted, decks=decks, player_values=player_values))
