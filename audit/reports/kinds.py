"""Which reports there are. The floors above register theirs when they are ready; each says its columns and gives its
rows, and the frame does the rest: heading, interval, screen, files, hash.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

Cell: TypeAlias = str | int | None
"""Text; a number; minor units; a moment as ISO 8601 in UTC; a share of one as text ("0.9876"); nothing at all."""
Row: TypeAlias = Sequence[Cell]

CURRENCY: Final = "currency"  # name of the column that says of which currency the amounts of a row are


class Form(StrEnum):
    """How a cell of a column is written."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"  # minor units of the currency in the row's column "currency"
    SHARE = "share"  # of one, as text with as many decimals as are known; shown in per cent
    TIME = "time"  # ISO 8601 in UTC; shown in the time zone that was asked for


FIGURES: Final = frozenset({Form.NUMBER, Form.MONEY, Form.SHARE})  # which stand to the right


@dataclass(frozen=True)
class Column:
    """A column: how programs call it, its heading, how its cells are written."""

    name: str
    heading: str
    form: Form = Form.TEXT


@dataclass(frozen=True)
class Interval:
    """From *since* on, and before *until*; both in UTC."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Choice:
    """Something else that can be chosen: a field of the form, with what may be chosen ("" for all) and how it reads;
    without *options* something has to be written there, and the kind says what it makes of it.
    """

    name: str
    heading: str
    options: Callable[[], Sequence[tuple[str, str]]] | None

    def named(self) -> dict[str, str]:
        """Return how each value that can be chosen reads."""
        return dict(self.options()) if self.options else {}


@dataclass(frozen=True)
class Asked:
    """What is asked for."""

    interval: Interval
    choices: Mapping[str, str]
    zone: str  # IANA name of the time zone in which days begin


@dataclass(frozen=True)
class Answer:
    """What a report says: its rows, lazily; how many there will be, where that is known; the sums below them, of the
    same columns; and notes in sentences.
    """

    rows: Iterable[Row]
    of: int | None = None
    totals: Callable[[], Sequence[Row]] = tuple  # asked for when all rows have been read
    notes: Callable[[], Sequence[str]] = tuple


@dataclass(frozen=True)
class Kind:
    """A report: its name in addresses, its title, what it is for, what of GLI-19 it answers ("" where it is ours)."""

    name: str
    title: str
    purpose: str
    clause: str  # in full: "GLI-19 v3.0, 2.9.5"
    columns: Sequence[Column]
    answer: Callable[[Asked], Answer]
    permission: str = "audit.view_report"  # app.codename; besides that one
    choices: Sequence[Choice] = ()
    is_daily: bool = True  # made every day for the day before
    names_players: bool = False  # whom its rows name ("player:12") is put on record as seen by who reads it


class CannotMake(Exception):
    """A report cannot be made as it was asked for. The message is a sentence for staff; an `Answer` may raise it."""


OURS: Final = frozenset({"zone", "period", "since", "until"})  # fields of every form, which no kind can have again

_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Make *kind* something that can be asked for; an app does so once, when it is ready. Raises ValueError where the
    frame could not write it.
    """
    names = [column.name for column in kind.columns]
    if any(column.form is Form.MONEY for column in kind.columns) and CURRENCY not in names:
        raise ValueError(f"report {kind.name}: money needs a column {CURRENCY}")
    if taken := OURS.intersection(choice.name for choice in kind.choices):
        raise ValueError(f"report {kind.name}: {', '.join(sorted(taken))} is chosen in every report")
    _kinds[kind.name] = kind


def kind_of(name: str) -> Kind | None:
    """Return the kind of that name, None where there is none, or none any more."""
    return _kinds.get(name)


def all_kinds() -> Sequence[Kind]:
    """Return every kind, in the order of registration."""
    return tuple(_kinds.values())
