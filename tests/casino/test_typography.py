"""Letters, quotation marks, percentages and spaces by language, in catalogues, help and terms."""

from pathlib import Path

import pytest

from ops.i18n import catalogues
from ops.i18n.hardcoded import Edges, oddities
from ops.i18n.sources import Tree

NBSP = "\u00a0"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Player’s third card, called “natural”: 5% of it … 8:1"),
        ("sv", f"Kallas ”natural”: 5{NBSP}% av den"),
        ("da", f"Kaldes »natural« eller ”natural”: 5{NBSP}% af den, det n’te kort"),
        ("ro", f"Se numește „naturală”, după prima carte: 5{NBSP}% din ea"),
        ("de", f"Heißt „Natural“ oder »Natural«: 5{NBSP}% davon"),
        ("ro", 'Citiți <a href="%(terms)s">termenii</a> și {name!r} – 100%%, %(share).2f%%'),
        ("en", "Enter it like this: %(example)s."),
        ("sv", "Regler %(version)s, ändrade %(date)s"),
    ],
)
def test_what_a_language_writes_is_not_odd(language: str, text: str) -> None:
    assert list(oddities(text, language)) == []


@pytest.mark.parametrize(
    ("language", "text", "what"),
    [
        ("en", "Player's cards", "wrong sign '"),
        ("en", 'a "natural"', 'wrong sign "'),
        ("en", f"5{NBSP}% of it", "space before a percent sign"),
        ("en", "Wait...", "three points for an ellipsis"),
        ("en", "Wait !", "space before a mark"),
        ("sv", "en ’natural“", "wrong sign “"),
        ("sv", "5% av den", f"percent sign without {NBSP!r} before it"),
        ("da", "5 % af den", f"percent sign without {NBSP!r} before it"),
        ("da", "en „natural”", "wrong sign „"),
        ("ro", "o „naturală“", "wrong sign “"),
        ("ro", "Plasaţi", "wrong letter ţ"),
        ("ro", "Şase", "wrong letter Ş"),
        ("ro", "jucatorul câștigă", "no diacritics in jucatorul"),
        ("de", "ein „Natural”", "wrong sign ”"),
        ("de", "5% davon", f"percent sign without {NBSP!r} before it"),
    ],
)
def test_what_a_language_does_not_write_is_named(language: str, text: str, what: str) -> None:
    assert list(oddities(text, language)) == [what]


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("Last round: ", Edges(begins=False, ends=True, punctuation=":")),
        (" and then …", Edges(begins=True, ends=False, punctuation="…")),
        ("Are you sure?", Edges(begins=False, ends=False, punctuation="?")),
        ("Nothing was staked.", Edges(begins=False, ends=False, punctuation=".")),
        ("No.", Edges(begins=False, ends=False, punctuation="")),
        ("Rules", Edges(begins=False, ends=False, punctuation="")),
    ],
)
def test_a_text_has_edges(text: str, edges: Edges) -> None:
    assert Edges.of(text) == edges


@pytest.mark.parametrize(
    ("path", "line", "what"),
    [
        ("games/variants/baccarat/help/en.md", "The Banker's turn.", "wrong sign '"),
        ("games/variants/baccarat/help/ro.md", "Banca a fost luată de jucator.", "no diacritics in jucator"),
        ("games/variants/baccarat/help/sv.md", "Ger 5% mindre.", f"percent sign without {NBSP!r} before it"),
        ("players/account/texts/terms.de.md", 'Das "Casino" haftet.', 'wrong sign "'),
    ],
)
def test_help_and_terms_are_read_line_by_line(tmp_path: Path, path: str, line: str, what: str) -> None:
    write(tmp_path / path, f"# Title\n\n{line}\n")
    found = list(catalogues.faults(Tree(tmp_path, ("sv", "ro", "de"))))
    assert found == [catalogues.Fault(f"{path}:3", what, line)]


def test_code_links_and_tables_of_the_engine_are_not_read(tmp_path: Path) -> None:
    text = 'Run `print(\'5%\')`, see [the rules](/en/"rules"/) and\n\n{{ paytable "main" }}\n\nand 4:7, `4:7`.\n'
    write(tmp_path / "games/variants/baccarat/help/en.md", text)
    assert list(catalogues.faults(Tree(tmp_path, ()))) == []


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
