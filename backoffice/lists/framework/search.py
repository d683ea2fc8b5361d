"""What can be typed into a list's search: exactly what an index finds, so that no search reads a table from end to
end.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

LARGEST: Final = 2**63 - 1  # of a number that the database keeps
DIGITS: Final = re.compile(r"[0-9]{1,19}")
KIND: Final = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
SUBJECT: Final = re.compile(r"[a-z_]+:[^\s]+")


@dataclass(frozen=True)
class Find:
    """A way to find rows: what staff call it, the field it stands in, and what reads it out of what was typed (None
    where that is something else).
    """

    name: str
    field: str
    read: Callable[[str], Any]

    def condition(self, typed: str) -> Q | None:
        """Return what keeps the rows that *typed* names, None where it names none in this way."""
        value = self.read(typed)
        return None if value is None else Q(**{self.field: value})


def number(typed: str) -> int | None:
    """Read a number."""
    return int(typed) if DIGITS.fullmatch(typed) and int(typed) <= LARGEST else None


def unique_id(typed: str) -> UUID | None:
    """Read a UUID, however it is written."""
    try:
        return UUID(typed)
    except ValueError:
        return None


def called(what: str) -> Callable[[str], int | None]:
    """Return what reads ``what:12`` as events write it."""

    def read(typed: str) -> int | None:
        before, _, after = typed.lower().partition(":")
        return number(after.strip()) if before == what else None

    return read


def kind(typed: str) -> str | None:
    """Read the kind of an event or an approval: ``round.voided``."""
    return typed if KIND.fullmatch(typed) else None


def subject(typed: str) -> str | None:
    """Read whom or what an event is about: ``player:12``, ``table:3``."""
    return typed if SUBJECT.fullmatch(typed) else None
