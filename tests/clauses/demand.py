"""One requirement of a clause, and the evidence for it."""

from dataclasses import dataclass
from datetime import date
from enum import Enum
from typing import Final

READ: Final = date(2026, 11, 22)
"""The day on which the second reader had read all of them."""


class Met(Enum):
    """Degree to which the house meets a requirement."""

    YES = "met"
    PARTLY = "partly"
    NO = "not met"
    OUTSIDE = "not applicable"  # it does not apply to a house like this, or is a duty of the operator alone


@dataclass(frozen=True)
class Demand:
    """Something a clause asks for, in our words.

    Attributes:
        clause: Its number in the standard, several where they ask for the same: "2.4.1, 4.15.1". National rules: "SE".
        asks: What is asked, in our words.
        tests: Names of the tests that show it, each of them once in all of the tests; without their parameters.
        found: What the second reader found, reading those tests against the clause, and what was done about it.
        met: Whether all of it is met.
        left: What is not, why, and when it will be; why it does not apply; nothing where it is met.
        page: Where a person can look at it, or "".
        read: When it was read.
    """

    clause: str
    asks: str
    tests: tuple[str, ...]
    found: str
    met: Met = Met.YES
    left: str = ""
    page: str = ""
    read: date = READ

    @property
    def numbers(self) -> tuple[str, ...]:
        """The clauses it belongs to."""
        return tuple(self.clause.split(", "))


@dataclass(frozen=True)
class Chapter:
    """Demands that belong together, under one heading of the page."""

    title: str
    demands: tuple[Demand, ...]
