"""Nothing a player reads uses a word that docs/glossary.md has given up."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.conf import settings

from games.variants import GAMES, LANGUAGES, help_text
from ops.i18n import sources
from ops.i18n.catalogues import forms, read
from ops.i18n.typography import FIXED
from players.account import terms
from tests.harness.sweeps import sweep_languages

GLOSSARY = settings.BASE_DIR / "docs" / "glossary.md"
TRANSLATED = [language for language in LANGUAGES if language != settings.LANGUAGE_CODE]
SOFT_HYPHEN = "\u00ad"
FILLED_IN = re.compile(r"^```.*?^```$|\{\{.*?\}\}", re.MULTILINE | re.DOTALL)  # examples and marks of a help text


class GivenUp(NamedTuple):
    """Words of a language that stay out of its texts, or of its terms alone."""

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
    """Yield every form of each translation, without what is filled in."""
    for message in read(sources.project().catalogue(language), language):
        if message.id:
            yield from (FIXED.sub(" ", form) for form in forms(message.string))


def texts_of(language: str) -> Iterator[tuple[str, str]]:
    """Yield everything a player reads in a language, each text with the place it stands in."""
    yield "terms", (terms.TEXTS / f"terms.{language}.md").read_text(encoding="utf-8")
    for slug, game in GAMES.items():
        yield f"help of {slug}", FILLED_IN.sub(" ", help_text(slug, language))
        yield from ((f"labels of {slug}", label) for label in game.labels[language].values())
    yield from (("catalogue", text) for text in catalogue_of(language))


def says(text: str, words: str) -> bool:
    """Whether *words* stand in a text as whole words, in capitals or not."""
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text.replace(SOFT_HYPHEN, ""), re.IGNORECASE) is not None


@pytest.mark.sweep
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


# What a player of any of the five games meets, each with a row of its own in the glossary.
NEEDED = (
    *("Player", "Banker", "Tie", "bank", "banker", "punter", "banco", "suite", "croupier", "guest", "tax", "call"),
    *("shoe", "deck", "third card", "natural", "to stand", "to draw", "draw", "score", "roads", "statistics", "pair"),
    *("side bet", "push", "commission", "house edge", "return", "odds", "payout", "win", "favourite bets", "limits"),
    *("countdown", "no more bets", "void", "malfunction", "deposit", "withdrawal", "deposit limit", "time-out"),
    *("self-exclusion", "stake", "bet", "chip", "round", "hand", "table", "lobby", "balance", "seal", "seed"),
)


def terms_of_the_glossary() -> dict[str, list[str]]:
    """Return the words for each English term, of which a row may have several, apart by commas and in brackets."""
    tables = GLOSSARY.read_text(encoding="utf-8").partition("## Words given up")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in tables.splitlines() if line[:1] == "|"]
    return {term: cells for english, *cells in rows for term in re.split(r", ", re.sub(r" \([^)]*\)", "", english))}


@pytest.mark.parametrize("term", NEEDED)
def test_the_glossary_has_a_word_in_every_language(term: str) -> None:
    words = terms_of_the_glossary()[term]
    assert len(words) == len(TRANSLATED)
    assert all(words)
