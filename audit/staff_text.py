"""Sentences that are stored once and read by staff in their own language.

A stored sentence is its English text with named placeholders, and the values: ``["Dated %(days)s days early.",
{"days": 3}]``. The English text is the key of its translation. It never has a plural: a number stands after a colon or
in brackets. A plain text is no sentence: it is a name, a code or evidence, and is shown as it is.

A value is a number, a plain text, another stored sentence, or an amount as ``{"money": [1250, "SEK"]}``, which the
app that knows money formats (`register_format`).

Screens and mails show `translated`. Files, the API and the event log have `english`, the same for every reader.

What a verification finds is stored in English alone, as it stands in the signed log: `recognised` tells which
registered text it was made from (`register_findings`), and writes that text with the same facts in the active language.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from django.utils.text import capfirst
from django.utils.translation import get_language, get_language_info, gettext, override, pgettext

Stored: TypeAlias = list[Any]
"""A sentence as it is stored: text and values."""

ENGLISH: Final = "en"
# German writes nouns with a capital wherever they stand, and a label does not say whether it is one.
KEEPS_CAPITALS: Final = frozenset({"de"})

FINDING: Final = "finding"  # context of the texts of findings
PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
BETWEEN_PARTS: Final = (": ", "; ", ", ")
EVIDENCE: Final = frozenset(
    {"stored", "said", "value"}
)  # facts that may be what somebody wrote: no clause is sought in them
DATA: Final = ("{", "[", "(")  # beginnings of values that hold no words

_formats: dict[str, Callable[..., str]] = {}
_plain_findings: dict[str, str] = {}  # as they are stored -> text
_findings: dict[
    str, tuple[list[str], list[str]]
] = {}  # text -> what is between its facts, and their names; longest first


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


def recognised(text: str) -> str:
    """Return a finding in the active language. What is no registered text, such as a name, stays as it is."""
    if (get_language() or ENGLISH).partition("-")[0] == ENGLISH:
        return text
    return _recognised(text)


def _recognised(text: str) -> str:
    if text in _plain_findings:
        return pgettext(FINDING, _plain_findings[text])
    if text.startswith(DATA):
        return text
    if text.endswith("."):
        return f"{_recognised(text[:-1])}."
    of_parts = BETWEEN_PARTS[0] in text
    for kind, (between, names) in _findings.items():
        if of_parts and BETWEEN_PARTS[0] not in kind:
            continue
        if (facts := _facts(text, between)) is not None:
            return pgettext(FINDING, kind) % {
                name: _word_of_finding(fact) if name in EVIDENCE else _recognised(fact)
                for name, fact in zip(names, facts, strict=True)
            }
    for by in BETWEEN_PARTS:
        first, found_it, rest = text.partition(by)
        if found_it:
            return f"{_recognised(first)}{by}{_recognised(rest)}"
    return text


def _word_of_finding(text: str) -> str:
    return pgettext(FINDING, _plain_findings[text]) if text in _plain_findings else text


def _facts(text: str, between: Sequence[str]) -> list[str] | None:
    """Return what stands in *text* between these pieces, None if they are not in it in this order."""
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
