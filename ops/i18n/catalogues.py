"""Catalogues of translations: read, write, compile and check them."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from babel import Locale
from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation import ngettext_lazy

from ops.i18n.hardcoded import (
    FIXED,
    Edges,
    oddities,
    outright,
    outright_in_fragment,
    spoken_by_module,
    spoken_by_script,
    spoken_to_api_clients,
)
from ops.i18n.sources import Tree, collect, compiled, unextracted

WIDTH: Final = 120

# Texts of Django that players can see and that Django lacks in one of the languages. Listed here, they are extracted,
# and the project's translation takes precedence over Django's.
BORROWED = (
    # django.contrib.auth.password_validation.MinimumLengthValidator: not in Romanian as of 5.2.
    ngettext_lazy(
        "This password is too short. It must contain at least %d character.",
        "This password is too short. It must contain at least %d characters.",
    ),
)

# Without dates and names: a catalogue changes only when a text does.
_HEADER: Final = """\
# Sabot in {name}.
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plural_forms}\\n"

"""


@dataclass(frozen=True)
class Update:
    """Result of updating a catalogue."""

    language: str
    added: int
    dropped: int
    untranslated: int
    texts: int


def read(path: Path, language: str) -> Catalog:
    """Return the catalogue at *path*, an empty one if there is no file."""
    if not path.exists():
        return Catalog(locale=language, fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def update(path: Path, texts: Catalog, language: str) -> Update:
    """Give the catalogue exactly these *texts* and keep their translations; there is no fuzzy matching."""
    old = read(path, language)
    new = merge(texts, old, language)
    write(path, new, language)
    remaining = sum(1 for message in old if message.id and new.get(forms(message.id)[0], message.context) is not None)
    return Update(
        language=language,
        added=len(new) - remaining,
        dropped=len(old) - remaining + len(old.obsolete),
        untranslated=sum(1 for message in new if message.id and not translated(message)),
        texts=len(new),
    )


def merge(texts: Catalog, old: Catalog, language: str) -> Catalog:
    """Return *texts* with the translations of *old*; a text whose plural changed has none."""
    new = Catalog(locale=language, fuzzy=False)
    for text in texts:
        if not text.id:
            continue
        known = old.get(forms(text.id)[0], text.context)
        if known is None or known.id != text.id:
            known = Message(text.id, string="" if isinstance(text.id, str) else ("",) * new.num_plurals)
        new.add(
            text.id,
            string=known.string,
            locations=text.locations,
            flags=text.flags | known.flags & {"fuzzy"},
            auto_comments=text.auto_comments,
            user_comments=known.user_comments,
            context=text.context,
        )
    return new


def write(path: Path, catalogue: Catalog, language: str) -> None:
    """Write a catalogue, sorted by the source files of its texts."""
    name = Locale.parse(language).get_display_name("en")
    header = _HEADER.format(name=name, language=language, plural_forms=catalogue.plural_forms)
    body = BytesIO()
    write_po(body, catalogue, width=WIDTH, omit_header=True, sort_by_file=True, include_lineno=False)
    _replace(path, lambda file: file.write(header.encode() + body.getvalue()))


def forms(text: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return a text or translation as a tuple of its plural forms, mostly one."""
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def translated(message: Message) -> bool:
    """Return whether every plural form is translated."""
    return all(forms(message.string))


def compile_catalogue(path: Path, language: str) -> Path:
    """Compile a catalogue next to it, without fuzzy translations; return the path of the compiled file."""
    catalogue = read(path, language)
    target = compiled(path)
    _replace(target, lambda file: write_mo(file, catalogue, use_fuzzy=False))
    return target


def _replace(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Replace a file atomically: a process that starts at the same time reads the old or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        fill(file)
    part.replace(path)


_LETTER: Final = re.compile(r"[^\W\d_]")
_NAME: Final = re.compile(r"%\((\w+)\)|\{(\w+)")
_IN_TURN: Final = re.compile(r"%[sd]")
# Parts of Markdown that are not text for readers: code, link targets, placeholders for tables of the engine.
_UNREAD: Final = re.compile(r"`[^`]*`|(?<=\])\([^)]*\)|\{\{[^}]*\}\}|<[^>]*>")


@dataclass(frozen=True)
class Fault:
    """A fault: where, what, and the text concerned."""

    where: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}: {self.text!r}"


@dataclass(frozen=True)
class Allowed:
    """``locale/allowed.toml``: texts that may equal the English, by language, and texts that
    templates may hard-code, reviewed by hand.
    """

    equal: dict[str, frozenset[str]]
    outright: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> "Allowed":
        """Read the file; without it nothing is allowed."""
        if not path.exists():
            return cls({}, frozenset())
        lists = tomllib.loads(path.read_text(encoding="utf-8"))
        equal = {language: frozenset(texts) for language, texts in lists.get("equal", {}).items()}
        return cls(equal, frozenset(lists.get("outright", ())))


def faults(tree: Tree) -> Iterator[Fault]:
    """Yield every fault: of the English, of each language, of the prose, then hard-coded texts."""
    texts = collect(tree)
    allowed = Allowed.read(tree.allowed())
    for module, line, text in unextracted(tree, texts):
        yield Fault(f"{module}:{line}", "not extracted (f-string, or inside another marked call)", text)
    yield from _in_english(texts)
    for language in tree.languages:
        yield from _in_catalogue(tree, language, texts, allowed)
    yield from _in_prose(tree)
    yield from _outright(tree, allowed)


def _in_english(texts: Catalog) -> Iterator[Fault]:
    for text in _messages(texts):
        for form in forms(text.id):
            for what in oddities(form, "en"):
                yield Fault(text.locations[0][0], what, form)


def _in_catalogue(tree: Tree, language: str, texts: Catalog, allowed: Allowed) -> Iterator[Fault]:
    where = tree.name(tree.catalogue(language))
    catalogue = read(tree.catalogue(language), language)
    equal: set[str] = set()
    for text in _messages(texts):
        message = catalogue.get(_singular(text), text.context)
        if message is None or message.id != text.id or not translated(message):
            yield Fault(where, "missing", _singular(text))
            continue
        for what in _translation_faults(message, catalogue.num_plurals, language):
            yield Fault(where, what, _singular(text))
        if _untranslated(message):
            equal.add(_singular(text))
    for message in _messages(catalogue):
        if texts.get(_singular(message), message.context) is None:
            yield Fault(where, "unused", _singular(message))
    for message in catalogue.obsolete.values():
        yield Fault(where, "obsolete", _singular(message))
    permitted = allowed.equal.get(language, frozenset())
    for english in sorted(equal - permitted):
        yield Fault(where, "equal to the English", english)
    for english in sorted(permitted - equal):
        yield Fault(tree.name(tree.allowed()), f"allowed in vain for {language}", english)


def _translation_faults(message: Message, plurals: int, language: str) -> Iterator[str]:
    """Yield what is wrong with an existing translation; *plurals* is the number of plural forms of the language."""
    if message.fuzzy:
        yield "fuzzy"
    if not isinstance(message.id, str) and len(forms(message.string)) != plurals:
        yield "plural forms missing"
    if not _same_fixed_parts(message):
        yield "other placeholders or markup"
    elif not _fillable(message):
        yield "cannot be filled in"
    yield from _edges(message)
    yield from dict.fromkeys(what for form in forms(message.string) for what in oddities(form, language))


def _edges(message: Message) -> Iterator[str]:
    """Yield how a translation starts or ends differently from the English, whose forms all agree."""
    english = Edges.of(_singular(message))
    said = [Edges.of(form) for form in forms(message.string)]
    if any((edges.begins, edges.ends) != (english.begins, english.ends) for edges in said):
        yield "other spaces at the edges"
    if any(edges.punctuation != english.punctuation for edges in said):
        yield "other mark at the end"


def _in_prose(tree: Tree) -> Iterator[Fault]:
    """Yield typographic faults in help and terms."""
    for path, language in tree.prose():
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            read_line = _UNREAD.sub("\N{OBJECT REPLACEMENT CHARACTER}", line)
            for what in oddities(read_line, language):
                yield Fault(f"{tree.name(path)}:{number}", what, line)


def _outright(tree: Tree, allowed: Allowed) -> Iterator[Fault]:
    """Yield hard-coded texts of templates, modules and scripts."""
    seen: set[str] = set()
    for paths, find in (
        (tree.player_templates(), outright),
        (tree.fragments(), outright_in_fragment),
        (tree.player_modules(), spoken_by_module),
        (tree.api_modules(), spoken_to_api_clients),
        (tree.scripts(), spoken_by_script),
    ):
        for path in paths:
            for said in find(path):
                seen.add(said.text)
                if said.text not in allowed.outright:
                    yield Fault(f"{tree.name(path)}:{said.line}", "hard-coded", said.text)
    for text in sorted(allowed.outright - seen):
        yield Fault(tree.name(tree.allowed()), "allowed in vain", text)


def _messages(catalogue: Catalog) -> Iterator[Message]:
    """Return all messages except the header."""
    return (message for message in catalogue if message.id)


def _singular(message: Message) -> str:
    return forms(message.id)[0]


def _same_fixed_parts(message: Message) -> bool:
    """Return whether each form has the placeholders and markup of the English; a plural form may
    match either English form.
    """
    expected = [Counter(FIXED.findall(form)) for form in forms(message.id)]
    return all(Counter(FIXED.findall(form)) in expected for form in forms(message.string))


def _fillable(message: Message) -> bool:
    """Return whether Python can format every form; an unescaped sign as in "5 % of" would raise an error."""
    english = "".join(forms(message.id))
    names = dict.fromkeys((one or other for one, other in _NAME.findall(english)), 1)
    try:
        for form in forms(message.string):
            if "python-format" in message.flags:
                form % (names or (1,) * len(_IN_TURN.findall(form)))
            if "python-brace-format" in message.flags:
                form.format(**names)
    except (ValueError, TypeError, KeyError, IndexError):
        return False
    return True


def _untranslated(message: Message) -> bool:
    """Return whether a form equals the English; texts without letters outside of placeholders are ignored."""
    english = forms(message.id)
    return any(form in english and _LETTER.search(FIXED.sub("", form)) for form in forms(message.string))
