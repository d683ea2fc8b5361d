"""Sections of the back office, used for pages and lists."""

from enum import StrEnum


class Section(StrEnum):
    """A group of pages and lists, in the order of the menu."""

    PEOPLE = "People"
    MONEY = "Money"
    GAMES = "Games"
    COMPLIANCE = "Compliance"
    HOUSE = "House"
