"""Rules for chat names and words: what is stored, and what is refused with a message."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from games.chat.rules import BadName, BadText, readable_name, readable_text


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name",
    ["Åsa Öberg", "Søren_Æ", "Ștefan-Țiriac", "Jürgen Groß", "A.B.C", "Lucky 77", "Bo1", "Banker Boy", "Modesta"],
)
def test_a_name_has_letters_of_all_our_languages(name):
    assert readable_name(f"  {name} ") == name


def test_a_name_is_kept_composed():
    assert readable_name("A\u030asa") == "Åsa"


@pytest.mark.parametrize(
    "name",
    [
        "", "Bo", "x" * 21, "123", "Bo  Li", "-Anna", "Anna-", "An--na", "Anna!", "<b>Anna</b>", "An\u202ena",
        "An\u200bna", "Аnna", "Αnna", "{{ Anna }}", "Anna&amp", "A\u0301\u0301nna", "An\nna", "Anna\x00",
        "a/b/c", "Ann@",
    ],
)  # fmt: skip
def test_a_name_has_nothing_else(name):
    with pytest.raises(BadName):
        readable_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Sabot", "S4b0t", "s-a-b-o-t", "Sab0t Support", "SABOT 2", "Admin", "4dm1n", "Adm1nistrator", "Croupier Anna",
        "The House", "House", "h.o.u.s.e", "Mod", "Kundtjänst", "Kundeservice", "dea1er", "croupier",
        "Casino", "Cas1n0", "Saabot", "suppoort",
    ],
)  # fmt: skip
def test_a_name_is_not_the_house_s_nor_similar(name):
    with pytest.raises(BadName, match="staff"):
        readable_name(name)


@pytest.mark.parametrize("name", ["Anna.com", "www.anna", "0701234567", "070 123 45 67 a"])
def test_a_name_leads_nowhere(name):
    with pytest.raises(BadName):
        readable_name(name)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("  Good \t luck\n everybody  ", "Good luck everybody"),
        ("A\u030a!", "Å!"),
        ("❤\ufe0f 👩\u200d🚀 👍🏽", "❤ 👩🚀 👍🏽"),
        ("Ärligt … det är 8,50 kr?", "Ärligt … det är 8,50 kr?"),
        ("Am câștigat 1.250.000 lei!", "Am câștigat 1.250.000 lei!"),
        ("I won 1 000 000, really", "I won 1 000 000, really"),
        ("9 to 8. De andre tabte", "9 to 8. De andre tabte"),
        ("<b>bold</b> {{ x }} &amp;", "<b>bold</b> {{ x }} &amp;"),
        ("Player 9, Banker 7, Tie 8", "Player 9, Banker 7, Tie 8"),
        ("See you at 20.30 or 21:15", "See you at 20.30 or 21:15"),
        ("مرحبا", "مرحبا"),
        ("e.g. this, i.e. that", "e.g. this, i.e. that"),
    ],
)
def test_a_message_is_one_line_of_what_was_written(said, kept):
    assert readable_text(said) == kept


@pytest.mark.sweep
@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "a\u200bb", "a\u202eb", "\u2066x\u2069", "a\u200db", "a\ufeffb", "a\x07b", "\u3164", "\u2800 \u2800",
     "a\U000e0041b", "z\u0301\u0302\u0303\u0304", "\u0301x", "\ue000", "x" * 201, "a\u00adb", "\ud800"],
)  # fmt: skip
def test_a_message_shows_all_that_is_in_it(text):
    with pytest.raises(BadText):
        readable_text(text)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "text",
    [
        "http://evil.test/", "HTTPS : // evil", "javascript://x", "www.evil.test", "go to evil.com now", "evil .com",
        "evil . com", "evil dot com", "evil(dot)com", "evil [.] ru", "ｅｖｉｌ．ｃｏｍ", "evil。com",
        "t.me/me", "bit.ly/x",
        "me@here", "me @ here", "me (at) here", "@lucky77", "+46 70 123 45 67", "0701234567", "12 34 56 78",
        "070-123 45 67", "0 7 0 1 2 3 4 5", "٠٧٠١٢٣٤٥٦٧", "０７０１２３４５６７", "\ufe0f\u20e3".join("07012345"),
        "(040) 123.456", "Ring 0722/123/456",
    ],
)  # fmt: skip
def test_a_message_leads_nowhere(text):
    with pytest.raises(BadText):
        readable_text(text)


@given(some.text(max_size=220))
def test_whatever_is_written_is_kept_in_one_line_once_and_for_all_or_refused(text):
    try:
        kept = readable_text(text)
    except BadText:
        return
    assert 1 <= len(kept) <= 200
    assert kept == readable_text(kept)
    assert kept.isprintable() or "\xa0" not in kept


@given(some.text(max_size=25))
def test_whatever_is_a_name_is_the_same_name_again(text):
    try:
        kept = readable_name(text)
    except BadName:
        return
    assert kept == readable_name(kept)
    assert kept.isprintable()
