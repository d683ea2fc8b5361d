"""Baccarat: one player, one deck, shuffled before every round; any of the three bets in any combination."""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Shape, Variant
from games.variants.baccarat.labels import LABELS
from games.variants.common import BANKER, PLAYER, THREE_BETS, TIE_AT_EIGHT, with_common

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
