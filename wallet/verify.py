"""Asks whether the ledger's invariants hold. Each answers with the rows that break it: no row, it holds."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection

from wallet import archive_invariants, coup_invariants, invariants, remote_invariants, studio_invariants
from wallet.invariants import Invariant

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
    coup_invariants.APART,
    coup_invariants.STAKES,
    coup_invariants.COUPS,
    coup_invariants.BANKS,
    coup_invariants.HOUSE_PLAYERS,
    studio_invariants.STUDIOS,
    remote_invariants.OPERATORS,
    invariants.DAYS,
    invariants.PAYMENTS,
    archive_invariants.ARCHIVED,
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
