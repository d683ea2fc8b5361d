"""Every pair of colours that the house lets meet can be told apart in every theme, on either cloth."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from casino.tokens import PAIRS, Pair, Theme, Tokens, UnknownToken

TOKENS = Tokens.read()
SHEETS = Path(settings.BASE_DIR, "static", "css")
CLOTHS = [pytest.param(False, id="real"), pytest.param(True, id="free")]


@pytest.mark.parametrize("free", CLOTHS)
@pytest.mark.parametrize("theme", Theme, ids=lambda theme: theme.name)
def test_every_pair_can_be_told_apart(theme, free):
    faint = {
        f"{pair.over} on {pair.ground}": round(found, 2)
        for pair in PAIRS
        if (found := TOKENS.contrast(pair, theme, free=free)) < pair.least
    }
    assert faint == {}


@pytest.mark.parametrize("free", CLOTHS)
def test_high_contrast_is_the_same_whether_chosen_or_asked_for_by_the_device(free):
    names = {name for pair in PAIRS for name in (pair.over, pair.ground)}
    chosen, asked = (
        {name: TOKENS.colour(name, theme, free=free) for name in names} for theme in (Theme.CONTRAST, Theme.MORE)
    )
    assert chosen == asked


def test_high_contrast_has_more_of_it():
    pairs = [Pair("text-dim", "ink", 7), Pair("on-felt-dim", "felt", 7), Pair("line-strong", "surface", 7)]
    for pair in pairs:
        for theme in (Theme.CONTRAST, Theme.MORE, Theme.MORE_LIGHT):
            assert TOKENS.contrast(pair, theme) > 7
        assert TOKENS.contrast(pair, Theme.CONTRAST) > TOKENS.contrast(pair, Theme.DARK)


def test_contrast_is_measured_as_wcag_defines_it():
    sheet = ":root {\n  --a: #000;\n  --b: #ffffff;\n  --c: #767676;\n  --d: light-dark(var(--a), var(--b));\n}\n"
    tokens = Tokens(sheet)
    assert tokens.contrast(Pair("a", "b", 1), Theme.DARK) == 21
    assert tokens.contrast(Pair("b", "b", 1), Theme.DARK) == 1
    assert round(tokens.contrast(Pair("c", "b", 1), Theme.DARK), 2) == 4.54
    assert tokens.colour("d", Theme.LIGHT) == (0, 0, 0)
    assert tokens.colour("d", Theme.DARK) == (255, 255, 255)
    with pytest.raises(UnknownToken):
        tokens.colour("e", Theme.DARK)


def test_every_token_stands_under_a_heading():
    grouped = [name for group in TOKENS.groups() for name, _ in group.tokens]
    assert len(grouped) == len(set(grouped))
    written = re.findall(r"--([\w-]+):", Path(SHEETS, "tokens.css").read_text())
    assert set(grouped) == set(written)


# The house's colours, and those of the sandbox bank, another firm that must not look like the house.
COLOURED = {"tokens.css", "bank.css"}


@pytest.mark.parametrize("sheet", sorted({path.name for path in SHEETS.glob("*.css")} - COLOURED))
def test_no_other_style_sheet_names_a_colour(sheet):
    assert re.findall(r"(?<!url\()#[0-9a-f]{3,8}\b(?=[^{}]*;)", Path(SHEETS, sheet).read_text()) == []
