"""No Commission Baccarat: a shared table with even money on Banker, but half where it wins with six, and side bets."""

from datetime import date
from typing import Final

from games.engine.bets import PUSH, BetRule, Control, Headline, Pays, Prize, Shape, Variant
from games.engine.conditions import (
    BANKER_WINS,
    BANKER_WINS_WITH_SIX,
    EITHER_PAIR,
    NATURAL_TIE,
    PERFECT_PAIR,
    TIE,
    TWO_PERFECT_PAIRS,
    wins_by,
    wins_with_a_natural,
)
from games.engine.coup import Side
from games.engine.felt import Felt, Height, Tone, row
from games.variants.common import EVEN_MONEY, MAIN_TONES, PLAYER, TIE_AT_EIGHT, pair_bets, side_bet, with_common
from games.variants.no_commission.labels import LABELS

MAIN_BETS: Final = ("player", "banker", "tie")

BANKER: Final = BetRule(
    "banker", (Prize(BANKER_WINS_WITH_SIX, Pays(1, 2)), Prize(BANKER_WINS, EVEN_MONEY), Prize(TIE, PUSH))
)
SUPER_SIX: Final = BetRule("super_6", (Prize(BANKER_WINS_WITH_SIX, Pays(15, 1)),), MAIN_BETS)
PERFECT: Final = BetRule(
    "perfect_pair", (Prize(TWO_PERFECT_PAIRS, Pays(200, 1)), Prize(PERFECT_PAIR, Pays(25, 1))), MAIN_BETS
)


def bonus(side: Side) -> BetRule:
    """A bet on one side's margin: the further ahead without a natural, the more."""
    by_margin = {9: 30, 8: 10, 7: 6, 6: 4, 5: 2, 4: 1}
    return BetRule(
        f"{side}_bonus",
        (
            Prize(wins_with_a_natural(side), EVEN_MONEY),
            Prize(NATURAL_TIE, PUSH),
            *(Prize(wins_by(side, points), Pays(win, 1)) for points, win in by_margin.items()),
        ),
        MAIN_BETS,
    )


FELT: Final = Felt(
    tones=MAIN_TONES
    | dict.fromkeys(("player_pair", "player_bonus"), Tone.PLAYER)
    | dict.fromkeys(("banker_pair", "banker_bonus", "super_6"), Tone.BANKER),
    wide=(
        row(Height.SIDE, player_pair=2, either_pair=2, perfect_pair=2, banker_pair=2),
        row(Height.MAIN, player=3, tie=2, banker=3),
        row(Height.SIDE, player_bonus=3, super_6=2, banker_bonus=3),
    ),
    narrow=(
        row(Height.MAIN, player=3, banker=3),
        row(Height.SLIM, tie=6),
        row(Height.SIDE, player_pair=2, either_pair=2, banker_pair=2),
        row(Height.SIDE, player_bonus=2, super_6=2, banker_bonus=2),
        row(Height.SLIM, perfect_pair=6),
    ),
    low=(
        row(Height.MAIN, player=3, tie=2, banker=3),
        row(Height.SIDE, player_pair=2, either_pair=2, perfect_pair=2, banker_pair=2),
        row(Height.SIDE, player_bonus=3, super_6=2, banker_bonus=3),
    ),
)

VARIANT: Final = Variant(
    slug="no_commission",
    version="1.0",
    changed=date(2026, 11, 21),
    decks=8,
    shape=Shape.SHARED,
    bets=(
        PLAYER,
        BANKER,
        TIE_AT_EIGHT,
        SUPER_SIX,
        *pair_bets(MAIN_BETS),
        side_bet(EITHER_PAIR, Pays(5, 1), MAIN_BETS),
        PERFECT,
        bonus(Side.PLAYER),
        bonus(Side.BANKER),
    ),
    controls=(Control.REBET, Control.UNDO, Control.DOUBLE, Control.FAVOURITES),
    declared={
        "player": "98.76",
        "banker": "98.54",
        "tie": "85.64",
        "super_6": "86.18",
        "player_pair": "89.64",
        "banker_pair": "89.64",
        "either_pair": "86.29",
        "perfect_pair": "91.95",
        "player_bonus": "97.35",
        "banker_bonus": "90.63",
    },
    headline=Headline(("player",), "98.76"),
    labels=with_common(LABELS),
    felt=FELT,
)
