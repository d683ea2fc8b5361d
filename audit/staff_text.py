"""Sentences that are stored once and read by staff in their own language.

A stored sentence is its English text with named placeholders, and the values: ``["Dated %(days)s days early.",
{"days": 3}]``. The English text is the key of its translation. It never has a plural: a number stands after a colon or
in brackets. A plain text is no sentence: it is a name, a code or evidence, and is shown as it is.

A value is a number, a plain text, another stored sentence, or an amount as ``{"money": [1250, "SEK"]}``, which the
app that knows money formats (`register_format`).

Screens and mails show `translated`. Files, the API and the event log have `english`, the same for every reader.

What a verification finds is stored in English alone, as in the signed log: `recognised` tells which
registered text it was made from (`register_findings`), and writes that text with the same facts in the active language.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from django.utils.text import capfirst
from django.utils.translation import get_language, get_language_info, gettext, override, pgettext

Stored: TypeAlias = list[Any]
"""A sentence as it is stored: text and values."""

ENGLISH: Final = "en"
# German writes nouns with a capital in every position, and a label does not say whether it is one.
KEEPS_CAPITALS: Final = frozenset({"de"})

FINDING: Final = "finding"  # context of the texts of findings
PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
BETWEEN_PARTS: Final = (": ", "; ", ", ")
EVIDENCE: Final = frozenset({"stored", "said", "value"})  # facts that somebody may have written
NO_VALUE: Final = frozenset({"nothing", "none", "true", "false"})  # words for what is no text, also in evidence
DEEPEST: Final = 8  # facts within facts: more are no finding of ours
MOST_PARTS: Final = 100
DATA: Final = ("{", "[", "(")  # beginnings of values that hold no words

_formats: dict[str, Callable[..., str]] = {}
_plain_findings: dict[str, str] = {}  # as they are stored -> text
_findings: dict[
    str, tuple[list[str], list[str]]
] = {}  # text -> what is between its facts, and their names; longest first


class Written(str):
    """A text that a player or staff wrote. `recognised` leaves it as it is, even if it reads like a finding."""

    __slots__ = ()


def register_format(name: str, write: Callable[..., str]) -> None:
    """Have values ``{name: [arguments]}`` written by *write*, in the active language."""
    _formats[name] = write


def sentence(text: str, **values: Any) -> Stored:
    """Return the sentence *text* with its values, as it is stored. Mark *text* for translation: `gettext_noop`.

    Raises KeyError if a placeholder has no value.
    """
    stored: Stored = [text, values]
    english(stored)
    return stored


def is_sentence(value: Any) -> bool:
    """Return whether a stored value is a sentence."""
    match value:
        case [str(), Mapping()]:
            return True
        case _:
            return False


def language_label(code: str) -> str:
    """Return the name of a language as a label, in the active language."""
    return capfirst(str(get_language_info(code)["name_translated"]))


def english(value: Any) -> str:
    """Return a stored sentence, or several, in English; a plain text as it is."""
    with override(ENGLISH):
        return translated(value)


def translated(value: Any) -> str:
    """Return a stored sentence, or several, in the active language; a plain text as it is."""
    if value is None:
        return ""
    if is_sentence(value):
        text, values = value
        return word(text) % {name: _written(each) for name, each in values.items()} if values else word(text)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(translated(each) for each in value)
    return str(value)


def marked(context: str, text: str) -> str:
    """Return *text*, and mark it for translation in *context*, which does not translate it yet."""
    return text


def register_findings(texts: Iterable[str]) -> None:
    """Have `recognised` know these texts, which are marked for translation in the context `FINDING`.

    A text is a sentence without its full stop, or a part of one: a name, a word, a clause. Stored ones have another
    apostrophe.
    """
    for text in texts:
        stored, names = text.replace("’", "'"), PLACEHOLDER.findall(text)
        if names:
            _findings[text] = PLACEHOLDER.split(stored)[::2], names
        else:
            _plain_findings[text] = _plain_findings[stored] = text
    longest_first = sorted(_findings.items(), key=lambda each: -sum(map(len, each[1][0])))
    _findings.clear()
    _findings.update(longest_first)
    _candidates.cache_clear()


def recognised(text: str) -> str:
    """Return a finding in the active language. What is no registered text, such as a name, stays as it is."""
    if isinstance(text, Written) or (get_language() or ENGLISH).partition("-")[0] == ENGLISH:
        return text
    return _recognised(text)


def _recognised(text: str, depth: int = 0) -> str:
    """Return *text* with each of its parts recognised; what is deeper or longer than any finding stays as it is."""
    done = ""
    for _ in range(MOST_PARTS if depth < DEEPEST else 0):
        if (whole := _whole(text, depth)) is not None:
            return done + whole
        by = next((each for each in BETWEEN_PARTS if each in text), "")
        if not by:
            break
        first, _by, text = text.partition(by)
        done += f"{_recognised(first, depth + 1)}{by}"
    return done + text


def _whole(text: str, depth: int) -> str | None:
    """Return a text that was made from one registered text, or holds data. None if it is neither."""
    if text in _plain_findings:
        return pgettext(FINDING, _plain_findings[text])
    if text.startswith(DATA):
        return text
    if text.endswith("."):
        return f"{_recognised(text[:-1], depth + 1)}."
    of_parts = BETWEEN_PARTS[0] in text
    for kind, (between, names) in _candidates(text[:1]):
        if of_parts and BETWEEN_PARTS[0] not in kind:
            continue
        if (facts := _facts(text, between)) is not None:
            return pgettext(FINDING, kind) % {
                name: _evidence(fact) if name in EVIDENCE else _recognised(fact, depth + 1)
                for name, fact in zip(names, facts, strict=True)
            }
    return None


@lru_cache(maxsize=128)
def _candidates(letter: str) -> Sequence[tuple[str, tuple[list[str], list[str]]]]:
    """Return the texts with facts that a sentence with this first letter may have been made from, longest first."""
    return [each for each in _findings.items() if each[1][0][0][:1] in ("", letter)]


def _evidence(text: str) -> str:
    return pgettext(FINDING, text) if text in NO_VALUE else text


def _facts(text: str, between: Sequence[str]) -> list[str] | None:
    """Return the texts in *text* between these pieces, None if they are not in it in this order."""
    first, *middle, last = between
    at, end = len(first), len(text) - len(last)
    if at > end or not (text.startswith(first) and text.endswith(last)):
        return None
    facts = []
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return None
        facts.append(text[at:found])
        at = found + len(piece)
    return [*facts, text[at:end]]


def word(text: str) -> str:
    """Return a word of a report, such as a status, in the active language. "" stays empty.

    A word that is marked in the context "report" has a translation of its own there.
    """
    if not text:
        return ""
    in_report = pgettext("report", text)
    return gettext(text) if in_report == text else in_report


def in_sentence(label: object) -> str:
    """Return a label as it is written inside a sentence or a badge: without its capital, except in German.

    An abbreviation keeps its capitals: "KYC".
    """
    text = str(label)
    if (get_language() or ENGLISH).partition("-")[0] in KEEPS_CAPITALS or text[1:2].isupper():
        return text
    return f"{text[:1].lower()}{text[1:]}"


def _written(value: Any) -> Any:
    match value:
        case [str(), Mapping()]:
            return translated(value)
        case Mapping():
            ((name, arguments),) = value.items()
            return _formats[name](*arguments)
        case Sequence() if not isinstance(value, str):
            return ", ".join(str(_written(each)) for each in value)
        case _:
            return value
