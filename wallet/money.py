"""Money as people read and write it: every language has its own way, and takes no other for it."""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, lru_cache

from babel import Locale
from babel.numbers import (
    format_currency,
    format_decimal,
    get_currency_symbol,
    get_decimal_symbol,
    get_group_symbol,
)
from django.utils.translation import gettext as _

MINOR_UNITS = 100  # in a unit of every currency of the house
LARGEST = 10**15  # minor units; nobody means to type more, and a hundred such amounts still fit a column
LONGEST = 40  # characters, with spaces and the currency's name

NO_BREAK_SPACE = "\u00a0"
SPACES = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
MINUS = "\u2212"  # as it is written: the sign, as wide as a plus
MINUS_SIGNS = "-\u2212\u2013"  # as people type it

# What people call a currency where its symbol in their language is another (CLDR writes SEK for kronor in English).
EVERYDAY_NAMES = {
    "SEK": ("kr", "kr."),
    "DKK": ("kr", "kr."),
    "RON": ("lei", "leu"),
    "EUR": ("€", "euro"),
    "GBP": ("£",),
}


class MoneyError(ValueError):
    """What somebody typed is no amount; the message says so in the active language."""


@lru_cache(maxsize=4096)  # limits and chips are on every page
def format_money(minor: int, currency: str, language: str) -> str:
    """Write *minor* units the way the language does: ``1 234,50 kr``, ``€1,234.50``."""
    text: str = format_currency(Decimal(minor) / MINOR_UNITS, currency, locale=_locale(language))
    return _spaced(text).replace("-", MINUS)


@lru_cache(maxsize=4096)
def format_amount(minor: int, currency: str, language: str) -> str:
    """Write whole units without decimals, as limits are read: ``10 000 kr``, ``€1,000``. All else as `format_money`."""
    if minor % MINOR_UNITS:
        return format_money(minor, currency, language)
    locale = _locale(language)
    pattern = locale.currency_formats["standard"].pattern.replace(".00", "")
    return _spaced(format_currency(minor // MINOR_UNITS, currency, pattern, locale=locale, currency_digits=False))


@lru_cache(maxsize=4096)
def format_figure(minor: int, language: str) -> str:
    """Write an amount without its currency, for where there is but one: ``1 234,50``, and whole units as ``10 000``."""
    pattern = "#,##0.00" if minor % MINOR_UNITS else "#,##0"
    text: str = format_decimal(Decimal(minor) / MINOR_UNITS, pattern, locale=_locale(language))
    return text


def _spaced(text: str) -> str:
    """Set a currency known by letters apart from the digits (CLDR, currencySpacing), which Babel leaves out."""
    return re.sub(r"(?<=[A-Za-z])(?=[0-9])", NO_BREAK_SPACE, text)


def parse_money(text: str, currency: str, language: str) -> int:
    """Read an amount typed in the language's own way, with or without the currency, as minor units.

    Groups of three digits may be parted by the language's own sign, by spaces or by apostrophes, which part nothing
    else in any language. Raises MoneyError for anything else, so that no sign of another language is read as one of
    this, and for what is not more than zero, has more than two decimals or is beyond all reason.
    """
    notation = _notation(currency, language)
    amount = _without_currency(text[: LONGEST + 1].strip(SPACES + "\t\r\n"), notation.names)
    if not amount:
        raise MoneyError(_("Write an amount, for example %(example)s.") % {"example": notation.example})
    if len(text) > LONGEST:
        raise MoneyError(_("This amount is too large."))
    if amount[0] in MINUS_SIGNS and notation.pattern.fullmatch(amount[1:].strip(SPACES)):
        raise MoneyError(_("The amount must be more than zero."))
    found = notation.pattern.fullmatch(amount)
    if found is None:
        raise MoneyError(_("This is not an amount. Write it like this: %(example)s.") % {"example": notation.example})
    decimals = found["decimals"] or ""
    if len(decimals) > 2:  # mostly thousands, parted as another language does: 1.000 in English, 1,000 in German
        sentence = _("An amount has at most two decimals. Write it like this: %(example)s.")
        raise MoneyError(sentence % {"example": notation.example})
    return _in_minor_units(found["whole"], decimals)


def _in_minor_units(whole: str, decimals: str) -> int:
    minor = int(re.sub(r"[^0-9]", "", whole)) * MINOR_UNITS + int(decimals.ljust(2, "0"))
    if minor == 0:
        raise MoneyError(_("The amount must be more than zero."))
    if minor > LARGEST:
        raise MoneyError(_("This amount is too large."))
    return minor


@dataclass(frozen=True)
class _Notation:
    """How one language writes amounts of one currency."""

    names: tuple[str, ...]  # of the currency, in lower case, longest first
    pattern: re.Pattern[str]
    example: str


@cache
def _notation(currency: str, language: str) -> _Notation:
    locale = _locale(language)
    group, decimal = get_group_symbol(locale), get_decimal_symbol(locale)
    separators = re.escape("".join(sorted({group, *SPACES, *APOSTROPHES})))
    grouped = rf"[1-9][0-9]{{0,2}}(?P<group>[{separators}])[0-9]{{3}}(?:(?P=group)[0-9]{{3}})*"
    symbol = get_currency_symbol(currency, locale).lower()
    names = {currency.lower(), symbol, symbol.rstrip("."), *EVERYDAY_NAMES[currency]}
    return _Notation(
        names=tuple(sorted(names, key=len, reverse=True)),
        pattern=re.compile(rf"(?P<whole>{grouped}|[0-9]+)(?:{re.escape(decimal)}(?P<decimals>[0-9]+))?"),
        example=format_decimal(Decimal("1234.50"), "#,##0.00", locale=locale),
    )


def _without_currency(text: str, names: tuple[str, ...]) -> str:
    """Take the currency's name off one end of *text*."""
    low = text.lower()
    for name in names:
        if low.endswith(name):
            return text[: -len(name)].rstrip(SPACES)
        if low.startswith(name):
            return text[len(name) :].lstrip(SPACES)
    return text


@cache
def _locale(language: str) -> Locale:
    return Locale.parse(language)
