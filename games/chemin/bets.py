"""The two bets of the game as every game keeps its bets: one against a bank, one on it."""

from collections.abc import Mapping
from typing import Final

from games.engine.chemin.rules import Outcome

PUNTER: Final = "punter"
BANK: Final = "bank"
"""What of a bank was covered."""

RESULTS: Final[Mapping[tuple[str, Outcome | None], str]] = {
    (PUNTER, Outcome.PUNTER): "win",
    (PUNTER, Outcome.BANKER): "lose",
    (BANK, Outcome.BANKER): "win",
    (BANK, Outcome.PUNTER): "lose",
    (PUNTER, Outcome.DRAW): "push",
    (BANK, Outcome.DRAW): "push",
    (PUNTER, None): "void",
    (BANK, None): "void",
}
"""What became of a bet, by the outcome of its coup; without one it was annulled."""
