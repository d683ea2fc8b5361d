"""Colours are defined in one style sheet."""

import re
from pathlib import Path

import pytest
from django.conf import settings

SHEETS = Path(settings.BASE_DIR, "static", "css")
# The colours of the house, and those of the sandbox bank, which must look like another company.
COLOURED = {"tokens.css", "bank.css"}


@pytest.mark.parametrize("sheet", sorted({path.name for path in SHEETS.glob("*.css")} - COLOURED))
def test_no_other_style_sheet_names_a_colour(sheet):
    assert re.findall(r"(?<!url\()#[0-9a-f]{3,8}\b(?=[^{}]*;)", Path(SHEETS, sheet).read_text()) == []
