"""The name of the game, and what it is in one line."""

from typing import Final

LABELS: Final = {
    "sv": {"name": "Baccarat", "tagline": "En kortlek, tre insatser och korten kommer när du vill."},
    "da": {"name": "Baccarat", "tagline": "Ét spil kort, tre indsatser, og kortene kommer, når du vil."},
    "ro": {"name": "Baccarat", "tagline": "Un pachet, trei pariuri, iar cărțile vin când doriți."},
    "de": {"name": "Baccarat", "tagline": "Ein Kartenspiel, drei Einsätze – gegeben wird, wenn Sie es wollen."},
    "en": {"name": "Baccarat", "tagline": "One deck, three bets, and the cards come when you say so."},
}
