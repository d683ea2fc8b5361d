"""Baccarat with Pairs: a shared table with Player and Banker, and side bets on pairs and on a tie
at nine to one.
"""

from datetime import date
from typing import Final

from games.engine.bets import Control, Headline, Pays, Shape, Variant
from games.engine.conditions import TIE
from games.engine.felt import Felt, Height, Tone, row
from games.variants.common import BANKER, MAIN_TONES, PLAYER, pair_bets, side_bet, with_common

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
        "tagline": "One side to back, a better price on the Tie, and bets on pairs.",
    },
}


SIDES: Final = ("player", "banker")

FELT: Final = Felt(
    tones=MAIN_TONES | {"player_pair": Tone.PLAYER, "banker_pair": Tone.BANKER},
    wide=(
        row(Height.SIDE, player_pair=4, banker_pair=4),
        row(Height.MAIN, player=3, tie=2, banker=3),
    ),
    narrow=(
        row(Height.MAIN, player=3, banker=3),
        row(Height.SLIM, tie=6),
        row(Height.SIDE, player_pair=3, banker_pair=3),
    ),
    low=(
        row(Height.MAIN, player=3, tie=2, banker=3),
        row(Height.SIDE, player_pair=4, banker_pair=4),
    ),
)

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
    felt=FELT,
)
