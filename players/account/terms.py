"""Terms and conditions: one text in five languages, with a version that each agreement names.

The texts are whole documents in ``texts/``, because a player agrees to the whole text. A new
version needs a new ``VERSION`` and ``DATED`` here, and ``changes.*.md`` for players who agreed to
the previous version.
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
    """Return the changes of this version as HTML. Raises FileNotFoundError for an unsupported language."""
    return _rendered(f"changes.{language}.md")


@cache
def text(language: str) -> SafeString:
    """Return the terms as HTML. Raises FileNotFoundError for an unsupported language."""
    return _rendered(f"terms.{language}.md")


def _rendered(name: str) -> SafeString:
    from markdown_it import MarkdownIt  # slow to import; every management command would wait for it

    source = (TEXTS / name).read_text(encoding="utf-8")
    return mark_safe(MarkdownIt("commonmark", {"html": False}).render(source))  # noqa: S308  (our own text, HTML in it is escaped)
