"""What a register of excluded people is asked and answers."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Protocol

from players.models import Player


@dataclass(frozen=True)
class Person:
    """Who a register is asked about. Names are empty until the player's identity is known."""

    player_id: int
    jurisdiction: str
    birth_date: date
    first_name: str = ""
    last_name: str = ""


@dataclass(frozen=True)
class Finding:
    """Whether the register keeps this person from playing; *until* where it tells."""

    is_excluded: bool
    until: datetime | None = None


CLEAR = Finding(is_excluded=False)


class RegisterUnreachable(Exception):
    """The register did not answer, or nothing that can be understood. Nobody plays on a guess."""


class Register(Protocol):
    """One register. It is asked once per session and holds no state of a player."""

    name: str  # as it stands on record, 40 characters at most

    def check(self, person: Person) -> Finding:
        """Look *person* up, within a few seconds. Raises RegisterUnreachable."""
        ...


def person_of(player: Player) -> Person:
    """Return what is known of a player."""
    return Person(player_id=player.pk, jurisdiction=player.jurisdiction_id, birth_date=player.birth_date)
