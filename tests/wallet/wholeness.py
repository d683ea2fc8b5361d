"""Verification of ledgers: those of games, and those that tests wrote without one, whose rounds are not stored."""

from games.registration import ROUNDS
from wallet.invariants import verify
from wallet.invariants.verify import Check

OF_ROUNDS = {invariant.name for invariant in ROUNDS}


def assert_whole() -> None:
    """Verify all of the ledger, stored rounds included."""
    assert [f"{check.invariant.name}: {row}" for check in verify.run() for row in check.rows] == []


def checks() -> list[Check]:
    """Return the results of `verify.run`, without those about stored rounds."""
    return [check for check in verify.run() if check.invariant.name not in OF_ROUNDS]


def broken() -> dict[str, str]:
    """Return the violated invariants with their rows, one a line."""
    return {check.invariant.name: "\n".join(check.rows) for check in checks() if check.rows}
