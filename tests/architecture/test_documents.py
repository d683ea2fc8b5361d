"""Documents: every setting is in docs/settings.md, prose wraps at 100 columns, and every relative
link has a target.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_names import tracked

PROJECT = Path(__file__).resolve().parents[2]
READ = re.compile(r"""env\.\w+\(\s*"([A-Z_]+)\"""")
WIDTH = 100
GENERATED = {"docs/gli-19.md"}  # by `python -m tests.clauses`
# Texts for players have one line per paragraph: letters are copied into a text field unchanged.
TEXTS = {"help", "texts", "vendor"}  # folders
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
LIST_SIGN = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
PIECE = re.compile(r"`[^`]*`\S*|!?\[[^\]]*\]\([^)]*\)\S*|\S+")  # unbreakable: code, a link, a word
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def documents() -> dict[str, str]:
    """Return the text of every document in git, except texts of the product and of others."""
    return {name: text for name, text in tracked().items() if name.endswith(".md") and not TEXTS & {*Path(name).parts}}


def long_lines(text: str) -> Iterator[str]:
    """Yield the prose lines that are too long and could be broken.

    Tables and code blocks are not prose.
    """
    for line in FENCED.sub("", text).splitlines():
        if len(line) > WIDTH and not line.lstrip().startswith("|") and len(PIECE.findall(LIST_SIGN.sub("", line))) > 1:
            yield line


def anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def is_dead(name: str, link: str) -> bool:
    """Return whether the target of a link in the document *name* is missing."""
    place, _, anchor = link.partition("#")
    target = (PROJECT / name).parent / place if place else PROJECT / name
    return not target.exists() or (bool(anchor) and anchor not in anchors(target.read_text()))


def test_every_variable_of_the_environment_is_written_down():
    read = set(READ.findall((PROJECT / "casino" / "settings.py").read_text()))
    written = (PROJECT / "docs" / "settings.md").read_text()
    assert len(read) > 40
    assert [name for name in sorted(read) if f"`{name}`" not in written] == []


def test_prose_wraps_at_100_columns():
    found = {name: list(long_lines(text)) for name, text in documents().items() if name not in GENERATED}
    assert len(found) > 20
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_a_long_line_is_found_unless_it_cannot_be_broken():
    long = "word " * 30
    assert list(long_lines(f"{long}\n\n- {long}\n")) == [long, f"- {long}"]
    assert list(long_lines(f"| {long} |\n\n```\n{long}\n```\n\n- `{long}`.\n")) == []


def test_every_relative_link_has_a_target():
    links = [(name, link) for name, text in documents().items() for link in LINK.findall(FENCED.sub("", text))]
    assert len(links) > 50
    assert [(name, link) for name, link in links if is_dead(name, link)] == []


def test_a_dead_link_is_found():
    assert not is_dead("README.md", "docs/audit.md#the-signer")
    assert is_dead("README.md", "docs/nowhere.md")
    assert is_dead("README.md", "docs/audit.md#nowhere")
