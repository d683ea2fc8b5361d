"""Search for hard-coded sentences in Python modules and scripts, which should use a catalogue or their page."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.i18n.hardcoded import Outright
from ops.i18n.sources import KEYWORDS
from ops.i18n.typography import FIXED

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
_SENTENCE: Final = re.compile(r"^[A-ZÀ-Þ][^\W\d_]+[,;:]?(?:\s+\S+)+|[^\W\d_]{2,}\s+[^\W\d_]{2,}.*[.!?…]$", re.DOTALL)
# Where a script shows text: a string with a word in it must not be there.
_SHOWS: Final = re.compile(
    r"(?:(?:textContent|innerText|title|alt|placeholder|ariaLabel)\s*\+?=|"
    r"""setAttribute\(\s*["'](?:aria-label|title|alt|placeholder)["']\s*,|\b(?:alert|confirm|prompt)\()\s*$"""
)
_WORD: Final = re.compile(r"[^\W\d_]{2}")
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
    yield from (argument.value for argument in call.keywords if argument.arg in shown_arguments)
    if _called(call) in SPEAKERS and not _is_log(call):
        yield from call.args
        yield from (argument.value for argument in call.keywords if argument.arg in ("message", "text", "link_text"))


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
        if _SENTENCE.search(text) or (shows and _WORD.search(text)):
            found.append(Outright(source.count("\n", 0, token.start()) + 1, " ".join(text.split())))
    return found
