"""What is significant is found in the order of the event log's leaves, each read once by each finder. The floors above
register finders when they are ready, since the ground floor knows neither money nor players.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from audit.models import Category, Weight


@dataclass(frozen=True)
class Leaves:
    """Leaves *first* up to, not including, *end* of the event log."""

    first: int
    end: int


@dataclass(frozen=True)
class Found:
    """Something significant. *key* names it: found again, it stays one. *rows* are what it follows from, each with
    headings and values as staff read them.
    """

    key: str
    category: Category
    weight: Weight
    on: str
    title: str
    happened_at: datetime
    event: int | None = None
    currency: str = ""
    amount: int | None = None  # minor units
    because: str = ""
    rows: Sequence[Mapping[str, str]] = field(default=())


Finder = Callable[[Leaves], Iterable[Found]]


def register(name: str, finder: Finder) -> None:
    """Have *finder* read every leaf of the event log once, in order, from now on."""
    raise NotImplementedError


def register_kinds(categories: Mapping[str, tuple[Category, Weight]]) -> None:
    """Say which kinds of events are significant by themselves, each an exact kind as it stands in the log."""
    raise NotImplementedError


def find() -> int:
    """Have every finder read what has been sealed since, and return how much was found. Two at once find it once."""
    raise NotImplementedError
