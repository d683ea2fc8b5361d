"""How each language sets its texts: letters, quotation marks, apostrophes, percentages, the mark at the end."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from babel.numbers import format_percent

# What a text has filled in, %(name)s or {name}, and its markup: a translation moves these and never changes them.
FIXED: Final = re.compile(
    r"%\(\w+\)[#0+-]*\d*(?:\.\d+)?[a-z]|%[sd]|%%|\{\w*(?:![rsa])?(?::[^{}]*)?\}|&#?\w+;|</?\w[^>]*>"
)
# Letters that look right and are not: the Turkish s and t with a cedilla in place of the Romanian ones with a comma.
WRONG_LETTERS: Final = {"ro": "şţŞŢ"}
# Signs a language has no use for. Typewriter quotes are none's; the others are the quotation marks of its neighbours.
WRONG_SIGNS: Final = {
    "en": "\"'„«»",
    "sv": "\"'“„«",
    "da": "\"'“„",
    "ro": "\"'“",
    "de": "\"'”",
}
# Common words as they look when the diacritics were forgotten; none of them is another Romanian word.
BARE_ROMANIAN: Final = frozenset(
    {
        *("si", "ati", "daca", "fara", "dupa", "catre", "inainte", "numar", "urmatorul", "urmatoarea"),
        *("carti", "cartile", "castig", "castiga", "castigul", "jucator", "jucatorul", "bancii", "platit", "plateste"),
        *("aveti", "puteti", "sunteti", "alegeti", "apasati", "asteptati", "incercati", "pariati"),
    }
)
MARKS: Final = ".:…?!"

_FILLED_IN: Final = "\ufffc"  # stands where a value will
_ASCII_ELLIPSIS: Final = "..."
_SPACE_BEFORE: Final = re.compile(r"\s[.,;:!?](?=\s|$)")
_PERCENT: Final = re.compile(r"(?<=\d)(\s?)%(?![(sd%])")
_WORD: Final = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Edges:
    """How a text begins and ends: whether with a space, and with which mark."""

    begins: bool
    ends: bool
    mark: str

    @classmethod
    def of(cls, text: str) -> "Edges":
        """Return the edges of *text*; the point of an abbreviation ("No.") is no mark."""
        last = text.rstrip()[-1:]
        abbreviated = last == "." and " " not in text.strip()
        return cls(text[:1].isspace(), text[-1:].isspace(), last if last in MARKS and not abbreviated else "")


def oddities(text: str, language: str) -> Iterator[str]:
    """Yield what *text* has that *language* does not write, whatever it says."""
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
    """Return what stands between a figure and its percent sign (CLDR): nothing, or a space that does not break."""
    written: str = format_percent(0.01, locale=language)
    return written.removeprefix("1").removesuffix("%")
