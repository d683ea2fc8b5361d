"""What buttons, meters and pages are called on the screen, so that help calls them the same."""

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import pgettext


def controls() -> Mapping[str, str]:
    """Everything a player can press, by the name help texts use for it, in the active language."""
    return _bets() | _places() | _chemin()


def meters() -> Mapping[str, str]:
    """The amounts that stand below a table, in the active language."""
    return {
        "bet": pgettext("meter", "Bet"),
        "last_bet": pgettext("meter", "Last bet"),
        "balance": pgettext("meter", "Balance"),
        "free_balance": pgettext("meter", "Free balance"),
        "game_balance": pgettext("meter", "Game balance"),
        "win": pgettext("meter", "Win"),
    }


def pages() -> Mapping[str, str]:
    """Pages a help text may lead to, by the name of their address, in the active language."""
    return {
        "fair": _("How deals stay fair"),
        "terms": _("Terms"),
        "lobby": _("Lobby"),
        "help": _("Help"),
        "history": _("Game logs"),
        "cashier": _("Cashier"),
    }


def _bets() -> dict[str, str]:
    return {
        "deal": pgettext("control", "Deal"),
        "double": pgettext("control", "Double"),
        "clear": pgettext("control", "Clear"),
        "undo": pgettext("control", "Undo"),
        "rebet": pgettext("control", "Rebet"),
        "double_and_deal": pgettext("control", "Double & Deal"),
        "rebet_and_deal": pgettext("control", "Rebet & Deal"),
        "take_off": "−",
        "favourites": pgettext("control", "Favourite bets"),
        "rebuy": _("Re-buy"),
    }


def _places() -> dict[str, str]:
    return {
        "sound": _("Sound"),
        "game_logs": _("Game logs"),
        "game_history": _("Game history"),
        "game_rules": _("Game rules"),
        "rules": _("Rules"),
        "deposit": _("Deposit"),
        "top_up": _("Top up"),
        "leave_game": _("Leave game"),
        "deal_again": _("Deal again"),
        "lobby": _("Lobby"),
        "cashier": _("Cashier"),
        "statistics": _("Results"),
        "chat": pgettext("control", "Chat"),
        "history": pgettext("control", "History"),
        "limits": pgettext("control", "Limits and payouts"),
        "settings": pgettext("control", "Settings"),
    }


def _chemin() -> dict[str, str]:
    return {
        "take_bank": pgettext("control", "Take the bank"),
        "pass": pgettext("control", "Pass"),
        "bid": pgettext("control", "Bid"),
        "stake": pgettext("control", "Stake"),
        "deal_cards": pgettext("control", "Draw the cards"),
        "draw": pgettext("control", "Card"),
        "stand": pgettext("control", "Stand"),
        "ask_croupier": pgettext("control", "Ask the croupier"),
        "keep_bank": pgettext("control", "Keep the bank"),
        "give_suite": pgettext("control", "Pass the bank on"),
        "step_away": pgettext("control", "Step away"),
        "come_back": pgettext("control", "Come back"),
        "leave_table": pgettext("control", "Leave the table"),
    }


WORDS: Mapping[str, Callable[[], Mapping[str, str]]] = {"control": controls, "meter": meters}
"""The marks that print a word of the screen."""
