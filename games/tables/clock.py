"""The pace of a shared table, as its version sets it, in milliseconds; and the time, which is the database's."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta

from django.db import connection

SHORTEST, LONGEST = 100, 600_000
"""What no phase of a table is shorter or longer than."""

LONGEST_SILENCE = "60s"
"""Whoever keeps a round locked and says nothing to PostgreSQL for so long is cut off, and has done nothing."""


class ClockError(ValueError):
    """A pace no table can keep, in a sentence for staff."""


@dataclass(frozen=True)
class Clock:
    """How long each phase of a round lasts."""

    betting: int  # from the opening to NO MORE BETS
    call: int  # from NO MORE BETS to the first card
    card: int  # from one card to the next, and from the last card to the payouts
    pause: int  # from the payouts to the next opening

    @classmethod
    def of(cls, stored: dict[str, int]) -> "Clock":
        """Read the clock of a table version. Raises ClockError."""
        names = [field.name for field in fields(cls)]
        if stored.keys() != set(names):
            raise ClockError(f"A clock has {', '.join(names)}, in milliseconds, and nothing else.")
        for name, value in stored.items():
            if type(value) is not int or not SHORTEST <= value <= LONGEST:
                raise ClockError(f"{name}: from {SHORTEST} to {LONGEST} milliseconds, not {value}.")
        return cls(**stored)

    def stored(self) -> dict[str, int]:
        """Return what a table version keeps."""
        return asdict(self)

    def dealing(self, cards: int) -> timedelta:
        """How long it takes to turn so many cards up, until they are paid."""
        return timedelta(milliseconds=self.card * cards)

    def turned(self, elapsed: timedelta) -> int:
        """How many cards of a deal lie open so long after it began, if there are as many."""
        return max(0, elapsed // timedelta(milliseconds=self.card) + 1)


def now() -> datetime:
    """Return the time by the database's clock, as it stands."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return moment
