"""Required content of each game's help in every language: sections in order, and placeholders."""

from __future__ import annotations

from games.betting.rules import plays_on
from games.engine.bets import Shape, Variant
from games.engine.chemin.rules import Call
from games.variants import GAMES
from games.variants.common import Game
from wallet.models import AccountKind

LEAST_WORDS, MOST_WORDS = 600, 1500
LEAST_EXAMPLES, LEAST_QUESTIONS = 2, 5
VOID = "✕"

PUNTO_BANCO = ("aim", "round", "bets", "third-card", "returns", "examples", "buttons", "limits", "trouble", "questions")
CHEMIN = ("aim", "round", "bank", *PUNTO_BANCO[2:])

TABLES = {"decks", "paytable", "player_rule", "banker_table", "returns", "smallest_stake", "limits"}
CHEMIN_TABLES = {
    *("decks", "chemin_punter_rule", "chemin_banker_table", "chemin_calls"),
    *("chemin_chances", "chemin_banks", "chemin_times"),
}

AROUND_A_SOLO_TABLE = {"sound", "game_logs", "game_rules", "deposit"}
AROUND_A_TABLE_WITH_A_PURSE = {"sound", "rules", "game_history", "leave_game"}
AROUND_A_LIVE_TABLE = {
    *("sound", "statistics", "chat", "limits", "history"),
    *("cashier", "rules", "settings", "lobby", "game_logs"),
}
AROUND_CHEMIN = {
    *("take_bank", "pass", "bid", "stake", "deal_cards", "draw", "stand", "ask_croupier", "keep_bank", "give_suite"),
    *("step_away", "come_back", "leave_table", "chat", "history", "cashier", "lobby"),
}


def has_purse(game: Game) -> bool:
    """Return whether the game has its own balance."""
    return isinstance(game, Variant) and plays_on(game) is AccountKind.PURSE


def required_sections(slug: str) -> tuple[str, ...]:
    """Return the sections that the help of this game must have, in order."""
    game = GAMES[slug]
    if not isinstance(game, Variant):
        return CHEMIN
    return (*PUNTO_BANCO[:7], "balance", *PUNTO_BANCO[7:]) if has_purse(game) else PUNTO_BANCO


def around(game: Variant) -> set[str]:
    """Return the buttons around the table of a game, which depend on its kind of table."""
    if has_purse(game):
        return AROUND_A_TABLE_WITH_A_PURSE
    return AROUND_A_LIVE_TABLE if game.shape is Shape.SHARED else AROUND_A_SOLO_TABLE


def required_placeholders(slug: str) -> set[str]:
    """Return the placeholders that the help of this game must use at least once."""
    game = GAMES[slug]
    if not isinstance(game, Variant):
        marks = {f"control:{name}" for name in AROUND_CHEMIN} | {f"call:{call.value}" for call in Call}
        return marks | CHEMIN_TABLES | {"tax", "gain:punter", "gain:banker", "idle_minutes", "page:fair"}
    meters = {"bet", "game_balance" if has_purse(game) else "balance", "win"}
    marks = {f"control:{name}" for name in around(game) | {control.value for control in game.controls}}
    marks |= TABLES | {f"bet:{bet.code}" for bet in game.bets} | {f"meter:{name}" for name in meters}
    marks |= {"edge:player", "edge:banker", "edge:tie", "page:fair"}
    return marks | {"idle_minutes"} if game.shape is Shape.SHARED or has_purse(game) else marks
