"""Invariants of the ledger that concern rounds. ``games_verify_rounds`` verifies them, with each
range of journals (`wallet.invariants.verify`).
"""

from typing import Final

from wallet.invariants import Invariant, verify

ROUNDS: Final = (
    Invariant(
        "journals_have_rounds",
        "every stake and every payout is for a round that is stored or in progress",
    ),
    Invariant(
        "rounds_pay_what_they_say",
        "what the ledger moves for a round is what each player's participation has staked and been paid",
    ),
    Invariant(
        "wagers_are_sums",
        "a participation is the sum of its wagers",
    ),
    Invariant(
        "payouts_follow_the_paytable",
        "no wager pays more than the rules of the round's version pay for it on the round's outcome",
    ),
)


def register() -> None:
    """Have the verification of the ledger name these too."""
    verify.register(*ROUNDS)
