"""Rules for chat names and texts. This module opens no connection.

A name must not look like the house's staff. A text must be displayed as written, and must contain
no address or telephone number.

Every error message is in the active language.
"""

import re
import unicodedata
from itertools import pairwise
from typing import Final

from django.utils.translation import gettext as _

SHORTEST_NAME, LONGEST_NAME, LONGEST_TEXT = 3, 20, 200

# Letters of the house's languages in NFC, in addition to those of English.
LETTERS: Final = "A-Za-zÅÄÖåäöÆØæøĂÂÎȘȚăâîșțŞŢşţÜüẞß"
NAME: Final = re.compile(rf"[{LETTERS}0-9](?:[ ._-]?[{LETTERS}0-9])*")

# Words for the house and its staff, as they appear in a folded name. `HOUSE` is refused anywhere in
# a name. `HOUSE_WORDS` also occur inside ordinary words, so they are refused as whole words only.
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

# `UNSEEN` lists Unicode categories: control, format, surrogate, private use and unassigned
# characters, and line and paragraph separators. `BLANK` lists characters of other categories that
# show nothing.
UNSEEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANK: Final = set("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
JOINS_PICTURES: Final = "\u200d"  # zero width joiner: without it, a combined emoji shows as its parts
SELECTORS: Final = {"\ufe0e", "\ufe0f"}  # variation selectors: the same sign with or without colour

TOP_LEVEL: Final = (
    "app|at|bet|biz|casino|cc|ch|club|co|com|de|dk|edu|es|eu|fi|fr|fun|games|gg|gl|info|io|it|link|live|ly|me|net|nl|no|"
    "online|org|page|pl|ro|ru|se|shop|site|store|to|top|tv|uk|us|vip|win|ws|xyz"
)
# not followed by these words in a sentence, even after a point
CERTAIN: Final = "com|net|org|info|io|gg|xyz|online|site|casino|bet"
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
    """Nothing was stored. The message is for the reader."""


class BadName(ChatError):
    """The name is not allowed."""


class BadText(ChatError):
    """The text is not allowed."""


def readable_name(name: str) -> str:
    """Return a name as stored. Raises BadName."""
    normalised = unicodedata.normalize("NFC", name.strip())
    if not SHORTEST_NAME <= len(normalised) <= LONGEST_NAME:
        raise BadName(
            _("A name must have %(least)d to %(most)d characters.") % {"least": SHORTEST_NAME, "most": LONGEST_NAME}
        )
    if not NAME.fullmatch(normalised) or not any(letter.isalpha() for letter in normalised):
        raise BadName(
            _(
                "A name can contain letters and digits, with single spaces, full stops, hyphens or "
                "underscores between them."
            )
        )
    if _is_of_the_house(normalised):
        raise BadName(_("This name could be mistaken for a member of staff. Choose another one."))
    if _leads_away(normalised):
        raise BadName(_("A name cannot be an address or a telephone number."))
    return normalised


def readable_text(text: str) -> str:
    """Return a message as stored: one line, with single spaces. Raises BadText."""
    normalised = unicodedata.normalize("NFC", " ".join(_without_joiners(text).split()))
    if not normalised:
        raise BadText(_("Write something first."))
    if len(normalised) > LONGEST_TEXT:
        raise BadText(_("A message can have at most %(most)d characters.") % {"most": LONGEST_TEXT})
    if any(unicodedata.category(each) in UNSEEN or each in BLANK for each in normalised) or _is_stacked(normalised):
        raise BadText(_("This message contains characters that cannot be displayed. Remove them and try again."))
    if _leads_away(normalised):
        raise BadText(
            _(
                "For everyone’s safety, addresses and telephone numbers cannot be sent in the chat. "
                "Remove them from your message."
            )
        )
    return normalised


def _without_joiners(text: str) -> str:
    """Remove emoji joiners and selectors. A joiner between letters is kept, and refused later."""
    characters = [each for each in text if each not in SELECTORS]
    return "".join(
        each
        for place, each in enumerate(characters)
        if each != JOINS_PICTURES or not (place and _is_picture(characters[place - 1]))
    )


def _is_picture(letter: str) -> bool:
    return unicodedata.category(letter) in ("So", "Sk")


def _is_stacked(text: str) -> bool:
    """Return whether combining marks are stacked, or come first, beyond what any language writes."""
    categories = [unicodedata.category(each) in ("Mn", "Me") for each in text]
    return categories[0] or any(one and other for one, other in pairwise(categories))


def _is_of_the_house(name: str) -> bool:
    """Return whether a name looks like the house's staff, ignoring accents, digits for letters and separators."""
    folded = _folded(name)
    words = {_fold_lookalikes(each) for each in re.split(r"[ ._-]+", folded)}
    whole = _fold_lookalikes(re.sub(r"[ ._-]+", "", folded))
    return any(_fold_lookalikes(each) in whole for each in HOUSE.split("|")) or any(
        _fold_lookalikes(each) in words or _fold_lookalikes(each) == whole for each in HOUSE_WORDS
    )


def _folded(text: str) -> str:
    parts = unicodedata.normalize("NFKD", text.casefold())
    return "".join(each for each in parts if not unicodedata.combining(each)).replace("ø", "o").replace("æ", "a")


def _fold_lookalikes(word: str) -> str:
    """Return a word with look-alike characters replaced by one form."""
    alike = word.replace("vv", "w").replace("rn", "m").replace("cl", "d")
    return re.sub(r"(.)\1+", r"\1", alike.translate(str.maketrans("0134578l", "oieastbi")))


def _leads_away(text: str) -> bool:
    """Return whether a text contains an address or a telephone number, in whatever notation."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(
        each if (digit := unicodedata.decimal(each, None)) is None else str(digit)
        for each in plain
        if unicodedata.category(each) != "Me"
    ).replace("。", ".")
    if any(address.search(plain) for address in ADDRESSES):
        return True
    return any(not A_SUM.fullmatch(found[0]) for found in A_NUMBER.finditer(plain))
