"""Normalisation of names, numbers, addresses and phone numbers, so that equal ones compare equal.

Pure functions; `players.identity.duplicates` decides what is compared. A false match is better than
a missed one, because staff review each match.
"""

import re
import unicodedata

import phonenumbers

# Letters that Unicode normalisation does not decompose.
LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})
# Machine-readable lines of passports write Ü as UE, Å as AA (ICAO 9303-3, 6); people drop the diacritic.
DIGRAPHS = re.compile(r"(?<=[aou])e|(?<=a)a")


def words(text: str) -> list[str]:
    """Return the words of *text* in lower case, without diacritics and digraphs.

    "Åsa Müller-Lüdenscheidt" gives asa, muller, ludenscheidt, and so does "AASA MUELLER
    LUEDENSCHEIDT".
    """
    parts = unicodedata.normalize("NFKD", text.casefold().translate(LETTERS))
    bare = "".join(part for part in parts if not unicodedata.combining(part)).translate(LETTERS)
    return [DIGRAPHS.sub("", word) for word in re.findall(r"[^\W_]+", re.sub(r"['’`´]", "", bare))]


def name(*parts: str) -> str:
    """Return a name without case, diacritics and word order."""
    return " ".join(sorted(word for part in parts for word in words(part)))


def text(value: str) -> str:
    """Return *value* without case, diacritics, punctuation and spaces."""
    return "".join(words(value))


def number(value: str) -> str:
    """Return a document number: its letters and digits, in capitals."""
    return "".join(re.findall(r"[^\W_]", unicodedata.normalize("NFKC", value))).upper()


def national_number(value: str, country: str) -> str:
    """Return a national number with its country, however it is punctuated: "SE:9001011234". Empty if it is empty.

    Swedes write theirs with or without the century.
    """
    digits = re.sub(r"\D", "", unicodedata.normalize("NFKC", value))
    return f"{country}:{digits[-10:] if country == 'SE' else digits}" if digits else ""


def phone(value: str, country: str) -> str | None:
    """Return a telephone number in E.164 format, such as +46701234567; None if it is not a possible number.

    A number without an international prefix is read as one of *country*.
    """
    try:
        read = phonenumbers.parse(value, country)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(read) or read.extension:
        return None
    return phonenumbers.format_number(read, phonenumbers.PhoneNumberFormat.E164)
