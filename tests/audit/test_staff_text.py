"""Sentences that are stored in English and read in the language of the reader."""

import pytest
from django.utils.translation import override

from audit.staff_text import english, in_sentence, sentence, translated, word

AMOUNTS = "Amount: %(amount)s; threshold: %(threshold)s."
STORED = sentence(AMOUNTS, amount={"money": [125_000, "SEK"]}, threshold={"money": [100_000, "SEK"]})


def test_a_stored_sentence_is_written_in_the_language_of_each_reader():
    with override("sv"):
        assert translated(STORED).replace("\u00a0", " ") == "Belopp: 1 250,00 kr; tröskel: 1 000,00 kr."
        assert english(STORED).replace("\u00a0", " ") == "Amount: SEK 1,250.00; threshold: SEK 1,000.00."
    with override("de"):
        nested = sentence("%(kind)s, number %(number)s", kind=["deposit", {}], number=7)
        assert translated(nested) == "Einzahlung, Nummer 7"


def test_text_that_is_no_sentence_is_shown_as_it_is():
    with override("de"):
        assert (translated("player:12"), translated(""), word("")) == ("player:12", "", "")


def test_a_sentence_without_all_its_values_is_refused():
    with pytest.raises(KeyError):
        sentence(AMOUNTS, amount=1)


@pytest.mark.parametrize(
    ("language", "label", "inside"),
    [("en", "Real", "real"), ("en", "KYC", "KYC"), ("sv", "Avbruten", "avbruten"), ("de", "Echtgeld", "Echtgeld")],
)
def test_a_label_inside_a_sentence_loses_its_capital_but_not_in_german(language, label, inside):
    with override(language):
        assert in_sentence(label) == inside
