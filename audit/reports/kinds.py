"""Kinds of reports, and their intervals.

Other apps register their kinds when they are ready. A kind defines columns and rows; the framework adds heading,
interval, screen, files and hash. An interval is days, weeks, months or years in a time zone, life to date, or any two
times.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy

from audit.models import Event
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


A_DAY = timedelta(days=1)


class Period(StrEnum):
    """Kind of interval. Periods that are not over end now."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    THIS_WEEK = "this_week"
    LAST_WEEK = "last_week"
    THIS_MONTH = "this_month"
    LAST_MONTH = "last_month"
    THIS_YEAR = "this_year"
    LAST_YEAR = "last_year"
    LIFE = "life"
    OWN = "own"


NAMES = {
    Period.TODAY: gettext_lazy("Today, up to now"),
    Period.YESTERDAY: gettext_lazy("Yesterday"),
    Period.THIS_WEEK: gettext_lazy("This week, up to now"),
    Period.LAST_WEEK: gettext_lazy("Last week"),
    Period.THIS_MONTH: gettext_lazy("This month, up to now"),
    Period.LAST_MONTH: gettext_lazy("Last month"),
    Period.THIS_YEAR: gettext_lazy("This year, up to now"),
    Period.LAST_YEAR: gettext_lazy("Last year"),
    Period.LIFE: gettext_lazy("Life to date"),
    Period.OWN: gettext_lazy("Custom (from … to …)"),
}


def interval_of(period: Period, *, now: datetime, zone: str) -> Interval:
    """Return the interval of *period* at the time *now* in *zone*. Weeks begin on Monday. A day
    that begins exactly now gives an empty interval. Raises ValueError for OWN.
    """
    today = now.astimezone(ZoneInfo(zone)).date()
    if period is Period.LIFE:
        return Interval(began() or midnight(today, zone), now)
    first, after = _days(period, today)
    return Interval(midnight(first, zone), now if after is None else midnight(after, zone))


def next_end(period: Period, *, now: datetime, zone: str) -> datetime:
    """Return the end of the day, week or month that is going on at *now*.

    *period* is YESTERDAY, LAST_WEEK or LAST_MONTH: at that time it is the interval that has just ended.
    """
    today = now.astimezone(ZoneInfo(zone)).date()
    ends = {
        Period.YESTERDAY: today + A_DAY,
        Period.LAST_WEEK: today + (7 - today.weekday()) * A_DAY,
        Period.LAST_MONTH: (today.replace(day=1) + 31 * A_DAY).replace(day=1),
    }
    return midnight(ends[period], zone)


def midnight(day: date, zone: str) -> datetime:
    """Return the time in UTC at which a day begins in *zone*."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def began() -> datetime | None:
    """Return the time of the first event, None if there is none."""
    return Event.objects.order_by("pk").values_list("at", flat=True).first()


def _days(period: Period, today: date) -> tuple[date, date | None]:
    """Return the first day of a period and the day after its last, None where it is not over."""
    monday = today - timedelta(days=today.weekday())
    month = today.replace(day=1)
    year = today.replace(month=1, day=1)
    days: dict[Period, tuple[date, date | None]] = {
        Period.TODAY: (today, None),
        Period.YESTERDAY: (today - A_DAY, today),
        Period.THIS_WEEK: (monday, None),
        Period.LAST_WEEK: (monday - 7 * A_DAY, monday),
        Period.THIS_MONTH: (month, None),
        Period.LAST_MONTH: ((month - A_DAY).replace(day=1), month),
        Period.THIS_YEAR: (year, None),
        Period.LAST_YEAR: (year.replace(year=year.year - 1), year),
    }
    if period not in days:
        raise ValueError(f"{period} contains no days")
    return days[period]
