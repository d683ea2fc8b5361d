"""Extraction of marked texts: gettext calls in Python, translation tags in templates."""

import re
from collections.abc import Iterable, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import extract
from django.utils.translation.template import templatize

from ops.i18n.sources import Tree

TRANSLATOR_NOTES: Final = ("Translators:",)
# Django's functions: which arguments are the text, its plural and (c) its context; None is the first alone.
KEYWORDS: Final[Mapping[str, tuple[int | tuple[int, str], ...] | None]] = {
    "_": None,
    "gettext": None,
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
    "gettext_noop": None,
    "gettext_lazy": None,
    "ngettext_lazy": (1, 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext_lazy": ((1, "c"), 2, 3),
}
_ODD_SPACE: Final = re.compile(r"[^\S\n ]")


def collect(tree: Tree) -> Catalog:
    """Return an untranslated catalogue of all texts of the project, with their source files."""
    texts = Catalog(fuzzy=False)
    for path in tree.python():
        _add(texts, tree.name(path), path.read_bytes())
    for path in tree.templates():
        _add(texts, tree.name(path), as_python(path).encode())
    return texts


def as_python(template: Path) -> str:
    """Return a template as gettext calls that Python's tokenizer can read.

    The enclosing brackets disable indentation, since the remaining text is indented like HTML.
    Raises SyntaxError on a translation block that contains other tags.
    """
    calls = templatize(template.read_text(encoding="utf-8"), origin=str(template))
    return f"({_ODD_SPACE.sub(' ', calls)}\n)"


def _add(texts: Catalog, name: str, source: bytes) -> None:
    for line, text, notes, context in _marked(source):
        texts.add(text, locations=[(name, line)], auto_comments=notes, context=context)


def _marked(source: bytes) -> Iterator[tuple[int, str | tuple[str, ...], Iterable[str], str | None]]:
    yield from extract("python", BytesIO(source), KEYWORDS, TRANSLATOR_NOTES, strip_comment_tags=True)
