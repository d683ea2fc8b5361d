"""Chemin de Fer: guests play each other and the bank goes round. Its rules are `games.engine.chemin`."""

from datetime import date
from typing import Final

from games.engine.chemin.rules import DECKS
from games.variants.chemin_de_fer.labels import LABELS
from games.variants.game import GuestGame

GAME: Final = GuestGame(slug="chemin_de_fer", version="1.0", changed=date(2026, 11, 21), decks=DECKS, labels=LABELS)
