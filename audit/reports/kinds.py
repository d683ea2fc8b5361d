"""Registry of report kinds. Other apps register theirs when they are ready. A kind defines columns
and rows; the framework adds heading, interval, screen, files and hash.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, TypeAlias

from audit.staff_text import Stored

Cell: TypeAlias = str | int | Stored | None
"""Text; a number; minor units; an ISO 8601 time in UTC; a share of one as text ("0.9876"); a sentence as
`audit.staff_text` stores it; or None."""
Row: TypeAlias = Sequence[Cell]

CURRENCY: Final = "currency"  # name of the column with the currency of a row's amounts


class Form(StrEnum):
    """Format of a column's cells."""

    TEXT = "text"
    WORD = "word"  # an English word or phrase of ours: in files as it is, on pages in the reader's language
    NUMBER = "number"
    ID = "id"  # number of a thing, such as an event; shown without separators
    MONEY = "money"  # minor units of the currency in the row's "currency" column
    SHARE = "share"  # of one, as text with all known decimals; shown in per cent
    TIME = "time"  # ISO 8601 in UTC; shown in the requested time zone


TEXTS: Final = frozenset({Form.TEXT, Form.WORD})
FIGURES: Final = frozenset({Form.NUMBER, Form.ID, Form.MONEY, Form.SHARE})  # right-aligned


@dataclass(frozen=True)
class Column:
    """A column: name for API clients, heading, format."""

    name: str
    heading: str
    form: Form = Form.TEXT


@dataclass(frozen=True)
class Interval:
    """From *since* (inclusive) until *until* (exclusive), both in UTC."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Choice:
    """An additional field of the request form, with the allowed values ("" for all) and their
    labels. Without *options* it is a required free text, which the kind interprets.
    """

    name: str
    heading: str
    options: Callable[[], Sequence[tuple[str, str]]] | None

    def named(self) -> dict[str, str]:
        """Return the labels of the allowed values."""
        return dict(self.options()) if self.options else {}


@dataclass(frozen=True)
class Asked:
    """A report request."""

    interval: Interval
    choices: Mapping[str, str]
    zone: str  # IANA time zone in which days begin


@dataclass(frozen=True)
class Answer:
    """Content of a report: lazy rows; their number, if known; totals with the same columns; and
    notes in sentences, which are text or stored sentences.
    """

    rows: Iterable[Row]
    of: int | None = None
    totals: Callable[[], Sequence[Row]] = tuple  # called when all rows have been read
    notes: Callable[[], Sequence[str | Stored]] = tuple


@dataclass(frozen=True)
class Kind:
    """A kind of report: name in URLs, title, purpose, and clause of GLI-19 ("" where it is not required)."""

    name: str
    title: str
    purpose: str
    clause: str  # in full: "GLI-19 v3.0, 2.9.5"
    columns: Sequence[Column]
    answer: Callable[[Asked], Answer]
    permission: str = "audit.view_report"  # app.codename; required in addition to this one
    choices: Sequence[Choice] = ()
    is_daily: bool = True  # made every day for the previous day
    names_players: bool = False  # the access log records players in its rows ("player:12") as seen by the reader


class CannotMake(Exception):
    """A report cannot be made as requested. The message is a sentence for staff; an `Answer` may raise it."""


OURS: Final = frozenset({"zone", "period", "since", "until"})  # fields of every request form, which no kind can use

_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Register a kind; an app calls this once, when it is ready. Raises ValueError where the
    framework could not write such a report.
    """
    names = [column.name for column in kind.columns]
    if any(column.form is Form.MONEY for column in kind.columns) and CURRENCY not in names:
        raise ValueError(f"report {kind.name}: money needs a column {CURRENCY}")
    if taken := OURS.intersection(choice.name for choice in kind.choices):
        raise ValueError(f"report {kind.name}: {', '.join(sorted(taken))} is chosen in every report")
    _kinds[kind.name] = kind


def kind_of(name: str) -> Kind | None:
    """Return the kind of that name, None if there is none."""
    return _kinds.get(name)


def all_kinds() -> Sequence[Kind]:
    """Return every kind, in the order of registration."""
    return tuple(_kinds.values())
