"""Different spellings of the same value."""

import pytest

from players.identity import normalise

NAMES = [
    (("Anna Maria", "Svensson"), ("SVENSSON", "maria anna")),
    (("Åsa", "Öberg"), ("Asa", "Oberg")),
    (("Jürgen", "Müller"), ("JUERGEN", "MUELLER")),
    (("Søren", "Kjærgård"), ("SOEREN", "KJAERGAARD")),
    (("Ștefan", "Țăran"), ("Stefan", "Taran")),
    (("Ştefan", "Ţăran"), ("Ștefan", "Țăran")),
    (("Jean-Pierre", "O’Neill"), ("Jean Pierre", "ONEILL")),
    (("Weiß", "Groß"), ("WEISS", "GROSS")),
    (("Łukasz", "Đorđe"), ("Lukasz", "Dorde")),
    (("A\u030asa", "Berg"), ("\u00c5sa", "Berg")),
    (("Roș", "Ioniță"), ("Roş", "Ioniţă")),  # comma below and cedilla
    (("Sørensen", "Bo"), ("Sorensen", "Bo")),
    (("Håkan", "Ågren"), ("Haakan", "Aagren")),
    (("Strauß", "Uwe"), ("STRAUẞ", "UWE")),
    (("Van den Berg", "Jan"), ("Jan", "van den Berg")),
    (("Ion", "Popescu"), ("Popescu", "Ion")),
]


@pytest.mark.parametrize(("one", "other"), NAMES, ids=[f"{number}" for number in range(len(NAMES))])
def test_one_name_in_two_ways_is_one_name(one, other):
    assert normalise.name(*one) == normalise.name(*other)


@pytest.mark.parametrize("other", [("Anna", "Svenson"), ("Annas", "Vensson"), ("Anna Anna", "Svensson"), ("", "")])
def test_another_name_is_another(other):
    assert normalise.name("Anna", "Svensson") != normalise.name(*other)


OTHERS = [
    (("Stefan", "Pop"), ("Stefana", "Pop")),
    (("Søren", "Berg"), ("Sara", "Berg")),
    (("Åke", "Berg"), ("Eke", "Berg")),
    (("Groß", "Uwe"), ("Grohs", "Uwe")),
    (("Groß", "Uwe"), ("Gros", "Uwe")),
    (("Ținca", "Pop"), ("Sinca", "Pop")),
    (("Ion", "Popescu"), ("Ioana", "Popescu")),
    (("Anna Maria", "Berg"), ("Anna", "Berg")),
]


@pytest.mark.parametrize(("one", "other"), OTHERS, ids=[f"{number}" for number in range(len(OTHERS))])
def test_two_names_stay_two(one, other):
    assert normalise.name(*one) != normalise.name(*other)


def test_a_national_number_is_one_however_it_is_punctuated_and_of_one_country():
    ways = ("19900101-1234", "900101-1234", "9001011234", " 900101 1234")
    assert {normalise.national_number(each, "SE") for each in ways} == {"SE:9001011234"}
    assert normalise.national_number("010190-1234", "DK") != normalise.national_number("010190-1234", "RO")
    assert normalise.national_number("", "SE") == ""


def test_an_address_is_one_however_it_is_spaced():
    assert normalise.text("Storgatan 12 B, 111 22 Malmö") == normalise.text("storgatan 12b 11122 MALMO")


def test_a_number_is_one_however_it_is_spaced():
    assert normalise.number("ab 12-34.56") == normalise.number("AB123456")


@pytest.mark.parametrize(
    ("typed", "country", "meant"),
    [
        ("070-123 45 67", "SE", "+46701234567"),
        ("+46 (0)70 123 45 67", "RO", "+46701234567"),
        ("0046701234567", "SE", "+46701234567"),
        ("20 12 34 56", "DK", "+4520123456"),
        ("0721 234 567", "RO", "+40721234567"),
        ("0151 23456789", "DE", "+4915123456789"),
        ("07400 123456", "GB", "+447400123456"),
        ("12", "SE", None),
        ("nonsense", "SE", None),
        ("²²²²²²²²", "SE", None),
        ("+999 12345678", "SE", None),
    ],
)
def test_a_telephone_number_is_one_however_it_is_written(typed, country, meant):
    assert normalise.phone(typed, country) == meant
