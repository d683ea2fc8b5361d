"""Format and parse amounts of money in the notation of each language."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from babel import Locale
from babel.numbers import (
    format_currency,
    format_decimal,
    get_currency_symbol,
    get_decimal_symbol,
    get_group_symbol,
)
from django.utils.translation import get_language
from django.utils.translation import gettext as _

MINOR_UNITS = 100  # per unit, in every supported currency
LARGEST = 10**15  # minor units; a sum of a hundred such amounts still fits a column
LONGEST = 40  # characters, including spaces and the currency's name

NO_BREAK_SPACE = "\u00a0"
SPACES = " \u00a0\u2009\u202f"
APOSTROPHES = "'\u2019"
MINUS = "\u2212"  # the typographic minus sign, as wide as a plus
MINUS_SIGNS = "-\u2212\u2013"  # the minus signs that people type

# Everyday names of a currency that differ from its CLDR symbol. CLDR writes SEK for kronor in
# English.
EVERYDAY_NAMES = {
    "SEK": ("kr", "kr."),
    "DKK": ("kr", "kr."),
    "RON": ("lei", "leu"),
    "EUR": ("€", "euro"),
    "GBP": ("£",),
}


class MoneyError(ValueError):
    """The typed text is not a valid amount. The message says so in the active language."""


def format_money(minor: int, currency: str, language: str) -> str:
    """Format *minor* units in the notation of the language: ``1 234,50 kr``, ``€1,234.50``."""
    return _money_pattern(currency, language).fill(minor)


def write_money(minor: int, currency: str) -> str:
    """Format *minor* units in the notation of the active language, as a value of a stored sentence."""
    return format_money(minor, currency, get_language() or "en")


def format_signed_money(minor: int, currency: str, language: str) -> str:
    """Format an amount with its sign: plus for money in, minus for money out."""
    return f"{'+' if minor > 0 else ''}{format_money(minor, currency, language)}"


def format_amount(minor: int, currency: str, language: str) -> str:
    """Format whole units without decimals: ``10 000 kr``, ``€1,000``.

    Other amounts as `format_money` does.
    """
    pattern = _money_pattern if minor % MINOR_UNITS else _amount_pattern
    return pattern(currency, language).fill(minor)


def format_figure(minor: int, language: str) -> str:
    """Format an amount without currency: ``1 234,50``, or ``10 000`` for whole units."""
    return _figure_pattern("#,##0.00" if minor % MINOR_UNITS else "#,##0", language).fill(minor)


@dataclass(frozen=True)
class _Pattern:
    """Pattern of the amounts of one currency in one language. Babel takes thirty times as long as `fill`."""

    positive: tuple[str, str]  # texts before and after the digits
    negative: tuple[str, str]
    group: str
    decimal: str  # "" for amounts in whole units

    @classmethod
    def of(cls, formatted: Callable[[Decimal], str], *, decimals: bool) -> "_Pattern":
        """Read the pattern off amounts that CLDR's rules have formatted."""
        sample = Decimal("1234567.89" if decimals else "1234567")
        digits = re.compile(r"1(?P<group>\D*)234(?P=group)567(?:(?P<decimal>\D+)89)?")
        positive, negative = (digits.search(text) for text in (formatted(sample), formatted(-sample)))
        if positive is None or negative is None:
            raise ValueError(formatted(sample))
        return cls(
            positive=(positive.string[: positive.start()], positive.string[positive.end() :]),
            negative=(negative.string[: negative.start()], negative.string[negative.end() :]),
            group=positive["group"],
            decimal=positive["decimal"] or "",
        )

    def fill(self, minor: int) -> str:
        """Format an amount. The pattern of whole units drops no decimals: the amount has none."""
        before, after = self.negative if minor < 0 else self.positive
        units, cents = divmod(abs(minor), MINOR_UNITS)
        digits = f"{units:,}" if self.group == "," else f"{units:,}".replace(",", self.group)
        return f"{before}{digits}{self.decimal}{cents:02}{after}" if self.decimal else f"{before}{digits}{after}"


@cache
def _money_pattern(currency: str, language: str) -> _Pattern:
    def formatted(amount: Decimal) -> str:
        return _spaced(format_currency(amount, currency, locale=_locale(language))).replace("-", MINUS)

    return _Pattern.of(formatted, decimals=True)


@cache
def _amount_pattern(currency: str, language: str) -> _Pattern:
    locale = _locale(language)
    whole = locale.currency_formats["standard"].pattern.replace(".00", "")

    def formatted(amount: Decimal) -> str:
        return _spaced(format_currency(amount, currency, whole, locale=locale, currency_digits=False))

    return _Pattern.of(formatted, decimals=False)


@cache
def _figure_pattern(pattern: str, language: str) -> _Pattern:
    def formatted(amount: Decimal) -> str:
        text: str = format_decimal(amount, pattern, locale=_locale(language))
        return text

    return _Pattern.of(formatted, decimals="." in pattern)


def _spaced(text: str) -> str:
    """Put a space between a currency's letters and the digits (CLDR, currencySpacing).

    Babel does not do this.
    """
    return re.sub(r"(?<=[A-Za-z])(?=[0-9])", NO_BREAK_SPACE, text)


def parse_money(text: str, currency: str, language: str) -> int:
    """Parse an amount in the notation of the language and return minor units.

    The text may have the currency. Groups of three digits may be separated by the language's own
    separator, by spaces or by apostrophes. Spaces and apostrophes are never decimal separators in
    any language.

    Raises MoneyError for anything else, so that a separator of another language is never misread.
    Also raises MoneyError for an amount that is not above zero, has more than two decimals, or
    exceeds `LARGEST`.
    """
    notation = _notation(currency, language)
    amount = _without_currency(text[: LONGEST + 1].strip(SPACES + "\t\r\n"), notation.names)
    if not amount:
        raise MoneyError(_("Enter an amount, for example %(example)s.") % {"example": notation.example})
    if len(text) > LONGEST:
        raise MoneyError(_("This amount is too large."))
    if amount[0] in MINUS_SIGNS and notation.pattern.fullmatch(amount[1:].strip(SPACES)):
        raise MoneyError(_("The amount must be more than zero."))
    found = notation.pattern.fullmatch(amount)
    if found is None:
        raise MoneyError(
            _("This is not a valid amount. Enter it like this: %(example)s.") % {"example": notation.example}
        )
    decimals = found["decimals"] or ""
    if len(decimals) > 2:  # usually thousands in another notation: 1.000 in English, 1,000 in German
        message = _("An amount can have at most two decimal places. Enter it like this: %(example)s.")
        raise MoneyError(message % {"example": notation.example})
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
    """Notation for amounts of one currency in one language."""

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
    """Remove the currency's name from the start or the end of *text*."""
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
