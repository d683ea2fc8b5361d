"""No Commission Baccarat: a shared table with side bets and even money on Banker.

Banker pays half if it wins with six.
"""

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

LABELS: Final = {
    "sv": {
        "name": "No Commission Baccarat",
        "tagline": "1:1 på Banken, bonus för stora segrar och fyra sätt att satsa på par.",
        "bet.super_6": "Super 6",
        "bet.either_pair": "Något par",
        "bet.perfect_pair": "Perfekt par",
        "bet.player_bonus": "Spelarbonus",
        "bet.banker_bonus": "Bankbonus",
        "when.banker_wins_with_six": "Banken vinner med exakt 6",
        "when.either_pair": "Minst en hand börjar med ett par",
        "when.perfect_pair": "En hand börjar med två likadana kort: samma valör och färg",
        "when.two_perfect_pairs": "Båda händerna börjar med två likadana kort",
        "when.natural_tie": "Oavgjort med natural, 8–8 eller 9–9",
        "when.player_wins_with_a_natural": "Spelaren vinner med natural",
        "when.banker_wins_with_a_natural": "Banken vinner med natural",
        **{f"when.player_wins_by_{points}": f"Spelaren vinner med {points} poäng" for points in range(4, 10)},
        **{f"when.banker_wins_by_{points}": f"Banken vinner med {points} poäng" for points in range(4, 10)},
    },
    "da": {
        "name": "No Commission Baccarat",
        "tagline": "1:1 på Banken, bonus for store sejre og fire måder at satse på par.",
        "bet.super_6": "Super 6",
        "bet.either_pair": "Et af parrene",
        "bet.perfect_pair": "Perfekt par",
        "bet.player_bonus": "Spillerbonus",
        "bet.banker_bonus": "Bankbonus",
        "when.banker_wins_with_six": "Banken vinder med præcis 6",
        "when.either_pair": "Mindst én hånd begynder med et par",
        "when.perfect_pair": "Én hånd begynder med to ens kort: samme rang og kulør",
        "when.two_perfect_pairs": "Begge hænder begynder med to ens kort",
        "when.natural_tie": "Uafgjort med natural, 8–8 eller 9–9",
        "when.player_wins_with_a_natural": "Spiller vinder med natural",
        "when.banker_wins_with_a_natural": "Banken vinder med natural",
        **{f"when.player_wins_by_{points}": f"Spiller vinder med {points} point" for points in range(4, 10)},
        **{f"when.banker_wins_by_{points}": f"Banken vinder med {points} point" for points in range(4, 10)},
    },
    "ro": {
        "name": "Baccarat fără comision",
        "tagline": "Banca plătește unu la unu, bonus pentru victorii mari și patru pariuri pe perechi.",
        "bet.super_6": "Super 6",
        "bet.either_pair": "Oricare pereche",
        "bet.perfect_pair": "Pereche perfectă",
        "bet.player_bonus": "Bonus Jucător",
        "bet.banker_bonus": "Bonus Banca",
        "when.banker_wins_with_six": "Banca câștigă cu exact 6",
        "when.either_pair": "Cel puțin o mână începe cu o pereche",
        "when.perfect_pair": "O mână începe cu două cărți identice ca rang și culoare (treflă, caro, cupă, pică)",
        "when.two_perfect_pairs": "Ambele mâini încep cu două cărți identice",
        "when.natural_tie": "Egalitate cu naturală, 8–8 sau 9–9",
        "when.player_wins_with_a_natural": "Jucătorul câștigă cu naturală",
        "when.banker_wins_with_a_natural": "Banca câștigă cu naturală",
        **{
            f"when.player_wins_by_{points}": f"Jucătorul câștigă la {points} puncte diferență"
            for points in range(4, 10)
        },
        **{f"when.banker_wins_by_{points}": f"Banca câștigă la {points} puncte diferență" for points in range(4, 10)},
    },
    "de": {
        "name": "Baccarat ohne Kommission",
        "tagline": "Die Bank zahlt eins zu eins, dazu ein Bonus für hohe Siege und vier Einsätze auf Paare.",
        "bet.super_6": "Super 6",
        "bet.either_pair": "Beliebiges Paar",
        "bet.perfect_pair": "Perfektes Paar",
        "bet.player_bonus": "Spieler-Bonus",
        "bet.banker_bonus": "Bank-Bonus",
        "when.banker_wins_with_six": "Bank gewinnt mit genau 6",
        "when.either_pair": "Mindestens ein Blatt beginnt mit einem Paar",
        "when.perfect_pair": "Ein Blatt beginnt mit zwei gleichen Karten: gleicher Rang und gleiche Farbe",
        "when.two_perfect_pairs": "Beide Blätter beginnen mit zwei gleichen Karten",
        "when.natural_tie": "Unentschieden mit Natural, 8–8 oder 9–9",
        "when.player_wins_with_a_natural": "Spieler gewinnt mit einem Natural",
        "when.banker_wins_with_a_natural": "Bank gewinnt mit einem Natural",
        **{
            f"when.player_wins_by_{points}": f"Spieler gewinnt mit {points} Punkten Vorsprung"
            for points in range(4, 10)
        },
        **{f"when.banker_wins_by_{points}": f"Bank gewinnt mit {points} Punkten Vorsprung" for points in range(4, 10)},
    },
    "en": {
        "name": "No Commission Baccarat",
        "tagline": "Even money on Banker, a bonus for wide margins, and four ways to back a pair.",
        "bet.super_6": "Super 6",
        "bet.either_pair": "Either Pair",
        "bet.perfect_pair": "Perfect Pair",
        "bet.player_bonus": "Player Bonus",
        "bet.banker_bonus": "Banker Bonus",
        "when.banker_wins_with_six": "Banker wins with exactly 6",
        "when.either_pair": "At least one hand starts with a pair",
        "when.perfect_pair": "One hand starts with two identical cards: the same rank and suit",
        "when.two_perfect_pairs": "Both hands start with two identical cards",
        "when.natural_tie": "A tie of naturals, 8–8 or 9–9",
        "when.player_wins_with_a_natural": "Player wins with a natural",
        "when.banker_wins_with_a_natural": "Banker wins with a natural",
        **{f"when.player_wins_by_{points}": f"Player wins by {points} points" for points in range(4, 10)},
        **{f"when.banker_wins_by_{points}": f"Banker wins by {points} points" for points in range(4, 10)},
    },
}


MAIN_BETS: Final = ("player", "banker", "tie")

BANKER: Final = BetRule(
    "banker", (Prize(BANKER_WINS_WITH_SIX, Pays(1, 2)), Prize(BANKER_WINS, EVEN_MONEY), Prize(TIE, PUSH))
)
SUPER_SIX: Final = BetRule("super_6", (Prize(BANKER_WINS_WITH_SIX, Pays(15, 1)),), MAIN_BETS)
PERFECT: Final = BetRule(
    "perfect_pair", (Prize(TWO_PERFECT_PAIRS, Pays(200, 1)), Prize(PERFECT_PAIR, Pays(25, 1))), MAIN_BETS
)


def bonus(side: Side) -> BetRule:
    """Return the bonus bet on a side: even money for a win with a natural, more for a larger margin
    without one.
    """
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
