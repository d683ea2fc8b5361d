"""Base of every game, and the parts that several variants share: the standard baccarat bets and their
labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Final, Protocol

from games.engine.bets import PUSH, BetRule, Pays, Prize
from games.engine.chemin.rules import rules_digest
from games.engine.conditions import BANKER_PAIR, BANKER_WINS, PLAYER_PAIR, PLAYER_WINS, TIE, Condition
from games.engine.felt import Felt, Height, Tone, row


class Game(Protocol):
    """A game as lists and help pages use it."""

    @property
    def slug(self) -> str:
        """The name of the game in URLs and of its folder."""

    @property
    def version(self) -> str:
        """The version of the rules."""

    @property
    def changed(self) -> date:
        """The date of the last change of the rules."""

    @property
    def decks(self) -> int:
        """The number of decks in the shoe."""

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of everything that decides about money."""

    @property
    def labels(self) -> Mapping[str, Mapping[str, str]]:
        """Language, then key, then text."""

    def label(self, language: str, key: str) -> str:
        """Return the text of `name`, `tagline` or another label. Raises KeyError if
        there is none.
        """


@dataclass(frozen=True)
class CheminGame:
    """A game that players play against each other.

    It has no paytable, and its rules are in the engine.
    """

    slug: str
    version: str
    changed: date
    decks: int
    labels: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Language, then key, then text."""

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of everything in the engine that decides about money, and of the version
        of the rules.
        """
        return rules_digest(self.version)

    def label(self, language: str, key: str) -> str:
        """Return the text of `name` or `tagline`. Raises KeyError if there is none."""
        return self.labels[language][key]


EVEN_MONEY: Final = Pays(1, 1)
EVEN_MONEY_LESS_COMMISSION: Final = Pays(19, 20)

PLAYER: Final = BetRule("player", (Prize(PLAYER_WINS, EVEN_MONEY), Prize(TIE, PUSH)))
BANKER: Final = BetRule("banker", (Prize(BANKER_WINS, EVEN_MONEY_LESS_COMMISSION), Prize(TIE, PUSH)), commission=True)
TIE_AT_EIGHT: Final = BetRule("tie", (Prize(TIE, Pays(8, 1)),))


MAIN_TONES: Final = {"player": Tone.PLAYER, "banker": Tone.BANKER, "tie": Tone.TIE}
THREE_BETS: Final = Felt(
    tones=MAIN_TONES,
    wide=(row(Height.MAIN, player=23, tie=16, banker=23),),
    narrow=(row(Height.MAIN, player=1, banker=1), row(Height.SLIM, tie=1)),
    low=(row(Height.MAIN, player=1, banker=1), row(Height.SLIM, tie=1)),
)
"""The felt of a game with only Player, Banker and Tie."""


def side_bet(condition: Condition, pays: Pays, needs: tuple[str, ...]) -> BetRule:
    """Return a side bet on one condition, named after it, that needs one of the bets *needs*."""
    return BetRule(condition.name, (Prize(condition, pays),), needs)


def pair_bets(needs: tuple[str, ...]) -> tuple[BetRule, BetRule]:
    """Return the two pair bets, which are settled whatever the outcome."""
    return side_bet(PLAYER_PAIR, Pays(11, 1), needs), side_bet(BANKER_PAIR, Pays(11, 1), needs)


_LABELS: Final[Mapping[str, Mapping[str, str]]] = {
    "sv": {
        "bet.player": "Spelare",
        "bet.banker": "Bank",
        "bet.tie": "Oavgjort",
        "when.player_wins": "Spelaren vinner",
        "when.banker_wins": "Banken vinner",
        "when.tie": "Oavgjort",
        "bet.player_pair": "Spelarpar",
        "bet.banker_pair": "Bankpar",
        "when.player_pair": "Spelarens två första kort är ett par",
        "when.banker_pair": "Bankens två första kort är ett par",
    },
    "da": {
        "bet.player": "Spiller",
        "bet.banker": "Bank",
        "bet.tie": "Uafgjort",
        "when.player_wins": "Spiller vinder",
        "when.banker_wins": "Banken vinder",
        "when.tie": "Uafgjort",
        "bet.player_pair": "Spillerpar",
        "bet.banker_pair": "Bankpar",
        "when.player_pair": "Spillers to første kort er et par",
        "when.banker_pair": "Bankens to første kort er et par",
    },
    "ro": {
        "bet.player": "Jucător",
        "bet.banker": "Banca",
        "bet.tie": "Egalitate",
        "when.player_wins": "Jucătorul câștigă",
        "when.banker_wins": "Banca câștigă",
        "when.tie": "Egalitate",
        "bet.player_pair": "Pereche Jucător",
        "bet.banker_pair": "Pereche Banca",
        "when.player_pair": "Primele două cărți ale Jucătorului sunt pereche",
        "when.banker_pair": "Primele două cărți ale Băncii sunt pereche",
    },
    "de": {
        "bet.player": "Spieler",
        "bet.banker": "Bank",
        "bet.tie": "Unentschieden",
        "when.player_wins": "Spieler gewinnt",
        "when.banker_wins": "Bank gewinnt",
        "when.tie": "Unentschieden",
        "bet.player_pair": "Spieler-Paar",
        "bet.banker_pair": "Bank-Paar",
        "when.player_pair": "Die ersten zwei Karten des Spielers sind ein Paar",
        "when.banker_pair": "Die ersten zwei Karten der Bank sind ein Paar",
    },
    "en": {
        "bet.player": "Player",
        "bet.banker": "Banker",
        "bet.tie": "Tie",
        "when.player_wins": "Player wins",
        "when.banker_wins": "Banker wins",
        "when.tie": "Tie",
        "bet.player_pair": "Player Pair",
        "bet.banker_pair": "Banker Pair",
        "when.player_pair": "Player’s first two cards are a pair",
        "when.banker_pair": "Banker’s first two cards are a pair",
    },
}


def with_common(own: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    """Return a variant's own labels merged with the common ones."""
    return {language: {**common, **own[language]} for language, common in _LABELS.items()}
