"""Figures in help texts, in the language and its currency: percentages, amounts, and those of Chemin de Fer.

Only the author of a help text can correct it, so pages raise errors and tests find them.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Final

from babel import Locale
from babel.numbers import format_percent

from games.engine import odds
from games.engine.chemin.machine import AT_A_FREE_CHOICE
from games.engine.chemin.odds import PolicyOdds, chemin_odds
from games.engine.chemin.rules import CUT_CARD, FEWEST_PLAYERS, FEWEST_SEATS, MOST_SEATS, TAX, Call, Side
from wallet.models import Currency
from wallet.money import MINOR_UNITS, format_money

MARKET: Final[Mapping[str, Currency]] = {
    "sv": Currency.SEK,
    "da": Currency.DKK,
    "ro": Currency.RON,
    "de": Currency.EUR,
    "en": Currency.GBP,
}
"""The currency of the examples in each language."""


def percent(share: Fraction, language: str, digits: int = 2) -> str:
    """Format a share as a percentage, rounded as the engine rounds: "98.99%", "−1,52 %"."""
    rounded = Decimal(odds.percent(share, digits))
    pattern = Locale.parse(language).percent_formats[None].pattern
    if digits:
        pattern = pattern.replace("0", "0." + "0" * digits)
    text: str = format_percent(rounded / 100, pattern, locale=language)
    return text.replace("-", "−")


def money(minor: int, language: str) -> str:
    """Format minor units of the language's currency."""
    return format_money(minor, MARKET[language], language)


def minor_units(units: str) -> int:
    """Read an amount that an author wrote in whole units, "100" or "0.50".

    Raises decimal.InvalidOperation if it is not a number, ValueError if it is not a whole number of
    minor units.
    """
    minor = Decimal(units) * MINOR_UNITS
    if minor != int(minor):
        raise ValueError(f"{units} has more decimals than the currency")
    return int(minor)


class HelpTextError(ValueError):
    """A help text that cannot be rendered."""


class UnknownPlaceholder(HelpTextError):
    """An unknown placeholder in double braces."""


class BadExample(HelpTextError):
    """A worked example that the rules do not allow, or that lacks a required line."""


CALLS: Mapping[Call, str] = {
    Call.BANCO_SOLO: "Banco solo",
    Call.BANCO: "Banco",
    Call.BANCO_ET_LA_TABLE_MARCHE: "Banco et la table marche",
    Call.BANCO_AVEC_LA_TABLE: "Banco avec la table",
}
"""The calls as spoken at the table, the same in every language."""


@cache
def policies() -> tuple[PolicyOdds, ...]:
    """Return the odds for every combination of the free choices."""
    return chemin_odds()


def croupiers_policy() -> PolicyOdds:
    """Return the odds if every free choice is made as the croupier makes it for an absent player."""
    punter, banker = AT_A_FREE_CHOICE[Side.PUNTER], AT_A_FREE_CHOICE[Side.BANKER]
    return next(
        odds
        for odds in policies()
        if odds.punter_on_5 is punter and odds.banker_3_9 is banker and odds.banker_5_4 is banker
    )


def _call(argument: str, language: str) -> str:
    try:
        return CALLS[Call(argument)]
    except ValueError:
        raise UnknownPlaceholder(f"there is no call {argument!r}") from None


def _chance(argument: str, language: str) -> str:
    """Return the probability of `punter`, `banker` or `draw` with the croupier's choices.

    Raises UnknownPlaceholder.
    """
    odds = croupiers_policy()
    chances = {"punter": odds.punter_win, "banker": odds.banker_win, "draw": odds.draw}
    return _percent(chances, argument, language)


def _gain(argument: str, language: str) -> str:
    """Return the gain of `punter` or `banker` per unit that the punters stake. Raises UnknownPlaceholder."""
    odds = croupiers_policy()
    return _percent({"punter": odds.punter, "banker": odds.banker_after_tax}, argument, language)


def _percent(shares: Mapping[str, Fraction], argument: str, language: str) -> str:
    share = shares.get(argument)
    if share is None:
        raise UnknownPlaceholder(f"{argument!r} is neither of {', '.join(shares)}")
    return percent(share, language)


CHEMIN_PLACEHOLDERS: Mapping[str, Callable[[str, str], str]] = {
    "tax": lambda argument, language: percent(TAX, language, 0),
    "seats_fewest": lambda argument, language: str(FEWEST_SEATS),
    "seats_most": lambda argument, language: str(MOST_SEATS),
    "players_fewest": lambda argument, language: str(FEWEST_PLAYERS),
    "cut_cards": lambda argument, language: str(CUT_CARD),
    "call": _call,
    "chance": _chance,
    "gain": _gain,
}
