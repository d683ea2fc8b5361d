"""Hard-coded texts in templates and programs, and their typography."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

from babel.numbers import format_percent
from django.template.base import Lexer, TokenType
from jinja2 import Environment, nodes

from ops.i18n.sources import KEYWORDS

# Placeholders, %(name)s or {name}, and markup: a translation may move but not change them.
FIXED: Final = re.compile(
    r"%\(\w+\)[#0+-]*\d*(?:\.\d+)?[a-z]|%[sd]|%%|\{\w*(?:![rsa])?(?::[^{}]*)?\}|&#?\w+;|</?\w[^>]*>"
)
# Similar but wrong letters: Turkish s and t with cedilla instead of the Romanian ones with comma.
WRONG_LETTERS: Final = {"ro": "şţŞŢ"}
# Signs that a language does not use: straight quotes in none, and the quotation marks of other languages.
WRONG_SIGNS: Final = {
    "en": "\"'„«»",
    "sv": "\"'“„«",
    "da": "\"'“„",
    "ro": "\"'“",
    "de": "\"'”",
}
# Common Romanian words without their diacritics; none of them is a word by itself.
BARE_ROMANIAN: Final = frozenset(
    {
        *("si", "ati", "daca", "fara", "dupa", "catre", "inainte", "numar", "urmatorul", "urmatoarea"),
        *("carti", "cartile", "castig", "castiga", "castigul", "jucator", "jucatorul", "bancii", "platit", "plateste"),
        *("aveti", "puteti", "sunteti", "alegeti", "apasati", "asteptati", "incercati", "pariati"),
    }
)
PUNCTUATION: Final = ".:…?!"

_FILLED_IN: Final = "\ufffc"  # stands for a placeholder
_ASCII_ELLIPSIS: Final = "..."
_SPACE_BEFORE: Final = re.compile(r"\s[.,;:!?](?=\s|$)")
_PERCENT: Final = re.compile(r"(?<=\d)(\s?)%(?![(sd%])")
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Edges:
    """The edges of a text: whether there is white space, and the final punctuation."""

    begins: bool
    ends: bool
    punctuation: str

    @classmethod
    def of(cls, text: str) -> "Edges":
        """Return the edges of *text*; the point of an abbreviation ("No.") is not punctuation."""
        last = text.rstrip()[-1:]
        abbreviated = last == "." and " " not in text.strip()
        return cls(text[:1].isspace(), text[-1:].isspace(), last if last in PUNCTUATION and not abbreviated else "")


def oddities(text: str, language: str) -> Iterator[str]:
    """Yield typographic faults of *text* in *language*, regardless of its meaning."""
    said = FIXED.sub(_FILLED_IN, text)
    for letter in sorted(set(said).intersection(WRONG_LETTERS.get(language, ""))):
        yield f"wrong letter {letter}"
    for sign in sorted(set(said).intersection(WRONG_SIGNS[language])):
        yield f"wrong sign {sign}"
    if _ASCII_ELLIPSIS in said:
        yield "three points for an ellipsis"
    if _SPACE_BEFORE.search(said):
        yield "space before a mark"
    before = _before_percent(language)
    if any(found[1] != before for found in _PERCENT.finditer(said)):
        yield f"percent sign without {before!r} before it" if before else "space before a percent sign"
    if language == "ro":
        for word in sorted(BARE_ROMANIAN.intersection(_WORD.findall(said.lower()))):
            yield f"no diacritics in {word}"


def _before_percent(language: str) -> str:
    """Return what precedes a percent sign (CLDR): nothing, or a no-break space."""
    written: str = format_percent(0.01, locale=language)
    return written.removeprefix("1").removesuffix("%")


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
    """Yield texts in an expression, except texts that are marked and values that are compared."""
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
    parts: list[str] = []
    until = ""
    for token in Lexer(source).tokenize():
        words = token.contents.split()
        if until:
            parts.append("\n" * token.contents.count("\n"))
            if token.token_type is TokenType.BLOCK and words[:1] == [until]:
                until = ""
        elif token.token_type is TokenType.TEXT:
            parts.append(token.contents)
        elif token.token_type is TokenType.BLOCK and words:
            until = "endblock" if _fills_an_attribute(words) else SKIPPED.get(words[0], "")
    return "".join(parts)


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


# Arguments shown by a form, and callables that show a player a sentence.
SHOWN_ARGUMENTS: Final = frozenset({"label", "help_text", "empty_label", "error_messages", "label_suffix"})
SPEAKERS: Final = frozenset(
    {"ValidationError", "Notice", "MoneyError", "add_error", "success", "info", "warning", "error"}
)
# Log methods share these names, but their messages are not shown to players.
LOGS: Final = frozenset({"log", "logger"})

_WORDS: Final = re.compile(r"[^\W\d_]{2,}[,;:]?\s+[^\W\d_]")
# Tokens of a script: a comment, a string, a template literal, or a regular expression in the place of a value.
_TOKEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?<=[=(,:?&|])\s*/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)""",
    re.DOTALL,
)
_LITERAL_SENTENCE: Final = re.compile(
    r"^[A-ZÀ-Þ][^\W\d_]+[,;:]?(?:\s+\S+)+|[^\W\d_]{2,}\s+[^\W\d_]{2,}.*[.!?…]$", re.DOTALL
)
# Places in which a script shows text: a string with a word in it must not be there.
_SHOWS: Final = re.compile(
    r"(?:(?:textContent|innerText|title|alt|placeholder|ariaLabel)\s*\+?=|"
    r"""setAttribute\(\s*["'](?:aria-label|title|alt|placeholder)["']\s*,|\b(?:alert|confirm|prompt)\()\s*$"""
)
_LITERAL_WORD: Final = re.compile(r"[^\W\d_]{2}")
_SUBSTITUTION: Final = re.compile(r"\$\{[^}]*\}")


def spoken_by_module(module: Path) -> list[Outright]:
    """Return the unmarked sentences that *module* uses in forms and errors, from top to bottom."""
    return _spoken(module, SHOWN_ARGUMENTS)


def spoken_to_api_clients(module: Path) -> list[Outright]:
    """Same as `spoken_by_module` for a module of the API, whose description, including
    ``help_text``, is in English.
    """
    return _spoken(module, SHOWN_ARGUMENTS - {"help_text"})


def _spoken(module: Path, shown_arguments: frozenset[str]) -> list[Outright]:
    found: list[Outright] = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            for argument in _shown_by(node, shown_arguments):
                found += _unmarked(argument)
    return sorted(found, key=lambda said: said.line)


def _shown_by(call: ast.Call, shown_arguments: frozenset[str]) -> Iterator[ast.expr]:
    """Yield the arguments of *call* that a user will see, by the argument's name or by the function called."""
    if _is_of_api(call):
        shown_arguments -= {"help_text"}
    yield from (argument.value for argument in call.keywords if argument.arg in shown_arguments)
    if _called(call) in SPEAKERS and not _is_log(call):
        yield from call.args
        yield from (argument.value for argument in call.keywords if argument.arg in ("message", "text", "link_text"))


def _is_of_api(call: ast.Call) -> bool:
    """Return whether a call makes a field of a serializer, whose ``help_text`` describes the API, in English."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id == "serializers"


def _called(call: ast.Call) -> str:
    """Return the last part of the name of the called function."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _is_log(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in LOGS


def _unmarked(shown: ast.expr) -> Iterator[Outright]:
    """Yield the sentences in an expression that are not arguments of gettext or any other call."""
    if isinstance(shown, ast.Constant):
        if isinstance(shown.value, str) and (_is_sentence(shown.value) or _is_label(shown.value)):
            yield Outright(shown.lineno, " ".join(shown.value.split()))
    elif isinstance(shown, ast.Call):
        if _called(shown) not in KEYWORDS and isinstance(shown.func, ast.Attribute):
            yield from _unmarked(shown.func.value)  # "…".format(…)
    else:
        for part in ast.iter_child_nodes(shown):
            if isinstance(part, ast.expr):
                yield from _unmarked(part)


def _is_sentence(text: str) -> bool:
    """Return whether a text has two words in a row, counting placeholders as words."""
    return _WORDS.search(FIXED.sub("xx", text)) is not None


def _is_label(text: str) -> bool:
    """Return whether a single word is written as a label ("Amount"), not a keyword ("amount") or an
    acronym ("RTP").
    """
    return re.fullmatch(r"[A-ZÀ-Þ][^\W\d_A-Z]+[.:…?!]?", text) is not None


def spoken_by_script(script: Path) -> list[Outright]:
    """Return the sentences in *script*, from top to bottom: texts that it shows must come from its page."""
    source = script.read_text(encoding="utf-8")
    found = []
    for token in _TOKEN.finditer(source):
        text = _SUBSTITUTION.sub("", (token["text"] or "")[1:-1])
        shows = _SHOWS.search(source, max(0, token.start() - 60), token.start())
        if _LITERAL_SENTENCE.search(text) or (shows and _LITERAL_WORD.search(text)):
            found.append(Outright(source.count("\n", 0, token.start()) + 1, " ".join(text.split())))
    return found
