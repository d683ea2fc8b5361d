"""What the back office's pages and lists are about: both are found under the same five words."""

from enum import StrEnum


class Section(StrEnum):
    """A group of pages and lists; the back office shows them in this order."""

    PEOPLE = "People"
    MONEY = "Money"
    GAMES = "Games"
    COMPLIANCE = "Compliance"
    HOUSE = "House"
