"""What may stand in the chat: names that are nobody else's nor the house's, and words that show themselves as they are
and lead nowhere. Nothing here opens a connection.

Every message of an error is a sentence in the active language.
"""

import re
import unicodedata
from itertools import pairwise
from typing import Final

from django.utils.translation import gettext as _

SHORTEST_NAME, LONGEST_NAME, LONGEST_TEXT = 3, 20, 200

# Letters of the house's languages, in NFC, beside those of English.
LETTERS: Final = "A-Za-zÅÄÖåäöÆØæøĂÂÎȘȚăâîșțŞŢşţÜüẞß"
NAME: Final = re.compile(rf"[{LETTERS}0-9](?:[ ._-]?[{LETTERS}0-9])*")

# Words of the house and of those who work in it, as a name that was folded would have them: anywhere in it, or as a
# word of its own where they are part of ordinary ones.
HOUSE: Final = (
    "sabot|casino|kasino|admin|moderator|support|supervisor|operator|croupier|crupier|dealer|kundtjanst|kundeservice|"
    "kundendienst|kundenservice|security|official|officiel|offiziell|oficial|sakerhet"
)
HOUSE_WORDS: Final = {
    "house",
    "staff",
    "mod",
    "mods",
    "team",
    "system",
    "service",
    "haus",
    "hus",
    "huset",
    "casa",
    "bank",
}

# What Unicode calls control and format characters, halves of characters, private and unknown ones, and breaks of lines;
# and letters and a pattern that show nothing all the same.
UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANK: Final = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
JOINS_PICTURES: Final = "\u200d"  # emoji of several parts show as these parts
SELECTORS: Final = {"\ufe0e", "\ufe0f"}  # the same sign with or without colour

TOP_LEVEL: Final = (
    "app|at|bet|biz|casino|cc|ch|club|co|com|de|dk|edu|es|eu|fi|fr|fun|games|gg|gl|info|io|it|link|live|ly|me|net|nl|no|"
    "online|org|page|pl|ro|ru|se|shop|site|store|to|top|tv|uk|us|vip|win|ws|xyz"
)
CERTAIN: Final = "com|net|org|info|io|gg|xyz|online|site|casino|bet"  # no words of a sentence after a point
ADDRESSES: Final = (
    re.compile(r"[a-z]{2,}\s*:\s*/\s*/|\bwww\s*\."),
    re.compile(rf"[\w-]\s*\.(?:{TOP_LEVEL})\b"),
    re.compile(rf"[\w-]\s+\.\s+(?:{CERTAIN})\b"),
    re.compile(r"[\w-]\s*[(\[{<]?\s*(?:\.|\bdot\b|\bpunkt\b|\bpunct\b|\bprick\b)\s*[)\]}>]?\s*(?:com|net|org)\b"),
    re.compile(r"[\w.]\s*[(\[{<]\s*(?:dot|punkt|punct|prick|\.)\s*[)\]}>]\s*\w"),
    re.compile(r"@\s*\w|[(\[{<]\s*(?:at|ät)\s*[)\]}>]"),
)
A_NUMBER: Final = re.compile(r"\+?\d(?:[\s.,/()+*#_|-]{0,3}\d){6,}")
A_SUM: Final = re.compile(r"[1-9]\d{0,2}(?:([ .,’'])\d{3})(?:\1\d{3})*(?:[.,]\d{1,2})?")


class ChatError(Exception):
    """Nothing was written. The message is for the reader."""


class BadName(ChatError):
    """Not a name to be read under."""


class BadText(ChatError):
    """Not a message."""


def readable_name(name: str) -> str:
    """Return a name as it is kept. Raises BadName."""
    kept = unicodedata.normalize("NFC", name.strip())
    if not SHORTEST_NAME <= len(kept) <= LONGEST_NAME:
        raise BadName(
            _("A name has %(least)d to %(most)d characters.") % {"least": SHORTEST_NAME, "most": LONGEST_NAME}
        )
    if not NAME.fullmatch(kept) or not any(letter.isalpha() for letter in kept):
        raise BadName(
            _("A name is made of letters and digits, with single spaces, points, hyphens or underscores between.")
        )
    if _is_of_the_house(kept):
        raise BadName(_("This name could be taken for a member of staff. Choose another one."))
    if _leads_away(kept):
        raise BadName(_("A name cannot be an address or a telephone number."))
    return kept


def readable_text(text: str) -> str:
    """Return a message as it is kept: one line, with single spaces. Raises BadText."""
    kept = unicodedata.normalize("NFC", " ".join(_without_joiners(text).split()))
    if not kept:
        raise BadText(_("Write something first."))
    if len(kept) > LONGEST_TEXT:
        raise BadText(_("A message has at most %(most)d characters.") % {"most": LONGEST_TEXT})
    if any(unicodedata.category(each) in UNSEEN or each in BLANK for each in kept) or _is_stacked(kept):
        raise BadText(_("There are characters in this message that cannot be shown. Write it with ordinary ones."))
    if _leads_away(kept):
        raise BadText(_("Addresses and telephone numbers cannot be sent here, for everybody’s safety. Leave them out."))
    return kept


def _without_joiners(text: str) -> str:
    """Take out what only tells how pictures are drawn; between letters it stays, and is refused."""
    kept = [each for each in text if each not in SELECTORS]
    return "".join(
        each
        for place, each in enumerate(kept)
        if each != JOINS_PICTURES or not (place and _is_picture(kept[place - 1]))
    )


def _is_picture(letter: str) -> bool:
    return unicodedata.category(letter) in ("So", "Sk")


def _is_stacked(text: str) -> bool:
    """Say whether marks stand on marks, or on nothing, beyond what any language writes."""
    marks = [unicodedata.category(each) in ("Mn", "Me") for each in text]
    return marks[0] or any(one and other for one, other in pairwise(marks))


def _is_of_the_house(name: str) -> bool:
    """Say whether a name reads like the house's: accents, figures for letters and what parts letters make no
    difference.
    """
    folded = _folded(name)
    words = {_looks(each) for each in re.split(r"[ ._-]+", folded)}
    whole = _looks(re.sub(r"[ ._-]+", "", folded))
    return any(_looks(each) in whole for each in HOUSE.split("|")) or any(
        _looks(each) in words or _looks(each) == whole for each in HOUSE_WORDS
    )


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each)).replace("ø", "o").replace("æ", "a")


def _looks(word: str) -> str:
    """Return a word with all that can be taken for each other made the same."""
    alike = word.replace("vv", "w").replace("rn", "m").replace("cl", "d")
    return re.sub(r"(.)\1+", r"\1", alike.translate(str.maketrans("0134578l", "oieastbi")))


def _leads_away(text: str) -> bool:
    """Say whether a text holds an address or a telephone number, however they are written."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(
        each if (digit := unicodedata.decimal(each, None)) is None else str(digit)
        for each in plain
        if unicodedata.category(each) != "Me"
    ).replace("。", ".")
    if any(address.search(plain) for address in ADDRESSES):
        return True
    return any(not A_SUM.fullmatch(found[0]) for found in A_NUMBER.finditer(plain))
