"""Finds the sentences that Python modules and scripts say outright instead of through a catalogue or their page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.i18n.extract import KEYWORDS
from ops.i18n.hardcoded import Outright
from ops.i18n.typography import FIXED

# What a form shows, and what hands a player a sentence.
SHOWN_ARGUMENTS: Final = frozenset({"label", "help_text", "empty_label", "error_messages", "label_suffix"})
SPEAKERS: Final = frozenset(
    {"ValidationError", "Notice", "MoneyError", "add_error", "success", "info", "warning", "error"}
)
# Of these the first argument is a keyword or an address, and a log's lines are read by nobody who plays.
LOGS: Final = frozenset({"log", "logger"})

_WORDS: Final = re.compile(r"[^\W\d_]{2,}[,;:]?\s+[^\W\d_]")
# In a script: a comment, a string, a template literal, or a regular expression where a value may stand.
_TOKEN: Final = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|(?<=[=(,:?&|])\s*/(?![*/])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)""",
    re.DOTALL,
)
_SENTENCE: Final = re.compile(r"^[A-ZÀ-Þ][^\W\d_]+[,;:]?(?:\s+\S+)+|[^\W\d_]{2,}\s+[^\W\d_]{2,}.*[.!?…]$", re.DOTALL)
# Where a script puts what is read: a string with a word in it has no business there.
_SHOWS: Final = re.compile(
    r"(?:(?:textContent|innerText|title|alt|placeholder|ariaLabel)\s*\+?=|"
    r"""setAttribute\(\s*["'](?:aria-label|title|alt|placeholder)["']\s*,|\b(?:alert|confirm|prompt)\()\s*$"""
)
_WORD: Final = re.compile(r"[^\W\d_]{2}")
_SUBSTITUTION: Final = re.compile(r"\$\{[^}]*\}")


def spoken_by_module(module: Path) -> list[Outright]:
    """Return the sentences that *module* puts into forms and errors unmarked, from top to bottom."""
    return _spoken(module, SHOWN_ARGUMENTS)


def spoken_to_programs(module: Path) -> list[Outright]:
    """Return the same of a module of the API, whose description is in English: there ``help_text`` is a part of it."""
    return _spoken(module, SHOWN_ARGUMENTS - {"help_text"})


def _spoken(module: Path, shown_arguments: frozenset[str]) -> list[Outright]:
    found: list[Outright] = []
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            for argument in _shown_by(node, shown_arguments):
                found += _unmarked(argument)
    return sorted(found, key=lambda said: said.line)


def _shown_by(call: ast.Call, shown_arguments: frozenset[str]) -> Iterator[ast.expr]:
    """Yield the arguments of *call* that a reader will see: those so named, and what is said to somebody."""
    yield from (argument.value for argument in call.keywords if argument.arg in shown_arguments)
    if _called(call) in SPEAKERS and not _is_log(call):
        yield from call.args
        yield from (argument.value for argument in call.keywords if argument.arg in ("message", "text", "link_text"))


def _called(call: ast.Call) -> str:
    """Return the last name of what is called."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _is_log(call: ast.Call) -> bool:
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Name) and owner.id in LOGS


def _unmarked(shown: ast.expr) -> Iterator[Outright]:
    """Yield the sentences in an expression that are no argument of gettext's, nor of any other call."""
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
    """Whether a text has two words in a row, counting as a word what is filled in."""
    return _WORDS.search(FIXED.sub("xx", text)) is not None


def _is_label(text: str) -> bool:
    """Whether a single word is written as labels are: "Amount", not a keyword such as "amount" nor a code as "RTP"."""
    return re.fullmatch(r"[A-ZÀ-Þ][^\W\d_A-Z]+[.:…?!]?", text) is not None


def spoken_by_script(script: Path) -> list[Outright]:
    """Return the sentences that *script* holds, from top to bottom: what it shows must come with its page."""
    source = script.read_text(encoding="utf-8")
    found = []
    for token in _TOKEN.finditer(source):
        text = _SUBSTITUTION.sub("", (token["text"] or "")[1:-1])
        shows = _SHOWS.search(source, max(0, token.start() - 60), token.start())
        if _SENTENCE.search(text) or (shows and _WORD.search(text)):
            found.append(Outright(source.count("\n", 0, token.start()) + 1, " ".join(text.split())))
    return found
