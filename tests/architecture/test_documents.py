"""What the documents say about settings, held to the settings."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
READ = re.compile(r"""env\.\w+\(\s*"([A-Z_]+)\"""")


def test_every_variable_of_the_environment_is_written_down():
    read = set(READ.findall((PROJECT / "casino" / "settings.py").read_text()))
    written = (PROJECT / "docs" / "settings.md").read_text()
    assert len(read) > 40
    assert [name for name in sorted(read) if f"`{name}`" not in written] == []
