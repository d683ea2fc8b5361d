"""The name of the game and what it is in one line. The French name stands in every language."""

from typing import Final

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
