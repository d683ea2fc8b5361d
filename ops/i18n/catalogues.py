"""Message catalogues on disk: reading, updating, writing, compiling."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Final

from babel import Locale
from babel.messages import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from ops.i18n.sources import compiled

WIDTH: Final = 120

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
    kept = sum(1 for message in old if message.id and new.get(forms(message.id)[0], message.context) is not None)
    return Update(
        language=language,
        added=len(new) - kept,
        dropped=len(old) - kept + len(old.obsolete),
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
