"""All ways in which the product writes a card, and a search for them in any text."""

import html
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby

from django.conf import settings
from django.utils.translation import override

from games.engine.cards import FULL_DECK, RANK_LETTERS, SUIT_LETTERS, Card, Suit
from games.labels import card_name

LANGUAGES = [code for code, _name in settings.LANGUAGES]
CODE = re.compile(rf"(?<![A-Za-z0-9])[{RANK_LETTERS}][{SUIT_LETTERS}](?![A-Za-z0-9])")
SIGN = re.compile(rf"(?<![A-Za-z0-9])(10|[{RANK_LETTERS}])\s?([{''.join(suit.symbol for suit in Suit)}])")
DRAWN = re.compile(r'class="card card--(\w+)[^>]*>\s*<span class="card__face"><span class="card__rank">(\w+)<')
ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


@cache
def names() -> Mapping[str, Card]:
    """Return the name of each card in each language."""
    found: dict[str, Card] = {}
    for language in LANGUAGES:
        with override(language):
            found |= {card_name(card).casefold(): card for card in FULL_DECK}
    return found


@cache
def any_name() -> re.Pattern[str]:
    """Return a pattern of all names, by first letter: 260 alternatives one after the other would take ten times as
    long.
    """
    longest_first = sorted(names(), key=lambda name: (name[0], -len(name)))
    by_letter = (
        f"{re.escape(letter)}(?:{'|'.join(re.escape(name[1:]) for name in alike)})"
        for letter, alike in groupby(longest_first, key=lambda name: name[0])
    )
    return re.compile(r"\b(?:" + "|".join(by_letter) + r")\b")


@lru_cache(maxsize=20_000)  # most rows and pages are the same each time
def cards_in(text: str) -> frozenset[Card]:
    """Return all cards in a text, written as code, name, symbol or drawing."""
    plain = html.unescape(ESCAPED.sub(lambda found: chr(int(found[1], 16)), text))
    return frozenset(_cards(plain))


def _cards(plain: str) -> Iterator[Card]:
    for code in CODE.findall(plain):
        yield Card.parse(code)
    for rank, symbol in SIGN.findall(plain):
        yield Card.parse(_rank(rank) + next(suit.letter for suit in Suit if suit.symbol == symbol))
    for suit, rank in DRAWN.findall(plain):
        yield Card.parse(_rank(rank) + next(each.letter for each in Suit if each.name == suit.upper()))
    for name in any_name().findall(plain.casefold()):
        yield names()[name]


def _rank(shown: str) -> str:
    return "T" if shown == "10" else shown
