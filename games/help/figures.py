"""Percentages and amounts in help texts, in the language and its currency, and errors in the texts.

Only the author of a help text can correct it, so pages raise errors and tests find them.
"""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Final

from babel import Locale
from babel.numbers import format_percent

from games.engine import odds
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
