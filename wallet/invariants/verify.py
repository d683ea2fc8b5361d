"""Asks whether the ledger's invariants hold. Each answers with the rows that break it: no row, it holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from wallet import invariants
from wallet.invariants import Invariant, chemin, operators, studios

MOST_ROWS = 100  # of one broken invariant; whoever repairs them asks again

INVARIANTS = (
    invariants.SUMS,
    invariants.BALANCES,
    invariants.CHAINS,
    invariants.COVERED,
    invariants.HELD,
    invariants.KEYS,
    invariants.HOMES,
    invariants.REVERSALS,
    invariants.ADJUSTMENTS,
    invariants.ESCROW,
    invariants.PURSES,
    invariants.PENDING,
    invariants.VOIDS,
    chemin.APART,
    chemin.STAKES,
    chemin.COUPS,
    chemin.BANKS,
    chemin.HOUSE_PLAYERS,
    studios.STUDIOS,
    operators.OPERATORS,
    invariants.DAYS,
    invariants.PAYMENTS,
    invariants.GUARDS,
    invariants.RIGHTS,
)


@dataclass(frozen=True)
class Check:
    """The answer to one invariant; ``rows`` is empty where it holds."""

    invariant: Invariant
    rows: tuple[str, ...]


def run() -> Iterator[Check]:
    """Ask every question, in order."""
    for invariant in INVARIANTS:
        with connection.cursor() as cursor:
            cursor.execute(invariant.question, [invariant.due()] if invariant.due else None)
            yield Check(invariant, tuple(row for (row,) in cursor.fetchmany(MOST_ROWS)))
