"""A table at rest, as the lobby pictures it: a coup that somebody might have been dealt, and the bets as they are
printed on the felt. Nothing was staked on it and nobody played it.
"""

from dataclasses import dataclass

from games.engine.bets import Variant
from games.engine.cards import Card
from games.engine.coup import Outcome, Side, deal
from games.labels import bet_name
from games.tables.board import hand_view
from games.tables.presentation import HandView

COUPS = ("QH 4D 6S AC 3H", "9H KS QC 7D", "2C JD 3S 3H TH 4C", "KD 8S 6H JC", "4S TD AH 2S 2D 9C")
"""In dealing order, as many cards as the rules take."""


@dataclass(frozen=True)
class Printed:
    """A bet area of the felt, with what it pays."""

    code: str
    name: str
    pays: str


@dataclass(frozen=True)
class Still:
    """What lies and stands on the felt, left to right."""

    player: HandView
    banker: HandView
    bets: tuple[Printed, ...]
    outcome: str


def still(variant: Variant, number: int, language: str) -> Still:
    """Return the picture with this *number*; a few of them take turns."""
    coup = deal([Card.parse(code) for code in COUPS[number % len(COUPS)].split()])
    pays = {bet.code: bet.pays_text for bet in variant.bets}
    across = (Outcome.PLAYER, Outcome.TIE, Outcome.BANKER)
    return Still(
        player=hand_view(coup, Side.PLAYER, variant, language),
        banker=hand_view(coup, Side.BANKER, variant, language),
        bets=tuple(Printed(bet, bet_name(variant, bet, language), pays[bet]) for bet in across),
        outcome=coup.outcome.value,
    )
