"""Placeholders in help texts: `{{ edge:tie }}`, `{{ control:rebet }}`, `{{ money:100 }}`.

A placeholder is a name with an optional argument after a colon. Each is a function of the argument
and the language. Its result is escaped unless it is safe HTML.
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import InvalidOperation
from fractions import Fraction
from functools import lru_cache, partial
from math import floor

from django.conf import settings
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.engine.bets import UnknownBet, Variant
from games.engine.cards import FULL_DECK
from games.engine.odds import LIVE_MINIMUM, Odds, exact
from games.help.examples import Example
from games.help.figures import CHEMIN_PLACEHOLDERS, UnknownPlaceholder, minor_units, money, percent
from games.labels import bet_name
from games.variants import GAMES, VARIANTS
from games.variants.common import Game


def controls() -> Mapping[str, str]:
    """Return the labels of all controls by the name that help texts use, in the active language."""
    return _bets() | _seat_counts() | _chemin()


def meters() -> Mapping[str, str]:
    """Return the labels of the amounts below a table, in the active language."""
    return {
        "bet": pgettext("meter", "Bet"),
        "last_bet": pgettext("meter", "Last bet"),
        "balance": pgettext("meter", "Balance"),
        "free_balance": pgettext("meter", "Play money"),
        "game_balance": pgettext("meter", "Game balance"),
        "win": pgettext("meter", "Win"),
    }


def pages() -> Mapping[str, str]:
    """Return the pages that a help text can link to, by URL name, in the active language."""
    return {
        "fair": _("How we keep the game fair"),
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


def _seat_counts() -> dict[str, str]:
    return {
        "sound": _("Sound"),
        "game_logs": _("Game logs"),
        "game_history": _("Game history"),
        "game_rules": _("Game rules"),
        "rules": _("Rules"),
        "deposit": _("Deposit"),
        "top_up": _("Top up"),
        "leave_game": _("Leave game"),
        "deal_again": _("Watch again"),
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
"""The placeholders that print a label of the screen."""


Placeholder = Callable[[str, str], str]
HUNDRED = 100


def placeholders_of(game: Game, examples: Sequence[Example]) -> Mapping[str, Placeholder]:
    """Return all placeholders that the help of *game* can use."""
    own = _variant_placeholders(game) if isinstance(game, Variant) else CHEMIN_PLACEHOLDERS
    everywhere: dict[str, Placeholder] = {
        "control": partial(_word, "control"),
        "meter": partial(_word, "meter"),
        "page": _page,
        "game": _game,
        "money": _money,
        "example": partial(_example, examples),
        "decks_number": lambda argument, language: str(game.decks),
        "deck_cards": lambda argument, language: str(len(FULL_DECK)),
        "shoe_cards": lambda argument, language: str(len(FULL_DECK) * game.decks),
        "idle_minutes": lambda argument, language: str(settings.PLAYER_IDLE_SECONDS // 60),
        "minimum_return": lambda argument, language: percent(LIVE_MINIMUM, language, 0),
    }
    return {**everywhere, **own}


def _variant_placeholders(variant: Variant) -> Mapping[str, Placeholder]:
    return {
        "bet": partial(_bet, variant),
        "pays": partial(_pays, variant),
        "return": partial(_share, variant, "rtp"),
        "edge": partial(_share, variant, "edge"),
        "chance": partial(_share, variant, "win"),
        "cost": partial(_cost, variant),
        "headline": lambda argument, language: percent(headline(variant), language, headline_digits(variant)),
        "headline_edge": lambda argument, language: percent(1 - headline(variant), language, headline_digits(variant)),
    }


@lru_cache
def odds_of(slug: str) -> Odds:
    """Return the exact odds of a punto banco game. They never change while a process runs."""
    return exact(VARIANTS[slug])


def headline(variant: Variant) -> Fraction:
    """Return the advertised return of a game."""
    odds = odds_of(variant.slug)
    return sum((odds[bet].rtp for bet in variant.headline.bets), Fraction(0)) / len(variant.headline.bets)


def headline_digits(variant: Variant) -> int:
    """Return the number of decimals of the advertised return."""
    return len(variant.headline.percent.partition(".")[2])


def _bet(variant: Variant, code: str, language: str) -> str:
    """Return the name of a bet, which is also the name of the hand. Raises UnknownPlaceholder."""
    return bet_name(variant, _known(variant, code), language)


def _pays(variant: Variant, argument: str, language: str) -> str:
    """Return the payout of a bet, or of one of its prizes (`bet.condition`). Raises UnknownPlaceholder."""
    code, _, condition = argument.partition(".")
    bet = variant.bet(_known(variant, code))
    if not condition:
        return bet.pays_text
    for prize in bet.prizes:
        if prize.when.name == condition:
            return str(prize.pays)
    raise UnknownPlaceholder(f"{code} has no prize {condition!r}")


def _share(variant: Variant, figure: str, code: str, language: str) -> str:
    return percent(getattr(odds_of(variant.slug)[_known(variant, code)], figure), language)


def _cost(variant: Variant, code: str, language: str) -> str:
    """Return the house's average gain per hundred units staked."""
    edge = odds_of(variant.slug)[_known(variant, code)].edge
    return money(floor(edge * minor_units(str(HUNDRED)) + Fraction(1, 2)), language)


def _known(variant: Variant, code: str) -> str:
    try:
        return variant.bet(code).code
    except UnknownBet:
        raise UnknownPlaceholder(f"{variant.slug} has no bet {code!r}") from None


def _word(kind: str, argument: str, language: str) -> str:
    """Return a label of the screen, marked up as one. Raises UnknownPlaceholder."""
    try:
        said = WORDS[kind]()[argument]
    except KeyError:
        raise UnknownPlaceholder(f"there is no {kind} {argument!r}") from None
    return format_html('<b class="{}">{}</b>', f"screen-label screen-label--{kind}", said)


def _page(argument: str, language: str) -> str:
    try:
        name = pages()[argument]
    except KeyError:
        raise UnknownPlaceholder(f"help leads to no page {argument!r}") from None
    return format_html('<a href="{}">{}</a>', reverse(argument), name)


def _game(argument: str, language: str) -> str:
    try:
        name = GAMES[argument].label(language, "name")
    except KeyError:
        raise UnknownPlaceholder(f"there is no game {argument!r}") from None
    return format_html('<a href="{}">{}</a>', reverse("rules", args=[argument]), name)


def _money(argument: str, language: str) -> str:
    try:
        return money(minor_units(argument), language)
    except (InvalidOperation, ValueError):
        raise UnknownPlaceholder(f"{argument!r} is no amount") from None


def _example(examples: Sequence[Example], argument: str, language: str) -> str:
    """Return a figure of an example by its number, counted from one. Raises UnknownPlaceholder."""
    number, _, figure = argument.partition(".")
    try:
        return examples[[str(each) for each in range(1, len(examples) + 1)].index(number)].figures[figure]
    except (KeyError, ValueError):
        raise UnknownPlaceholder(f"no example has a figure {argument!r}") from None
