"""Seeds, and the shuffle that follows from a seed.

A shuffle is a pure function of a 32-byte seed, the number of decks, and a text that the player may
choose. Anyone who has these can deal the same cards again:

1. HKDF with SHA-256 (RFC 5869) expands the seed: the seed is the key material, the player's text in
   UTF-8 is the salt, and "sabot shuffle v1, decks=N" is the info.
2. The output is read two bytes at a time, big-endian.
3. Fisher-Yates shuffle, from the last card of the unshuffled decks down to the second: the card at
   position `last` is swapped with the card at `number mod (last + 1)`. Numbers from the largest
   multiple of `last + 1` below 65536 upwards are skipped, because they would favour the first
   positions.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from functools import cache
from itertools import chain
from struct import Struct
from typing import Final

from games.engine.cards import FULL_DECK, Card

SEED_BYTES: Final = 32

_DRAW_VALUES: Final = 1 << 16
_LAST_HKDF_BLOCK: Final = 255  # RFC 5869, 2.3: the block number is one byte, and starts at one
_draws_of_block: Final = Struct(">16H").unpack


class SeedError(ValueError):
    """The seed does not have 32 bytes, or (never seen) its stream ended before the end of the
    shuffle.
    """


def shuffle(seed: bytes, decks: int, player_value: str = "") -> tuple[Card, ...]:
    """Return all cards of `decks` decks in dealing order.

    Raises SeedError if the seed does not have 32 bytes.
    """
    cards = list(FULL_DECK * decks)
    draws = _draws(checked(seed), decks, player_value)
    try:
        for last, size, limit in _choices(len(cards)):
            draw = next(draws)
            while draw >= limit:
                draw = next(draws)
            chosen = draw % size
            cards[last], cards[chosen] = cards[chosen], cards[last]
    except StopIteration:
        raise SeedError("the stream of numbers ended before the cards were shuffled") from None
    return tuple(cards)


def hkdf_blocks(key_material: bytes, salt: bytes, info: bytes) -> Iterator[bytes]:
    """Yield the output of HKDF-SHA256 in blocks of 32 bytes, up to the maximum of the standard."""
    keyed = hmac.new(hmac.digest(salt, key_material, "sha256"), digestmod="sha256")
    block = b""
    for number in range(1, _LAST_HKDF_BLOCK + 1):
        expanding = keyed.copy()
        expanding.update(block + info + bytes((number,)))
        block = expanding.digest()
        yield block


def _draws(seed: bytes, decks: int, player_value: str) -> Iterator[int]:
    """Yield 4080 numbers from 0 to 65535. Eight decks need 415 and skip two or three."""
    info = f"sabot shuffle v1, decks={decks}".encode()
    return chain.from_iterable(map(_draws_of_block, hkdf_blocks(seed, salt=player_value.encode(), info=info)))


@cache
def _choices(cards: int) -> tuple[tuple[int, int, int], ...]:
    """Return, for each step of a shuffle, its position, the number of candidates, and the first
    number to skip.
    """
    return tuple((size - 1, size, _DRAW_VALUES - _DRAW_VALUES % size) for size in range(cards, 1, -1))


def checked(seed: bytes) -> bytes:
    """Return the seed. Raises SeedError if it does not have 32 bytes."""
    if len(seed) != SEED_BYTES:
        raise SeedError(f"a seed has {SEED_BYTES} bytes, this one {len(seed)}")
    return seed
