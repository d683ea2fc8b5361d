"""Baccarat with Pairs: a shared table; Player or Banker, and beside it a tie at nine to one and the pairs."""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Pays, Shape, Variant
from games.engine.conditions import TIE
from games.variants.common import BANKER, PLAYER, pair_bets, side_bet, with_common
from games.variants.pairs.labels import LABELS

SIDES: Final = ("player", "banker")

VARIANT: Final = Variant(
    slug="pairs",
    version="1.0",
    changed=date(2026, 11, 21),
    decks=8,
    shape=Shape.SHARED,
    bets=(PLAYER, BANKER, side_bet(TIE, Pays(9, 1), SIDES), *pair_bets(SIDES)),
    exclusions=(frozenset(SIDES),),
    controls=(Control.REBET, Control.UNDO, Control.DOUBLE, Control.CLEAR),
    declared={
        "player": "98.7649",
        "banker": "98.9421",
        "tie": "95.1560",
        "player_pair": "89.6386",
        "banker_pair": "89.6386",
    },
    headline=Headline(("player",), "98.7649"),
    labels=with_common(LABELS),
)
