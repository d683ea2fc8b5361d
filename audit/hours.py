"""What the house did is summed up hour by hour, once nothing more can be written into an hour: so reports over millions
of rounds read a few thousand rows, and a sum is never changed.

A row is written at the time that its own statement reads, and seen when its transaction has ended, in any order. So a
task marks the moment now and then, with the transaction that would begin next (`Mark`): when all transactions before
that one have ended, whatever was written before the mark is in sight. `MARGIN` is for a statement that read the time
and has not begun to write.

What is summed up, the floors above register when they are ready (`register`).
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

HOUR: Final = timedelta(hours=1)
MARGIN: Final = timedelta(minutes=1)

Roll = Callable[[datetime], int]
"""Sums up the hour that begins then, in the current transaction, and returns how many rows it read."""
First = Callable[[], datetime | None]
"""Says when the first row was written, None where there is none."""


def register(sums: str, *, roll: Roll, first: First) -> None:
    """Have every hour summed up by *roll* once it is over, from that of *first* on."""
    raise NotImplementedError


def mark() -> None:
    """Set a mark now, and drop those that no longer serve."""
    raise NotImplementedError


def settled() -> datetime | None:
    """Return a moment before which every row written is in sight; None where no mark says so yet."""
    raise NotImplementedError


def rolled_until(sums: str) -> datetime | None:
    """Return the end of the last hour that is summed up without a gap, None where none is."""
    raise NotImplementedError


def roll_due() -> int:
    """Sum up every hour that is over and settled, one transaction each, and return how many. Two at once do it once."""
    raise NotImplementedError
