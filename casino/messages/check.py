"""Says everything that stands between a player and a page in their language."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from babel.messages import Catalog
from babel.messages.catalog import Message

from casino.messages.allowed import Allowed
from casino.messages.catalogues import forms, read, translated
from casino.messages.extract import collect
from casino.messages.hardcoded import outright
from casino.messages.sources import Tree

# What a text has filled in, %(name)s or {name}, and its markup: a translation moves these and never changes them.
_FIXED: Final = re.compile(r"%\(\w+\)[a-z]|%[sd]|\{\w*\}|</?\w[^>]*>")
_LETTER: Final = re.compile(r"[^\W\d_]")
# Letters that look right and are not: the Turkish s and t with a cedilla in place of the Romanian ones with a comma.
WRONG_LETTERS: Final = {"ro": "şţŞŢ"}


@dataclass(frozen=True)
class Fault:
    """One thing to put right: where, what, and the text concerned."""

    where: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.text!r}"


def faults(tree: Tree) -> Iterator[Fault]:
    """Yield every fault, language by language, then the templates."""
    texts = collect(tree)
    allowed = Allowed.read(tree.allowed())
    for language in tree.languages:
        yield from _in_catalogue(tree, language, texts, allowed)
    yield from _in_templates(tree, allowed)


def _in_catalogue(tree: Tree, language: str, texts: Catalog, allowed: Allowed) -> Iterator[Fault]:
    where = tree.name(tree.catalogue(language))
    catalogue = read(tree.catalogue(language), language)
    equal: set[str] = set()
    for text in _messages(texts):
        message = catalogue.get(_singular(text), text.context)
        if message is None or message.id != text.id or not translated(message):
            yield Fault(where, "missing", _singular(text))
            continue
        for what in _doubts(message, language):
            yield Fault(where, what, _singular(text))
        if _untranslated(message):
            equal.add(_singular(text))
    for message in [*_messages(catalogue), *catalogue.obsolete.values()]:
        if texts.get(_singular(message), message.context) is None:
            yield Fault(where, "unused", _singular(message))
    permitted = allowed.equal.get(language, frozenset())
    for english in sorted(equal - permitted):
        yield Fault(where, "equal to the English", english)
    for english in sorted(permitted - equal):
        yield Fault(tree.name(tree.allowed()), f"allowed in vain for {language}", english)


def _doubts(message: Message, language: str) -> Iterator[str]:
    """What is wrong with a translation that is there."""
    if message.fuzzy:
        yield "fuzzy"
    if not _same_fixed_parts(message):
        yield "other placeholders or markup"
    letters = set("".join(forms(message.string)))
    for letter in sorted(letters.intersection(WRONG_LETTERS.get(language, ""))):
        yield f"wrong letter {letter}"


def _in_templates(tree: Tree, allowed: Allowed) -> Iterator[Fault]:
    seen: set[str] = set()
    for path in tree.player_templates():
        for said in outright(path):
            seen.add(said.text)
            if said.text not in allowed.outright:
                yield Fault(f"{tree.name(path)}:{said.line}", "hard-coded", said.text)
    for text in sorted(allowed.outright - seen):
        yield Fault(tree.name(tree.allowed()), "allowed in vain", text)


def _messages(catalogue: Catalog) -> Iterator[Message]:
    """All but the header."""
    return (message for message in catalogue if message.id)


def _singular(message: Message) -> str:
    return forms(message.id)[0]


def _same_fixed_parts(message: Message) -> bool:
    """Each form of a translation fills in what the English does; a plural form may do as either English form."""
    expected = [Counter(_FIXED.findall(form)) for form in forms(message.id)]
    return all(Counter(_FIXED.findall(form)) in expected for form in forms(message.string))


def _untranslated(message: Message) -> bool:
    """Whether some form is the English one; a text of placeholders and signs alone has nothing to translate."""
    english = forms(message.id)
    return any(form in english and _LETTER.search(_FIXED.sub("", form)) for form in forms(message.string))
