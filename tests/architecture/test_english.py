"""The check of plain English finds a planted word in prose and passes code."""

import pytest

from tools.check_english import findings

PLANTED = {
    ".py": '"""A docstring.\n\nDealt anew.\n"""\n',
    ".sql": "CREATE TABLE a (b integer);\n\n-- Dealt anew.\n",
    ".js": "const anew = 1;\n/* A comment.\n   Dealt anew. */\n",
    ".css": ".anew { color: red; }\n/* A comment.\n   Dealt anew. */\n",
    ".md": "A heading\n=========\nDealt anew.\n",
    ".html": "<p>\n\nDealt anew.</p>\n",
}
CODE = {
    ".py": "anew = f'{guest} SELECT id FROM guest AS guest'  # `guest`, ``anew()``, {anew}, *anew*, games/guest\n",
    ".sql": "SELECT anew FROM guest;\n",
    ".md": "Call `deal anew`.\n\n   ```sh\n   deal anew\n   ```\n",
    ".html": '<p class="guest">{{ guest }}{% translate "Dealt anew" %}</p>\n',
}


@pytest.mark.parametrize("suffix", PLANTED)
def test_a_planted_word_is_found_with_its_line(suffix):
    assert list(findings(suffix, PLANTED[suffix])) == [(3, "anew", "again")]


@pytest.mark.parametrize("suffix", CODE)
def test_code_passes(suffix):
    assert list(findings(suffix, CODE[suffix])) == []


def test_a_docstring_does_not_begin_with_a_question():
    text = '"""Say what is there."""\n\n\ndef is_there():\n    """Whether it is there."""  # How\n'
    assert [found[:2] for found in findings(".py", text)] == [(5, "Whether")]


def test_each_word_has_the_substitute_of_its_row():
    assert [found[2] for found in findings(".md", "A guest annulled it.")] == [
        "visitor (no account), player (Chemin de Fer)",
        "void",
    ]
