"""Texts for players avoid the words that docs/glossary.md no longer allows."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.conf import settings

from games.variants import GAMES, LANGUAGES, help_text
from ops.i18n import sources
from ops.i18n.catalogues import forms, read
from ops.i18n.hardcoded import FIXED
from players.account import terms
from tests.harness.sweeps import sweep_languages

GLOSSARY = settings.BASE_DIR / "docs" / "glossary.md"
TRANSLATED = [language for language in LANGUAGES if language != settings.LANGUAGE_CODE]
SOFT_HYPHEN = "\u00ad"
FILLED_IN = re.compile(
    r"^```.*?^```$|\{\{.*?\}\}", re.MULTILINE | re.DOTALL
)  # code blocks and placeholders of a help text


class GivenUp(NamedTuple):
    """Words that a language avoids in all texts, or only in the terms."""

    language: str
    only_in_terms: bool
    words: tuple[str, ...]


def given_up() -> list[GivenUp]:
    """Read the last table of the glossary."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Words given up")[2]
    lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines[2:]]
    return [GivenUp(language, where == "terms", tuple(words.split(", "))) for language, where, words, _better in rows]


def catalogue_of(language: str) -> Iterator[str]:
    """Yield every form of each translation, without placeholders."""
    for message in read(sources.project().catalogue(language), language):
        if message.id:
            yield from (FIXED.sub(" ", form) for form in forms(message.string))


def texts_of(language: str) -> Iterator[tuple[str, str]]:
    """Yield every text for players in a language, with its location."""
    yield "terms", (terms.TEXTS / f"terms.{language}.md").read_text(encoding="utf-8")
    for slug, game in GAMES.items():
        yield f"help of {slug}", FILLED_IN.sub(" ", help_text(slug, language))
        yield from ((f"labels of {slug}", label) for label in game.labels[language].values())
    yield from (("catalogue", text) for text in catalogue_of(language))


def says(text: str, words: str) -> bool:
    """Return whether a text contains *words* as whole words, ignoring case."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text.replace(SOFT_HYPHEN, ""), re.IGNORECASE) is not None


@pytest.mark.parametrize("language", sweep_languages(TRANSLATED))
def test_no_text_says_a_word_that_was_given_up(language: str) -> None:
    entries = [entry for entry in given_up() if entry.language == language]
    assert entries
    found = {
        (where, word)
        for entry in entries
        for where, text in texts_of(language)
        for word in entry.words
        if (where == "terms" or not entry.only_in_terms) and says(text, word)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("text", "word", "said"),
    [
        ("Huset vinner", "huset", True),
        ("husets fördel", "huset", False),
        ("ți-a plăcut", "ți", True),
        ("așezați-vă", "ți", False),
        ("Betriebs\u00adarten", "Betriebsarten", True),
    ],
)
def test_words_are_found_whole(text: str, word: str, said: bool) -> None:
    assert says(text, word) is said


# Terms that players of the five games meet; each has its own row in the glossary.
NEEDED = (
    *("Player", "Banker", "Tie", "bank", "banker", "punter", "banco", "suite", "croupier", "player", "tax", "call"),
    *("shoe", "deck", "third card", "natural", "to stand", "to draw", "draw", "score", "roads", "statistics", "pair"),
    *("side bet", "push", "commission", "house edge", "return", "odds", "payout", "win", "favourite bets", "limits"),
    *("countdown", "no more bets", "void", "malfunction", "deposit", "withdrawal", "deposit limit", "time-out"),
    *("self-exclusion", "stake", "bet", "chip", "round", "hand", "table", "lobby", "balance", "seal", "seed"),
)


def terms_of_the_glossary() -> dict[str, list[str]]:
    """Return the words for each English term.

    A row may have several, separated by commas and in brackets.
    """
    tables = GLOSSARY.read_text(encoding="utf-8").partition("## Words given up")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables.splitlines() if line[:1] == "|"]
    return {term: cells for english, *cells in rows for term in re.split(r", ", re.sub(r" \([^)]*\)", "", english))}


@pytest.mark.parametrize("term", NEEDED)
def test_the_glossary_has_a_word_in_every_language(term: str) -> None:
    words = terms_of_the_glossary()[term]
    assert len(words) == len(TRANSLATED)
    assert all(words)
