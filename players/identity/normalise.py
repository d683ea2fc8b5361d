"""When two ways of writing are one and the same: names, numbers, addresses, as people and offices write them.

Pure: what is compared, `players.identity.duplicates` decides. Too wide is better than too narrow, since a person looks
at what is found.
"""

import re
import unicodedata

import phonenumbers

# Letters that Unicode does not take apart into a letter and its mark.
LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
# Machine-readable lines of passports write Ü as UE, Å as AA (ICAO 9303-3, 6); people drop the mark.
DIGRAPHS = re.compile(r"(?<=[aou])e|(?<=a)a")


def words(text: str) -> list[str]:
    """Return the words of *text* as bare lower-case letters and digits: "Åsa Müller-Lüdenscheidt" is asa, muller,
    ludenscheidt, and so is "AASA MUELLER LUEDENSCHEIDT".
    """
    parts = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    bare = "".join(part for part in parts if not unicodedata.combining(part)).translate(LETTERS)
    return [DIGRAPHS.sub("", word) for word in re.findall(r"[^\W_]+", re.sub(r"['’`´]", "", bare))]


def name(*parts: str) -> str:
    """Return a name in which neither case, accents nor the order of its words count."""
    return " ".join(sorted(word for part in parts for word in words(part)))


def text(value: str) -> str:
    """Return *value* without case, accents, marks and spaces."""
    return "".join(words(value))


def number(value: str) -> str:
    """Return the number of a document: its letters and digits, in capitals."""
    return "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKC", value))).upper()


def phone(value: str, country: str) -> str | None:
    """Return a telephone number as +46701234567, read as one of *country* where it has no international prefix; None
    where nobody can have it.
    """
    try:
        read = phonenumbers.parse(value, country)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(read) or read.extension:
        return None
    return phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164)
