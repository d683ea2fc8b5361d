"""The name of the game, and what it is in one line."""

from typing import Final

LABELS: Final = {
    "sv": {
        "name": "Golden Baccarat",
        "tagline": "Välj sida, lägg till Oavgjort om du vill – och ge igen med ett klick.",
    },
    "da": {"name": "Golden Baccarat", "tagline": "Vælg side, læg Uafgjort til, hvis du vil – og giv igen med ét klik."},
    "ro": {
        "name": "Golden Baccarat",
        "tagline": "Alegeți o parte, adăugați Egalitate dacă doriți și jucați din nou cu un clic.",
    },
    "de": {
        "name": "Golden Baccarat",
        "tagline": "Eine Seite wählen, Unentschieden dazu, wenn Sie mögen – und mit einem Klick weiter.",
    },
    "en": {"name": "Golden Baccarat", "tagline": "Pick a side, add a Tie if you like, and go again with one click."},
}
