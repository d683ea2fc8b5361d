"""Chemin de Fer: players play against each other and the bank rotates.

The rules are in `games.engine.chemin`.
"""

from datetime import date
from typing import Final

from games.engine.chemin.rules import DECKS
from games.variants.common import CheminGame

NAME: Final = "Chemin de Fer"

LABELS: Final = {
    "sv": {"name": NAME, "tagline": "Spelare mot spelare: banken går runt bordet och vi sköter bara spelet."},
    "da": {"name": NAME, "tagline": "Spiller mod spiller: banken går på skift, og vi leder kun spillet."},
    "ro": {
        "name": NAME,
        "tagline": "Jucător contra jucător: banca trece pe la fiecare loc, cazinoul doar conduce jocul.",
    },
    "de": {"name": NAME, "tagline": "Spieler gegen Spieler: Die Bank wechselt reihum, wir leiten nur das Spiel."},
    "en": {
        "name": NAME,
        "tagline": "Player against player: the bank rotates and the casino only runs the game.",
    },
}


GAME: Final = CheminGame(slug="chemin_de_fer", version="1.0", changed=date(2026, 11, 21), decks=DECKS, labels=LABELS)
