"""How help writes figures: percentages and amounts as the language does, in the currency its market plays with."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Final

from babel.numbers import format_decimal

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


def percent(fraction: Fraction, language: str, digits: int = 2) -> str:
    """Write a share as a percentage the way the language does, rounded half up: "98.99 %", "−1.52 %"."""
    shift = 10**digits
    rounded = Decimal(floor(fraction * 100 * shift + Fraction(1, 2))) / shift
    pattern = "0." + "0" * digits if digits else "0"
    return f"{format_decimal(rounded, format=pattern, locale=language)} %".replace("-", "−")


def money(minor: int, language: str) -> str:
    """Write minor units of the market's currency as the language does."""
    return format_money(minor, MARKET[language], language)


def minor_units(units: str) -> int:
    """Read an amount an author has typed in whole units, "100" or "0.50".

    Raises decimal.InvalidOperation for what is no number, ValueError for what is not a whole number of minor units.
    """
    minor = Decimal(units) * MINOR_UNITS
    if minor != int(minor):
        raise ValueError(f"{units} has more decimals than the currency")
    return int(minor)
