"""Every amount field in every language: it accepts the language's number format and explains every
other input.

A form with money that is not listed makes a test fail.
"""

from collections.abc import Iterator

import pytest
from django import forms
from django.urls import get_resolver
from django.utils import translation

from tests.harness.product import APPS
from wallet.cashier import MoneyField, MoneyForm
from wallet.money import EVERYDAY_NAMES

LANGUAGES = ("sv", "da", "ro", "de", "en")
CURRENCY_OF = {"sv": "SEK", "da": "DKK", "ro": "RON", "de": "EUR", "en": "GBP"}
OWN_WAY = {  # 1,234.50 as each language writes it
    "sv": ("1 234,50", "1\u00a0234,50", "1234,5", "1 234,50 kr"),
    "da": ("1.234,50", "1234,5", "1.234,50 kr."),
    "ro": ("1.234,50", "1234,5", "1.234,50 RON", "1.234,50 lei"),
    "de": ("1.234,50", "1234,5", "1.234,50 €"),
    "en": ("1,234.50", "1234.5", "£1,234.50"),
}
NONSENSE = {
    "negative": "-5",
    "negative, as typeset": "−5",
    "zero": "0",
    "a thousandth, with a point": "0.001",
    "a thousandth, with a comma": "0,001",
    "with an exponent": "1e9",
    "not a number": "NaN",
    "infinite": "Infinity",
    "Arabic-Indic digits": "١٢٣",
    "full-width digits": "５０",
    "Devanagari digits": "५०",
    "superscript digits": "5²",
    "ten to the thirtieth": "1" + "0" * 30,
    "ten to the thirtieth, in words of mathematics": "10^30",
    "as Python writes it": "1_000",
    "hexadecimal": "0x10",
    "a symbol": "½",
    "only the currency": "kr",
    "words": "fifty",
    "a plus": "+5",
    "two amounts": "5 10",
    "a NUL": "5\x00",
    "empty": "",
    "blank": "   ",
}


def every_form(base: type[forms.BaseForm]) -> Iterator[type[forms.BaseForm]]:
    for form in base.__subclasses__():
        if form.__module__.split(".")[0] in APPS:
            yield form
        yield from every_form(form)


def forms_with_money() -> list[type[forms.BaseForm]]:
    """Return every form with a `MoneyField`; importing the URLs imports every form."""
    get_resolver().url_patterns  # noqa: B018
    found = {form for form in every_form(forms.BaseForm) if any(map(is_money, form.base_fields.values()))}  # type: ignore[attr-defined]
    return sorted(found, key=lambda form: f"{form.__module__}.{form.__name__}")


def is_money(field: forms.Field) -> bool:
    return isinstance(field, MoneyField)


def fields() -> list[tuple[str, str, MoneyField]]:
    """Return form, name and field of every amount."""
    return [
        (form.__name__, name, field)
        for form in forms_with_money()
        for name, field in form.base_fields.items()  # type: ignore[attr-defined]
        if isinstance(field, MoneyField)
    ]


def cleaned(field: MoneyField, text: str, language: str) -> int | None:
    field.currency = CURRENCY_OF[language]
    with translation.override(language):
        return field.clean(text)


@pytest.mark.sweep
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_field_takes_the_language_s_own_way(language):
    assert fields()
    for form, name, field in fields():
        for text in OWN_WAY[language]:
            assert cleaned(field, text, language) == 123_450, (form, name, text)


@pytest.mark.sweep
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("what", NONSENSE)
def test_every_field_refuses_nonsense_with_a_sentence(language, what):
    text = NONSENSE[what]
    for form, name, field in fields():
        if field.may_be_empty and not text.strip():
            assert cleaned(field, text, language) is None
            continue
        with pytest.raises(forms.ValidationError) as refused:
            cleaned(field, text, language)
        (message,) = refused.value.messages
        assert message.endswith("."), (form, name, message)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentence_shows_how_the_language_writes_it(language):
    example = OWN_WAY[language][1] if language == "sv" else OWN_WAY[language][0]
    with pytest.raises(forms.ValidationError) as refused:
        cleaned(MoneyField(), "a lot", language)
    assert example in refused.value.messages[0]


def test_no_other_field_of_a_form_is_an_amount():
    """Fields named like money are `MoneyField`s, so no other code parses amounts."""
    get_resolver().url_patterns  # noqa: B018
    named = [
        f"{form.__name__}.{name}"
        for form in every_form(forms.BaseForm)
        # One shows sample fields, the other finds rounds by amounts in any currency: neither moves
        # money.
        if form.__module__ not in ("casino.styleguide", "backoffice.rounds")
        for name, field in form.base_fields.items()  # type: ignore[attr-defined]
        if any(word in name for word in ("amount", "money", "deposit", "stake", "loss")) and not is_money(field)
    ]
    assert named == []


def test_a_form_gives_its_fields_their_currency():
    class Two(MoneyForm):
        first, second = MoneyField(), MoneyField(required=False)

    for currency in EVERYDAY_NAMES:
        form = Two({"first": f"5 {currency}"}, currency=currency)
        assert form.is_valid(), form.errors
        assert form.cleaned_data == {"first": 500, "second": None}
