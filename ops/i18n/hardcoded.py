"""Search for hard-coded texts in templates and fragments, which should use a translation tag or call."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from django.template.base import Lexer, TokenType
from jinja2 import Environment, nodes

from ops.i18n.sources import KEYWORDS

# Attributes that users see or screen readers speak.
SPOKEN: Final = frozenset(
    {
        *("alt", "title", "placeholder", "label"),
        *("aria-label", "aria-description", "aria-roledescription", "aria-valuetext", "aria-placeholder"),
        *("hx-confirm", "hx-prompt"),
    }
)
BUTTONS: Final = frozenset({"button", "reset", "submit"})
# Elements whose content is not natural language.
UNSPOKEN: Final = frozenset({"code", "script", "style"})
META: Final = frozenset({"description", "og:title", "og:description"})
# Content between these tags is skipped: it is translated, or never shown.
SKIPPED: Final = {"blocktranslate": "endblocktranslate", "blocktrans": "endblocktrans", "comment": "endcomment"}

JINJA: Final = Environment(extensions=["jinja2.ext.i18n"], autoescape=True)

_LETTER: Final = re.compile(r"[^\W\d_]")
_EDGES: Final = re.compile(r"^[\W\d_]+|[\W\d_]+$")
# A text passed on in a tag: the fallback of a filter, or an argument of an include.
_FALLBACK: Final = re.compile(r"""\|\s*(?:default|default_if_none|yesno):\s*("[^"]*"|'[^']*')""")
_ARGUMENT: Final = re.compile(r"""\s[a-z_]+=("[^"]*"|'[^']*')""")
_SENTENCE: Final = re.compile(r"[A-Z]|[^\W\d_]\s+[^\W\d_]")


@dataclass(frozen=True)
class Outright:
    """A hard-coded text, without surrounding signs and digits, and its line."""

    line: int
    text: str


def outright(template: Path) -> list[Outright]:
    """Return all hard-coded texts of *template*, from top to bottom."""
    source = template.read_text(encoding="utf-8")
    bare = _without_tags(source)
    said = list(_literals(source))
    said += _in_page(bare) if template.suffix == ".html" else _in_letter(bare)
    return sorted(said, key=lambda found: found.line)


def outright_in_fragment(fragment: Path) -> list[Outright]:
    """Return all hard-coded texts of a Jinja2 template, from top to bottom."""
    source = fragment.read_text(encoding="utf-8")
    tokens = list(JINJA.lex(source))
    bare = "".join(text if kind == "data" else "\n" * text.count("\n") for _, kind, text in tokens)
    said = [*_sentences(JINJA.parse(source)), *_in_page(bare)]
    return sorted(said, key=lambda found: found.line)


def _sentences(node: nodes.Node) -> Iterator[Outright]:
    """Yield texts that stand in an expression, but for texts that are marked and values that are compared."""
    if isinstance(node, nodes.Compare):
        return
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name) and node.node.name in KEYWORDS:
        for argument in node.kwargs:
            yield from _sentences(argument)
        return
    if isinstance(node, nodes.Const) and isinstance(node.value, str) and _SENTENCE.search(node.value):
        yield Outright(node.lineno, _words(node.value))
    for child in node.iter_child_nodes():
        yield from _sentences(child)


def _without_tags(source: str) -> str:
    """Return the page without template tags and without translated content, keeping its lines."""
    kept: list[str] = []
    until = ""
    for token in Lexer(source).tokenize():
        words = token.contents.split()
        if until:
            kept.append("\n" * token.contents.count("\n"))
            if token.token_type is TokenType.BLOCK and words[:1] == [until]:
                until = ""
        elif token.token_type is TokenType.TEXT:
            kept.append(token.contents)
        elif token.token_type is TokenType.BLOCK and words:
            until = "endblock" if _fills_an_attribute(words) else SKIPPED.get(words[0], "")
    return "".join(kept)


def _fills_an_attribute(words: list[str]) -> bool:
    """Return whether a tag opens a block for a class attribute of the base page: ``{% block pageclass %}``."""
    return words[0] == "block" and words[-1].endswith("class")


def _literals(source: str) -> Iterator[Outright]:
    """Yield sentences passed to filters and includes; keywords such as ``yesno:"on,off"`` are not sentences."""
    for token in Lexer(source).tokenize():
        if token.token_type is TokenType.VAR:
            found = _FALLBACK.findall(token.contents)
        elif token.token_type is TokenType.BLOCK and token.contents.startswith(("include ", "with ")):
            found = _FALLBACK.findall(token.contents) + _ARGUMENT.findall(token.contents)
        else:
            continue
        for literal in found:
            if _SENTENCE.search(literal):
                yield Outright(token.lineno or 0, _words(literal))


def _in_page(bare: str) -> list[Outright]:
    page = _Page()
    page.feed(bare)
    page.close()
    return page.said


def _in_letter(bare: str) -> list[Outright]:
    """Return the texts of a plain-text template: every line is shown."""
    lines = enumerate(bare.splitlines(), start=1)
    return [Outright(number, _words(line)) for number, line in lines if _LETTER.search(line)]


def _words(text: str) -> str:
    return _EDGES.sub("", " ".join(text.split()))


def _shown(name: str, value: str) -> bool:
    """Return whether a data attribute contains a sentence for a script to show, not a keyword
    (``data-due="deal"``).
    """
    return name.startswith("data-") and _SENTENCE.search(value) is not None


class _Page(HTMLParser):
    """Collects text nodes and visible attributes that contain letters."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[Outright] = []
        self.unspoken = ""  # the element whose content is being skipped, if any

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check the attributes."""
        self.unspoken = self.unspoken or (tag if tag in UNSPOKEN else "")
        values = dict(attrs)
        spoken = set(SPOKEN)
        if tag == "input" and values.get("type") in BUTTONS:
            spoken.add("value")
        if tag == "meta" and (values.get("name") or values.get("property")) in META:
            spoken.add("content")
        for name, value in attrs:
            if value and _LETTER.search(value) and (name in spoken or _shown(name, value)):
                self.said.append(Outright(self.getpos()[0], _words(value)))

    def handle_endtag(self, tag: str) -> None:
        """Stop skipping at the end of the element."""
        if tag == self.unspoken:
            self.unspoken = ""

    def handle_data(self, data: str) -> None:
        """Collect a text node with letters, at the line where they begin."""
        letter = _LETTER.search(data)
        if letter and not self.unspoken:
            line = self.getpos()[0] + data.count("\n", 0, letter.start())
            self.said.append(Outright(line, _words(data)))
