"""What the documents say about settings, held to the settings."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SETTINGS = PROJECT / "docs" / "settings.md"
READ = re.compile(r"""env\.\w+\(\s*"([A-Z_]+)\"""")


@pytest.mark.parametrize("name", sorted(set(READ.findall((PROJECT / "casino" / "settings.py").read_text()))))
def test_every_variable_of_the_environment_is_written_down(name):
    assert f"`{name}`" in SETTINGS.read_text()
