"""Golden Baccarat: one player, one deck, shuffled before every round; Player or Banker, Tie beside them or alone."""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Shape, Variant
from games.variants.common import BANKER, PLAYER, THREE_BETS, TIE_AT_EIGHT, with_common
from games.variants.golden.labels import LABELS

VARIANT: Final = Variant(
    slug="golden",
    version="1.0",
    changed=date(2026, 11, 21),
    decks=1,
    shape=Shape.SOLO,
    bets=(PLAYER, BANKER, TIE_AT_EIGHT),
    exclusions=(frozenset({"player", "banker"}),),
    controls=(Control.TAKE_OFF, Control.DEAL, Control.CLEAR, Control.REBUY),
    declared={"player": "98.71", "banker": "98.99", "tie": "84.25"},
    headline=Headline(("player", "banker", "tie"), "93.985"),
    labels=with_common(LABELS),
    felt=THREE_BETS,
)
