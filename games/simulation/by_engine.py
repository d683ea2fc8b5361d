"""Simulation with the engine: seeds of the operating system, and the shuffle and settlement of real
rounds.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from games.engine.bets import Shape, Variant
from games.engine.coup import Coup, deal
from games.engine.dealing import coups as coups_of_shoe
from games.engine.settle import settle
from games.engine.shoe import SEED_BYTES, shuffle
from games.simulation.tally import ReturnCounts, slips, unit

BATCH = 5_000
"""The number of coups between two progress reports."""


def simulate(variant: Variant, coups: int, progress: Callable[[int], None]) -> ReturnCounts:
    """Deal this number of coups and settle every bet on each.

    Calls `progress` with the number done.
    """
    tally: ReturnCounts = {bet.code: Counter() for bet in variant.bets}
    stakes = slips(variant, unit(variant))
    dealt = deal_on(variant)
    for done in range(0, coups, BATCH):
        size = min(BATCH, coups - done)
        for coup in islice(dealt, size):
            for slip in stakes:
                for line in settle(variant, coup, slip).lines:
                    tally[line.bet][line.payout] += 1
        progress(done + size)
    return tally


def deal_on(variant: Variant) -> Iterator[Coup]:
    """Yield coups without end, as the game is dealt: each from a fresh shuffle, or
    shoe after shoe.
    """
    while True:
        cards = shuffle(os.urandom(SEED_BYTES), variant.decks)
        if variant.shape is Shape.SOLO:
            yield deal(cards)
        else:
            yield from coups_of_shoe(cards)
