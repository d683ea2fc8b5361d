"""The two bets of Chemin de Fer in the form that all games store: against a bank, and on it."""

from collections.abc import Mapping
from typing import Final

from games.engine.chemin.rules import Outcome

PUNTER: Final = "punter"
BANK: Final = "bank"
"""The covered part of a bank."""

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
"""Result of a bet, by the outcome of its coup; no outcome means the coup is void."""
