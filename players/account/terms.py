"""The terms a player agrees to: one text in five languages, with a version that every agreement names.

The texts are documents, kept whole in ``texts/``, since what was agreed to changes as a whole: with a new version and
date here, and ``changes.*.md`` for who agreed to the version before.
"""

from datetime import date
from functools import cache
from pathlib import Path

from django.utils.safestring import SafeString, mark_safe

VERSION = "3"
DATED = date(2026, 11, 23)

TEXTS = Path(__file__).parent / "texts"


@cache
def changes(language: str) -> SafeString:
    """Return as HTML what this version changed. Raises FileNotFoundError for a language the house does not speak."""
    return _rendered(f"changes.{language}.md")


@cache
def text(language: str) -> SafeString:
    """Return the terms as HTML. Raises FileNotFoundError for a language the house does not speak."""
    return _rendered(f"terms.{language}.md")


def _rendered(name: str) -> SafeString:
    from markdown_it import MarkdownIt  # what it loads, every command of the house would wait for

    source = (TEXTS / name).read_text(encoding="utf-8")
    return mark_safe(MarkdownIt("commonmark", {"html": False}).render(source))  # noqa: S308  (our own text, HTML in it is escaped)
