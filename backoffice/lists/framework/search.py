"""Search of a list.

It accepts only exact values that an index finds, so no search reads a whole table.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

LARGEST: Final = 2**63 - 1  # largest number that the column holds
DIGITS: Final = re.compile(r"[0-9]{1,19}")
KIND: Final = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
SUBJECT: Final = re.compile(r"[a-z_]+:[^\s]+")


@dataclass(frozen=True)
class Find:
    """One way to find rows: its label, its field, and a function that reads the search text.

    *read* returns None if the text is something else.
    """

    name: str
    field: str
    read: Callable[[str], Any]

    def condition(self, typed: str) -> Q | None:
        """Return the condition for *typed*, None if this way does not understand it."""
        value = self.read(typed)
        return None if value is None else Q(**{self.field: value})


def number(typed: str) -> int | None:
    """Return a number, None if the text is not one."""
    return int(typed) if DIGITS.fullmatch(typed) and int(typed) <= LARGEST else None


def unique_id(typed: str) -> UUID | None:
    """Return a UUID in any notation, None if the text is not one."""
    try:
        return UUID(typed)
    except ValueError:
        return None


def called(what: str) -> Callable[[str], int | None]:
    """Return a function that reads ``what:12``, as written in events."""

    def read(typed: str) -> int | None:
        before, _, after = typed.lower().partition(":")
        return number(after.strip()) if before == what else None

    return read


def kind(typed: str) -> str | None:
    """Return the kind of an event or an approval: ``round.voided``."""
    return typed if KIND.fullmatch(typed) else None


def subject(typed: str) -> str | None:
    """Return the subject of an event: ``player:12``, ``table:3``."""
    return typed if SUBJECT.fullmatch(typed) else None
