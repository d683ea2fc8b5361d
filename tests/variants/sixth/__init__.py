"""A variant that the house does not have: what a new folder of `games/variants` looks like.

It has its own bets, whose codes no style sheet, template or script can know.
"""

from datetime import date
from typing import Final

from games.engine.bets import BetRule, Control, Headline, Pays, Prize, Shape, Variant
from games.engine.conditions import EITHER_PAIR, NATURAL_TIE, PERFECT_PAIR
from games.engine.felt import Felt, Height, Tone, row
from games.variants.common import BANKER, MAIN_TONES, PLAYER, TIE_AT_EIGHT, with_common

LANGUAGES: Final = ("sv", "da", "ro", "de", "en")
SIDES: Final = ("player", "banker")
OWN: Final = {"twins": (EITHER_PAIR, 5), "mirror": (PERFECT_PAIR, 25), "calm": (NATURAL_TIE, 50)}

VARIANT: Final = Variant(
    slug="sixth",
    version="1.0",
    changed=date(2026, 11, 27),
    decks=8,
    shape=Shape.SHARED,
    bets=(
        PLAYER,
        BANKER,
        TIE_AT_EIGHT,
        *(BetRule(code, (Prize(condition, Pays(win, 1)),), SIDES) for code, (condition, win) in OWN.items()),
    ),
    controls=(Control.DEAL, Control.CLEAR, Control.UNDO, Control.REBET, Control.DOUBLE),
    declared=dict.fromkeys((*SIDES, "tie", *OWN), "90"),
    headline=Headline(("player",), "98.76"),
    labels=with_common(
        {
            language: {"name": "Sixth", "tagline": "The sixth game."}
            | {f"bet.{code}": code.capitalize() for code in OWN}
            | {f"when.{condition.name}": code.capitalize() for code, (condition, _) in OWN.items()}
            for language in LANGUAGES
        }
    ),
    felt=Felt(
        tones=MAIN_TONES | {"twins": Tone.PLAYER, "calm": Tone.TIE},
        wide=(row(Height.MAIN, player=3, tie=2, banker=3), row(Height.SIDE, twins=1, mirror=1, calm=1)),
        narrow=(
            row(Height.MAIN, player=1, banker=1),
            row(Height.SLIM, tie=1),
            row(Height.SIDE, twins=1, mirror=1, calm=1),
        ),
        low=(row(Height.MAIN, player=3, tie=2, banker=3), row(Height.SIDE, twins=1, mirror=1, calm=1)),
    ),
)
