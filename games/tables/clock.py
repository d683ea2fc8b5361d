"""The pace of a shared table in milliseconds, as its version sets it, and the time of the database clock."""

from dataclasses import asdict, dataclass, fields
from datetime import datetime, timedelta

from django.db import connection

SHORTEST, LONGEST = 100, 600_000
"""The shortest and longest phase of a table."""

LONGEST_SILENCE = "60s"
"""A session that keeps a round locked and idles this long is terminated, and its work rolled back."""


class ClockError(ValueError):
    """An invalid pace, as a sentence for staff."""


@dataclass(frozen=True)
class Clock:
    """Durations of the phases of a round, in milliseconds."""

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
        """Return the form that a table version stores."""
        return asdict(self)

    def dealing(self, cards: int) -> timedelta:
        """Return how long it takes to turn this many cards, until they are paid."""
        return timedelta(milliseconds=self.card * cards)

    def turned(self, elapsed: timedelta) -> int:
        """Return how many cards are face up after *elapsed*, not limited to the cards of the deal."""
        return max(0, elapsed // timedelta(milliseconds=self.card) + 1)


def now() -> datetime:
    """Return the current time of the database clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (moment,) = cursor.fetchone()
    return moment
