"""Parses help pages into text, tables and sections."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser

from django.test import Client

NOT_PROSE = {"table", "figure", "nav", "details"}
VOID = {"br", "img", "input", "meta", "link"}


@dataclass
class Tag:
    """An element of the page with its children."""

    name: str
    attributes: dict[str, str]
    inside: list[Tag | str] = field(default_factory=list)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    @property
    def text(self) -> str:
        """All text in the element, with single spaces."""
        parts = (part if isinstance(part, str) else part.text for part in self.inside)
        return re.sub(r"[ \t\n]+", " ", "".join(parts)).strip()

    def all(self, name: str = "", *classes: str) -> list[Tag]:
        """Return every descendant with this name and all of these classes."""
        found = []
        for part in self.inside:
            if isinstance(part, Tag):
                if name in ("", part.name) and set(classes) <= part.classes:
                    found.append(part)
                found += part.all(name, *classes)
        return found

    def one(self, name: str = "", *classes: str) -> Tag:
        """Return the only such element."""
        (found,) = self.all(name, *classes)
        return found

    @property
    def rows(self) -> list[list[str]]:
        """Return the rows of the table body, cell by cell."""
        return [[cell.text for cell in row.inside if isinstance(cell, Tag)] for row in self.one("tbody").all("tr")]

    def words(self) -> list[str]:
        """Return the words of the prose without tables, examples and lists of contents."""
        return [word for word in " ".join(self._prose()).split() if re.search(r"\w", word)]

    def _prose(self) -> list[str]:
        found = []
        for part in self.inside:
            if isinstance(part, str):
                found.append(part)
            elif part.name not in NOT_PROSE:
                found += part._prose()
        return found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open = [Tag("page", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Tag(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop().name == tag

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


def parsed(html: str) -> Tag:
    """Return the elements of an HTML text."""
    reader = _Reader()
    reader.feed(html)
    return reader.open[0]


def help_page(language: str, slug: str) -> Tag:
    """Return a game's public help page."""
    answer = Client().get(f"/{language}/help/{slug}/")
    assert answer.status_code == 200
    return parsed(answer.text).one("main")


@cache
def help_without_tables(language: str, slug: str) -> Tag:
    """Return a game's help without any tables in the database; it is cached."""
    return help_page(language, slug)


SUITS = {"clubs": "C", "diamonds": "D", "hearts": "H", "spades": "S"}


def shown_cards(hand: Tag) -> list[str]:
    """Return the codes of the cards drawn in a small hand."""
    codes = []
    for card in hand.all("span", "mini"):
        (suit,) = (each.removeprefix("mini--") for each in card.classes - {"mini"})
        codes.append(("T" if card.text == "10" else card.text) + SUITS[suit])
    return codes
