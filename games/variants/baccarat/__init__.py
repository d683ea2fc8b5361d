"""Baccarat: one player, one deck, shuffled before every round; all three bets in any
combination.
"""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Shape, Variant
from games.variants.common import BANKER, PLAYER, THREE_BETS, TIE_AT_EIGHT, with_common

LABELS: Final = {
    "sv": {"name": "Baccarat", "tagline": "En kortlek, tre insatser och korten kommer när du vill."},
    "da": {"name": "Baccarat", "tagline": "Ét spil kort, tre indsatser, og kortene kommer, når du vil."},
    "ro": {"name": "Baccarat", "tagline": "Un pachet, trei pariuri, iar cărțile vin când doriți."},
    "de": {"name": "Baccarat", "tagline": "Ein Kartenspiel, drei Einsätze – gegeben wird, wenn Sie es wollen."},
    "en": {"name": "Baccarat", "tagline": "One deck, three bets, and the cards come when you say so."},
}


VARIANT: Final = Variant(
    slug="baccarat",
    version="1.0",
    changed=date(2026, 11, 21),
    decks=1,
    shape=Shape.SOLO,
    bets=(PLAYER, BANKER, TIE_AT_EIGHT),
    controls=(
        Control.DEAL,
        Control.DOUBLE,
        Control.CLEAR,
        Control.UNDO,
        Control.REBET,
        Control.DOUBLE_AND_DEAL,
        Control.REBET_AND_DEAL,
    ),
    declared={"player": "98.71", "banker": "98.99", "tie": "84.25"},
    headline=Headline(("player", "banker", "tie"), "93.985"),
    labels=with_common(LABELS),
    felt=THREE_BETS,
)
