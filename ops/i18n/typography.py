"""Typography by language: letters, quotation marks, apostrophes, percent signs, final punctuation."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from babel.numbers import format_percent

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
