"""Chemin de Fer: players play against each other and the bank rotates.

The rules are in `games.engine.chemin`.
"""

from datetime import date
from typing import Final

from games.engine.chemin.rules import DECKS
from games.variants.game import GuestGame

NAME: Final = "Chemin de Fer"

LABELS: Final = {
    "sv": {"name": NAME, "tagline": "Gäst mot gäst: banken går runt bordet och casinot sköter bara spelet."},
    "da": {"name": NAME, "tagline": "Gæst mod gæst: banken går bordet rundt, og casinoet leder kun spillet."},
    "ro": {
        "name": NAME,
        "tagline": "Jucător contra jucător: banca trece pe la fiecare loc, cazinoul doar conduce jocul.",
    },
    "de": {"name": NAME, "tagline": "Gast gegen Gast: Die Bank geht um den Tisch, das Casino leitet nur das Spiel."},
    "en": {
        "name": NAME,
        "tagline": "Guest against guest: the bank goes round the table and the house only runs the game.",
    },
}


GAME: Final = GuestGame(slug="chemin_de_fer", version="1.0", changed=date(2026, 11, 21), decks=DECKS, labels=LABELS)
