"""Required content of each game's help in every language: sections in order, and placeholders."""

from __future__ import annotations

from collections.abc import Mapping

from games.engine.bets import Shape, Variant
from games.engine.chemin.rules import Call
from games.variants import GAMES

LEAST_WORDS, MOST_WORDS = 600, 1500
LEAST_EXAMPLES, LEAST_QUESTIONS = 2, 5
VOID = "✕"

PUNTO_BANCO = ("aim", "round", "bets", "third-card", "returns", "examples", "buttons", "limits", "trouble", "questions")
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "baccarat": PUNTO_BANCO,
    "golden": (*PUNTO_BANCO[:7], "balance", *PUNTO_BANCO[7:]),
    "no_commission": PUNTO_BANCO,
    "pairs": PUNTO_BANCO,
    "chemin_de_fer": ("aim", "round", "bank", *PUNTO_BANCO[2:]),
}

TABLES = {"decks", "paytable", "player_rule", "banker_table", "returns", "smallest_stake", "limits"}
CHEMIN_TABLES = {
    *("decks", "chemin_punter_rule", "chemin_banker_table", "chemin_calls"),
    *("chemin_chances", "chemin_banks", "chemin_times"),
}

BESIDE_A_LIVE_TABLE = {
    "sound",
    "statistics",
    "chat",
    "limits",
    "history",
    "cashier",
    "rules",
    "settings",
    "lobby",
    "game_logs",
}
AROUND_THE_TABLE: Mapping[str, set[str]] = {
    "baccarat": {"sound", "game_logs", "game_rules", "deposit"},
    "golden": {"sound", "rules", "game_history", "leave_game"},
    "no_commission": BESIDE_A_LIVE_TABLE,
    "pairs": BESIDE_A_LIVE_TABLE,
    "chemin_de_fer": {
        *(
            "take_bank",
            "pass",
            "bid",
            "stake",
            "deal_cards",
            "draw",
            "stand",
            "ask_croupier",
            "keep_bank",
            "give_suite",
        ),
        *("step_away", "come_back", "leave_table", "chat", "history", "cashier", "lobby"),
    },
}
METERS: Mapping[str, set[str]] = {
    "baccarat": {"bet", "balance", "win"},
    "golden": {"bet", "game_balance", "win"},
    "no_commission": {"bet", "balance", "win"},
    "pairs": {"bet", "balance", "win"},
    "chemin_de_fer": set(),
}


def required_placeholders(slug: str) -> set[str]:
    """Return the placeholders that the help of this game must use at least once."""
    game = GAMES[slug]
    marks = {f"control:{name}" for name in AROUND_THE_TABLE[slug]} | {f"meter:{name}" for name in METERS[slug]}
    if not isinstance(game, Variant):
        calls = {f"call:{call.value}" for call in Call}
        return marks | calls | CHEMIN_TABLES | {"tax", "gain:punter", "gain:banker", "idle_minutes", "page:fair"}
    shown = {f"control:{control.value}" for control in game.controls}
    marks |= TABLES | shown | {f"bet:{bet.code}" for bet in game.bets}
    marks |= {"edge:player", "edge:banker", "edge:tie", "page:fair"}
    return marks | {"idle_minutes"} if game.shape is Shape.SHARED or slug == "golden" else marks
