"""What the documents say about settings and tests, held to the settings and the tests."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
SETTINGS, CLAUSES = PROJECT / "docs" / "settings.md", PROJECT / "docs" / "gli-19.md"
READ = re.compile(r"""env\.\w+\(\s*"([A-Z_]+)\"""")
TEST = re.compile(r"def (test_gli19_\w+)")
CLAUSE = re.compile(r"def (test_gli19_(?:[ab]_)?\d+(?:_\d+)*)")
TESTS = "\n".join(path.read_text() for path in sorted((PROJECT / "tests").rglob("test_*.py")))


@pytest.mark.parametrize("name", sorted(set(READ.findall((PROJECT / "casino" / "settings.py").read_text()))))
def test_every_variable_of_the_environment_is_written_down(name):
    assert f"`{name}`" in SETTINGS.read_text()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(tests/[\w/]+(?:\.py|/))`", CLAUSES.read_text()))))
def test_every_test_that_shows_a_clause_is_there(path):
    assert (PROJECT / path).exists()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(test_gli19_\w+)…`", CLAUSES.read_text()))))
def test_every_clause_that_is_shown_by_name_has_a_test_of_that_name(name):
    assert any(each.startswith(name) for each in TEST.findall(TESTS))


@pytest.mark.parametrize("name", sorted(set(CLAUSE.findall(TESTS))))
def test_every_clause_that_a_test_is_named_after_has_a_row(name):
    """``test_gli19_2_5_6_…`` shows clause 2.5.6, ``test_gli19_4_14_…`` 4.14, ``test_gli19_a_3_7_…`` A.3.7."""
    clause = ".".join(name.split("_")[2:]).upper()
    listed = re.sub(r"([AB]\.\d)\.(\d)–(\d)", r"\1.\2, \1.\3", CLAUSES.read_text())
    assert re.search(rf"^\|[^|]*\b{re.escape(clause)}\b[^|]*\|", listed, re.MULTILINE)
