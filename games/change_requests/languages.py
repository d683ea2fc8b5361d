"""Whether a game can be shown in every language of the house: its labels, its help, and the words of the pages."""

import gettext
from collections.abc import Iterator
from functools import cache

from django.conf import settings

from games.engine.bets import Variant
from games.variants import GAMES, LANGUAGES, help_text

SOURCE = "en"  # the language that pages are written in


def missing(slug: str) -> dict[str, list[str]]:
    """Return what a game lacks, by language: labels by their keys, "help", "messages". Empty where nothing is missing.

    Raises KeyError for an unknown game.
    """
    found = {language: list(_missing(slug, language)) for language in LANGUAGES}
    return {language: texts for language, texts in found.items() if texts}


def _missing(slug: str, language: str) -> Iterator[str]:
    labels = GAMES[slug].labels.get(language, {})
    yield from sorted(key for key in _keys(slug) if not labels.get(key, "").strip())
    try:
        if not help_text(slug, language).strip():
            yield "help"
    except OSError:
        yield "help"
    if language != SOURCE and not _has_messages(language):
        yield "messages"


def _keys(slug: str) -> set[str]:
    """Return the labels that a game has in any language, and those that its rules cannot do without."""
    game = GAMES[slug]
    keys = {"name", "tagline"}.union(*game.labels.values())
    if isinstance(game, Variant):
        keys |= {f"bet.{bet.code}" for bet in game.bets}
    return keys


@cache
def _has_messages(language: str) -> bool:
    return any(gettext.find("django", str(folder), [language]) for folder in settings.LOCALE_PATHS)
