"""The name of the game, and what it is in one line."""

from typing import Final

LABELS: Final = {
    "sv": {
        "name": "Baccarat med par",
        "tagline": "En sida att hålla på, bättre betalt vid oavgjort – och par vid sidan av.",
    },
    "da": {
        "name": "Baccarat med par",
        "tagline": "Én side at holde på, bedre betaling ved uafgjort – og par ved siden af.",
    },
    "ro": {
        "name": "Baccarat cu perechi",
        "tagline": "O singură parte, o egalitate mai bine plătită și perechi alături.",
    },
    "de": {
        "name": "Baccarat mit Paaren",
        "tagline": "Eine Seite, ein besser bezahltes Unentschieden und Paare nebenbei.",
    },
    "en": {
        "name": "Baccarat with Pairs",
        "tagline": "One side to back, a better price on the Tie, and pairs beside it.",
    },
}
