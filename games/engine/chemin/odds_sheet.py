"""The odds of Chemin de Fer written out: as a table for people, as exact fractions for machines."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from games.engine.chemin.odds import PolicyOdds, chemin_odds
from games.engine.chemin.rules import DECKS
from games.engine.odds import percent

SLUG: Final = "chemin_de_fer"

COLUMNS: Final = (
    "punter on 5",
    "banker 3:9",
    "banker 5:4",
    "punter wins %",
    "draw %",
    "banker wins %",
    "punter %",
    "banker, taxed %",
)


def chemin_odds_json(decks: int = DECKS) -> dict[str, Any]:
    """Every chance and value as "numerator/denominator". Raises BadDecks."""
    policies = [
        _choices(odds) | {name: _written(share) for name, share in _shares(odds)} for odds in chemin_odds(decks)
    ]
    return {"variant": SLUG, "decks": decks, "policies": policies}


def chemin_odds_table(decks: int = DECKS) -> list[str]:
    """Lines of text. The last two columns are gains in percent of what the punters stake. Raises BadDecks."""
    rows = (
        (*_choices(odds).values(), *(percent(share, 4) for _, share in _shares(odds))) for odds in chemin_odds(decks)
    )
    return [f"{SLUG}, decks: {decks}", _row(COLUMNS), *(_row(row) for row in rows)]


def _choices(odds: PolicyOdds) -> dict[str, str]:
    return {
        "punter_on_5": odds.punter_on_5.value,
        "banker_3_9": odds.banker_3_9.value,
        "banker_5_4": odds.banker_5_4.value,
    }


def _shares(odds: PolicyOdds) -> list[tuple[str, Fraction]]:
    names = ("punter_win", "draw", "banker_win", "punter", "banker_after_tax")
    return [(name, getattr(odds, name)) for name in names]


def _written(share: Fraction) -> str:
    return f"{share.numerator}/{share.denominator}"


def _row(cells: tuple[str, ...]) -> str:
    return "".join(f"{cell:>17}" for cell in cells)
