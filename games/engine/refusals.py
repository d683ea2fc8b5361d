"""Errors for stakes that are refused before settlement."""

from __future__ import annotations

from typing import ClassVar, Final

LARGEST_STAKE: Final = 10**15
"""In minor units.

The ledger uses 64-bit integers; two hundred times this amount still fits, with room for sums.
"""


class SettlementError(ValueError):
    """The rules of the variant do not allow the stakes. `bets` are the codes of the
    bets concerned.
    """

    code: ClassVar[str]

    def __init__(self, message: str, *bets: str) -> None:
        super().__init__(message)
        self.bets = bets


class NoStake(SettlementError):
    """Nothing is staked."""

    code = "no_stake"

    def __init__(self) -> None:
        super().__init__("nothing is staked")


class UnknownBet(SettlementError):
    """The game has no such bet."""

    code = "unknown_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"no such bet in this game: {', '.join(bets)}", *bets)


class BadStake(SettlementError):
    """A stake is not a whole number of minor units between 1 and LARGEST_STAKE."""

    code = "bad_stake"

    def __init__(self, *bets: str) -> None:
        super().__init__(
            f"a stake is a whole number of minor units from 1 to {LARGEST_STAKE}: {', '.join(bets)}", *bets
        )


class ExcludedBets(SettlementError):
    """The stakes contain bets that exclude each other."""

    code = "excluded_bets"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"these bets exclude each other: {', '.join(bets)}", *bets)


class MissingMainBet(SettlementError):
    """A side bet is staked without one of its main bets."""

    code = "missing_main_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"a side bet needs a main bet with it: {', '.join(bets)}", *bets)
