"""Why stakes are refused before anything is settled."""

from __future__ import annotations

from typing import ClassVar, Final

LARGEST_STAKE: Final = 10**15
"""In minor units. The ledger counts in 64 bits: two hundred times this still fits, with room for a house to sum up."""


class SettlementError(ValueError):
    """Stakes that the rules of a variant do not allow. `bets` are the codes of the bets concerned."""

    code: ClassVar[str]

    def __init__(self, message: str, *bets: str) -> None:
        super().__init__(message)
        self.bets = bets


class NoStake(SettlementError):
    """Nothing is staked at all."""

    code = "no_stake"

    def __init__(self) -> None:
        super().__init__("nothing is staked")


class UnknownBet(SettlementError):
    """The game has no such bet."""

    code = "unknown_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"no such bet in this game: {', '.join(bets)}", *bets)


class BadStake(SettlementError):
    """A stake is no whole number of minor units between 1 and LARGEST_STAKE."""

    code = "bad_stake"

    def __init__(self, *bets: str) -> None:
        super().__init__(
            f"a stake is a whole number of minor units from 1 to {LARGEST_STAKE}: {', '.join(bets)}", *bets
        )


class ExcludedBets(SettlementError):
    """Bets are staked together that exclude each other."""

    code = "excluded_bets"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"these bets exclude each other: {', '.join(bets)}", *bets)


class MissingMainBet(SettlementError):
    """A side bet is staked without any of the bets it stands beside."""

    code = "missing_main_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"a side bet needs a main bet beside it: {', '.join(bets)}", *bets)
