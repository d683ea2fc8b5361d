"""Amounts typed in five languages."""

import re
from contextlib import suppress
from decimal import Decimal

import pytest
from babel import Locale
from babel.numbers import format_currency, format_decimal, get_currency_symbol, get_decimal_symbol, get_group_symbol
from django.template import Context, Template
from django.utils import translation
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wallet.money import LARGEST, MoneyError, format_amount, format_figure, format_money, parse_money

LANGUAGES = ("sv", "da", "ro", "de", "en")
CURRENCIES = ("SEK", "DKK", "RON", "EUR", "GBP")
amounts = st.integers(1, LARGEST)


def shown(minor: int, currency: str, language: str) -> str:
    return format_money(minor, currency, language).replace("\u00a0", " ")


def amount_or_refusal(text: str, currency: str, language: str) -> int | str:
    """Return the parsed amount of *text*, or the message of the refusal."""
    try:
        return parse_money(text, currency, language)
    except MoneyError as error:
        return str(error)


def example_in(language: str) -> str:
    return format_decimal(Decimal("1234.50"), "#,##0.00", locale=language)


@pytest.mark.parametrize(
    ("language", "currency", "text"),
    [
        ("sv", "SEK", "1 234,50 kr"),
        ("da", "DKK", "1.234,50 kr."),
        ("ro", "RON", "1.234,50 RON"),
        ("de", "EUR", "1.234,50 €"),
        ("en", "GBP", "£1,234.50"),
        ("en", "EUR", "€1,234.50"),
        ("en", "SEK", "SEK 1,234.50"),
        ("sv", "EUR", "1 234,50 €"),
    ],
)
def test_each_language_writes_money_its_own_way(language, currency, text):
    assert shown(123_450, currency, language) == text


@pytest.mark.parametrize(
    ("language", "currency", "text"),
    [
        ("sv", "SEK", "20 000 kr"),
        ("da", "DKK", "20.000 kr."),
        ("ro", "RON", "20.000 RON"),
        ("de", "EUR", "20.000 €"),
        ("en", "GBP", "£20,000"),
        ("en", "SEK", "SEK 20,000"),
        ("sv", "GBP", "20 000 GBP"),
    ],
)
def test_a_limit_of_whole_units_is_written_without_decimals(language, currency, text):
    assert format_amount(2_000_000, currency, language).replace("\u00a0", " ") == text


@given(minor=amounts, language=st.sampled_from(LANGUAGES), currency=st.sampled_from(CURRENCIES))
def test_a_limit_of_a_part_of_a_unit_keeps_its_decimals(minor, language, currency):
    written = format_amount(minor, currency, language)
    assert parse_money(written, currency, language) == minor
    assert (written == format_money(minor, currency, language)) == bool(minor % 100)


def test_templates_write_limits_in_the_readers_language():
    with translation.override("de"):
        text = Template("{% load money %}{{ limit|amount:'EUR' }}").render(Context({"limit": 100_000}))
    assert text == "1.000\u00a0€"


def test_what_went_out_carries_a_minus():
    assert shown(-5, "GBP", "en") == "\u2212£0.05"


EDGES = (0, 1, 99, 100, 999, 1_000, 99_999, 100_000, 99_999_999, 100_000_000, LARGEST - 1, LARGEST, 100 * LARGEST)


def as_cldr_has_it(amount: Decimal, currency: str, locale: Locale, pattern: str | None = None) -> str:
    """Return what Babel writes, with the space of CLDR's currencySpacing, which Babel leaves out."""
    text = format_currency(amount, currency, pattern, locale=locale, currency_digits=pattern is None)
    return re.sub("([A-Za-z])([0-9])", "\\1\u00a0\\2", text)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("currency", CURRENCIES)
@given(drawn=st.lists(st.integers(-100 * LARGEST, 100 * LARGEST), min_size=20, max_size=20))
@settings(max_examples=5)
def test_every_amount_is_written_as_cldr_has_it(language, currency, drawn):
    locale = Locale.parse(language)
    whole = locale.currency_formats["standard"].pattern.replace(".00", "")
    for minor in (*EDGES, *(-each for each in EDGES), *drawn):
        amount = Decimal(minor) / 100
        money = as_cldr_has_it(amount, currency, locale).replace("-", "\u2212")
        assert format_money(minor, currency, language) == money
        limit = money if minor % 100 else as_cldr_has_it(amount, currency, locale, whole)
        assert format_amount(minor, currency, language) == limit
        figure = format_decimal(amount, "#,##0.00" if minor % 100 else "#,##0", locale=locale)
        assert format_figure(minor, language) == figure


@given(minor=amounts, language=st.sampled_from(LANGUAGES), currency=st.sampled_from(CURRENCIES))
@example(minor=LARGEST, language="ro", currency="DKK")
def test_what_is_written_can_be_typed(minor, language, currency):
    assert parse_money(format_money(minor, currency, language), currency, language) == minor


@given(minor=amounts, language=st.sampled_from(LANGUAGES))
def test_plain_digits_can_be_typed_in_every_language(minor, language):
    sign = "." if language == "en" else ","
    whole, cents = divmod(minor, 100)
    assert parse_money(f"{whole}{sign}{cents:02}", "EUR", language) == minor


@st.composite
def typed(draw: st.DrawFn) -> tuple[str, int, str, str]:
    """Draw an amount as typed in a language, its value, its currency and the language."""
    language, currency = draw(st.sampled_from(LANGUAGES)), draw(st.sampled_from(CURRENCIES))
    locale = Locale.parse(language)
    minor = draw(amounts)
    whole, cents = divmod(minor, 100)
    groups = f"{whole:,}".split(",")
    text = draw(st.sampled_from([get_group_symbol(locale), *" \u00a0\u2009\u202f'\u2019", ""])).join(groups)
    if cents or draw(st.booleans()):
        tail = f"{cents:02}"
        text += get_decimal_symbol(locale) + (tail.rstrip("0") if draw(st.booleans()) and cents else tail)
    name = draw(st.sampled_from(["", currency, currency.lower(), get_currency_symbol(currency, locale)]))
    space = draw(st.sampled_from(["", " ", "\u00a0", "\u202f"]))
    return draw(st.sampled_from([f"{name}{space}{text}", f"{text}{space}{name}"])), minor, currency, language


@given(typed())
def test_an_amount_can_be_typed_as_its_language_has_it(case: tuple[str, int, str, str]) -> None:
    text, minor, currency, language = case
    assert parse_money(text, currency, language) == minor


@pytest.mark.sweep
@given(
    minor=st.integers(100, LARGEST),
    here=st.sampled_from(LANGUAGES),
    there=st.sampled_from(LANGUAGES),
    currency=st.sampled_from(CURRENCIES),
    whole=st.booleans(),
)
def test_an_amount_written_as_elsewhere_is_read_right_or_refused_with_an_example(minor, here, there, currency, whole):
    if whole:
        minor -= minor % 100
        text = format_decimal(Decimal(minor // 100), "#,##0", locale=there)
    else:
        text = format_money(minor, currency, there)
    read = amount_or_refusal(text, currency, here)
    assert read == minor or example_in(here) in str(read)


@pytest.mark.parametrize(
    ("text", "language", "minor"),
    [
        ("1.000", "de", 100_000),
        ("1.000", "en", None),
        ("1.000", "sv", None),
        ("1,000", "en", 100_000),
        ("1,000", "de", None),
        ("1,5", "en", None),
        ("1,5", "da", 150),
        ("1.5", "ro", None),
        ("1'000", "sv", 100_000),
        ("1 000.50", "sv", None),
        ("50 lei", "ro", 5000),
        ("50lei", "en", 5000),
    ],
)
def test_no_amount_is_taken_for_a_thousandth_or_a_thousandfold(text, language, minor):
    read = amount_or_refusal(text, "RON", language)
    assert read == minor if minor else example_in(language) in str(read)


@pytest.mark.parametrize(
    ("text", "language", "minor"),
    [
        ("1 234,50", "sv", 123_450),
        ("1\u00a0234,50", "sv", 123_450),
        ("1\u202f234,50", "sv", 123_450),
        ("1.234,50", "da", 123_450),
        ("1.234,50", "de", 123_450),
        ("1.234,50", "ro", 123_450),
        ("1,234.50", "en", 123_450),
        ("1 234.50", "en", 123_450),
        ("  50 ", "en", 5000),
        ("0,5", "sv", 50),
        ("0,05", "sv", 5),
        ("007", "de", 700),
        ("50 kr", "sv", 5000),
        ("50 kr", "en", 5000),
        ("SEK 50", "de", 5000),
        ("sek50", "en", 5000),
        ("10000000000000", "en", LARGEST),
    ],
)
def test_amounts_in_the_player_s_own_way(text, language, minor):
    assert parse_money(text, "SEK", language) == minor


NOT_AN_AMOUNT = [
    ("1.234,50", "en"),
    ("1,234.50", "de"),
    ("1.234,50", "sv"),
    ("12,34,567", "en"),
    ("1,2345", "en"),
    ("1.23.4", "de"),
    ("0.001", "de"),
    ("0 500", "sv"),
    ("1 23", "sv"),
    ("1 234.567", "de"),
    ("5,", "sv"),
    (",50", "sv"),
    ("1e9", "en"),
    ("NaN", "en"),
    ("Infinity", "en"),
    ("0x10", "en"),
    ("1_000", "en"),
    ("10^30", "en"),
    ("+5", "en"),
    ("--5", "en"),
    ("١٢٣", "en"),
    ("５０", "en"),
    ("Ⅻ", "en"),
    ("½", "en"),
    ("fifty", "en"),
    ("50 EUR", "en"),
    ("5; DROP TABLE", "en"),
    ("\x00", "en"),
]


@pytest.mark.sweep
@pytest.mark.parametrize(("text", "language"), NOT_AN_AMOUNT)
def test_nonsense_is_refused_with_an_example(text, language):
    with (
        translation.override("en"),
        pytest.raises(MoneyError, match=r"This is not a valid amount\. Enter it like this: 1"),
    ):
        parse_money(text, "SEK", language)


@pytest.mark.parametrize("text", ["", "   ", "SEK", "\u00a0"])
def test_nothing_is_asked_for_again(text):
    with translation.override("en"), pytest.raises(MoneyError, match=r"Enter an amount, for example 1,234\.50\."):
        parse_money(text, "SEK", "en")


@pytest.mark.parametrize("text", ["0", "0.00", "-5", "−5", "-0.01", "- 5"])
def test_an_amount_is_more_than_zero(text):
    with translation.override("en"), pytest.raises(MoneyError, match="must be more than zero"):
        parse_money(text, "SEK", "en")


@pytest.mark.parametrize(("text", "language"), [("0.001", "en"), ("1.234", "en"), ("1,234", "sv"), ("5.000", "en")])
def test_an_amount_has_two_decimals_at_most(text, language):
    with (
        translation.override("en"),
        pytest.raises(MoneyError, match=r"at most two decimal places\. Enter it like this: 1"),
    ):
        parse_money(text, "SEK", language)


@pytest.mark.parametrize("text", ["10000000000000.01", "9" * 30, "9" * 41, "1" + "0" * 10_000])
def test_an_amount_beyond_reason_is_refused(text):
    with translation.override("en"), pytest.raises(MoneyError, match="too large"):
        parse_money(text, "SEK", "en")


@given(text=st.text(max_size=60), language=st.sampled_from(LANGUAGES))
def test_any_text_is_an_amount_or_a_money_error(text, language):
    with suppress(MoneyError):
        assert 0 < parse_money(text, "SEK", language) <= LARGEST


@given(value=st.decimals(min_value=Decimal("0.01"), max_value=Decimal(10**9), places=2))
def test_no_cent_is_lost_between_typing_and_storing(value):
    assert parse_money(f"{value:f}", "GBP", "en") == int(value * 100)


def test_templates_write_money_in_the_reader_s_language():
    template = Template("{% load money %}{{ amount|money:'SEK' }} {{ amount|signed_money:'SEK' }}")
    with translation.override("sv"):
        assert template.render(Context({"amount": 123_450})).replace("\u00a0", " ") == "1 234,50 kr +1 234,50 kr"
