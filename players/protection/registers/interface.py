"""Interface of exclusion registers."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from players.models import Player


@dataclass(frozen=True)
class Person:
    """The person that a register is asked about. Names are empty until the identity is known."""

    player_id: int
    jurisdiction: str
    birth_date: date
    first_name: str = ""
    last_name: str = ""


@dataclass(frozen=True)
class Finding:
    """Whether the register excludes this person, and *until* when if it says so."""

    is_excluded: bool
    until: datetime | None = None


CLEAR = Finding(is_excluded=False)


class RegisterUnreachable(Exception):
    """The register gave no valid answer. The player may not play without one."""


class Register(Protocol):
    """An exclusion register. It is asked once per session and holds no state of a player."""

    name: str  # recorded with each answer, 40 characters at most

    def check(self, person: Person) -> Finding:
        """Look *person* up, within a few seconds. Raises RegisterUnreachable."""
        ...


def person_of(player: Player) -> Person:
    """Return the known data of a player."""
    return Person(player_id=player.pk, jurisdiction=player.jurisdiction_id, birth_date=player.birth_date)
