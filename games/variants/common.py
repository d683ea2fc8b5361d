"""What several variants share: the three bets of every baccarat, and the words for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from games.engine.bets import PUSH, BetRule, Pays, Prize
from games.engine.conditions import BANKER_WINS, PLAYER_WINS, TIE

EVEN_MONEY: Final = Pays(1, 1)
EVEN_MONEY_LESS_COMMISSION: Final = Pays(19, 20)

PLAYER: Final = BetRule("player", (Prize(PLAYER_WINS, EVEN_MONEY), Prize(TIE, PUSH)))
BANKER: Final = BetRule("banker", (Prize(BANKER_WINS, EVEN_MONEY_LESS_COMMISSION), Prize(TIE, PUSH)), commission=True)
TIE_AT_EIGHT: Final = BetRule("tie", (Prize(TIE, Pays(8, 1)),))

_LABELS: Final[Mapping[str, Mapping[str, str]]] = {
    "sv": {
        "bet.player": "Spelare",
        "bet.banker": "Bank",
        "bet.tie": "Oavgjort",
        "when.player_wins": "Spelaren vinner",
        "when.banker_wins": "Banken vinner",
        "when.tie": "Oavgjort",
    },
    "da": {
        "bet.player": "Spiller",
        "bet.banker": "Bank",
        "bet.tie": "Uafgjort",
        "when.player_wins": "Spiller vinder",
        "when.banker_wins": "Banken vinder",
        "when.tie": "Uafgjort",
    },
    "ro": {
        "bet.player": "Jucător",
        "bet.banker": "Bancher",
        "bet.tie": "Egalitate",
        "when.player_wins": "Jucătorul câștigă",
        "when.banker_wins": "Bancherul câștigă",
        "when.tie": "Egalitate",
    },
    "de": {
        "bet.player": "Spieler",
        "bet.banker": "Bank",
        "bet.tie": "Unentschieden",
        "when.player_wins": "Spieler gewinnt",
        "when.banker_wins": "Bank gewinnt",
        "when.tie": "Unentschieden",
    },
    "en": {
        "bet.player": "Player",
        "bet.banker": "Banker",
        "bet.tie": "Tie",
        "when.player_wins": "Player wins",
        "when.banker_wins": "Banker wins",
        "when.tie": "Tie",
    },
}


def labels(own: Mapping[str, Mapping[str, str]]) -> Mapping[str, Mapping[str, str]]:
    """A variant's own labels together with the common ones."""
    return {language: {**common, **own[language]} for language, common in _LABELS.items()}
