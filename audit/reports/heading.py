"""Head of a report: everything except the rows, on screen and in files (GLI-19 v3.0, 2.9.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.utils.translation import gettext_noop

from audit.models import Report
from audit.reports.kinds import CURRENCY, Answer, Column, Form, Kind, Row
from audit.reports.requests import asked_of, goes_on
from audit.staff_text import Stored, sentence, translated, word

NO_ACTIVITY = gettext_noop("No activity")


@dataclass(frozen=True)
class Head:
    """Everything in a report except its rows, as of when it was made; `stored` and `read` convert it for storage."""

    lines: Sequence[tuple[str, str]]  # heading and text: report, operator, interval and so on
    zone: str  # the time zone in which times are shown
    columns: Sequence[Column]
    totals: Sequence[Row] = ()
    notes: Sequence[str | Stored] = ()

    @property
    def headings(self) -> list[str]:
        """Column headings; those of times name the time zone."""
        return [
            f"{column.heading} ({self.zone})" if column.form is Form.TIME else column.heading for column in self.columns
        ]

    def sorted(self, rows: Iterable[Row], name: str, *, is_falling: bool) -> list[Row]:
        """Return *rows* in the order of a column, rows without a value last. Equal ones keep their order.

        Money is sorted within each currency, words as the reader reads them.
        """
        names = [column.name for column in self.columns]
        at = names.index(name)
        form, currency_at = self.columns[at].form, names.index(CURRENCY) if CURRENCY in names else None

        def value_of(row: Row) -> tuple[str, Decimal, str]:
            cell, currency = row[at], str(row[currency_at]) if currency_at is not None else ""
            match form:
                case Form.NUMBER | Form.ID | Form.SHARE:
                    return "", Decimal(str(cell or 0)), ""
                case Form.MONEY:
                    return currency, Decimal(str(cell or 0)), ""
                case _:
                    return "", Decimal(), translated(word(cell) if isinstance(cell, str) else cell).casefold()

        found = list(rows)
        known = sorted((row for row in found if row[at] not in (None, "")), key=value_of, reverse=is_falling)
        return known + [row for row in found if row[at] in (None, "")]

    def stored(self) -> dict[str, Any]:
        """Return the head as JSON values."""
        return {
            "lines": [list(line) for line in self.lines],
            "zone": self.zone,
            "columns": [[column.name, column.heading, str(column.form)] for column in self.columns],
            "totals": [list(row) for row in self.totals],
            "notes": list(self.notes),
        }

    @classmethod
    def read(cls, stored: dict[str, Any]) -> "Head":
        """Return the head from the result of `stored`."""
        columns = [Column(name, heading, Form(form)) for name, heading, form in stored["columns"]]
        lines = [(heading, text) for heading, text in stored["lines"]]
        return cls(lines, stored["zone"], columns, stored["totals"], stored["notes"])


def head_of(report: Report, kind: Kind, made_at: datetime) -> Head:
    """Return the head that is known before the rows are read."""
    asked = asked_of(report)
    chosen = [
        (choice.heading, choice.named().get(value, value) if (value := asked.choices[choice.name]) else "all")
        for choice in kind.choices
    ]
    lines = [
        (gettext_noop("Operator"), settings.OPERATOR_NAME),
        (gettext_noop("Report"), kind.title),
        (gettext_noop("Number"), str(report.pk)),
        (gettext_noop("From"), moment(report.since, asked.zone)),
        (gettext_noop("To (exclusive)"), moment(report.until, asked.zone)),
        (gettext_noop("Time zone"), asked.zone),
        *chosen,
        (gettext_noop("Generated at"), moment(made_at, asked.zone)),
        (gettext_noop("Requested by"), report.by),
    ]
    if kind.clause:
        lines.append((gettext_noop("Required by"), kind.clause))
    return Head(lines, asked.zone, kind.columns)


def ended(head: Head, answer: Answer, report: Report, made_at: datetime, more: Sequence[str | Stored] = ()) -> Head:
    """Return *head* completed after all rows have been read, with *more* notes."""
    notes = [*answer.notes(), *more]
    if goes_on(report):
        text = gettext_noop("Figures up to %(until)s; transactions in progress at %(made_at)s are not included.")
        notes.append(sentence(text, until=moment(report.until, head.zone), made_at=moment(made_at, head.zone)))
    return Head(head.lines, head.zone, head.columns, [list(row) for row in answer.totals()], notes)


def moment(at: datetime, zone: str) -> str:
    """Format a time in *zone*, with its UTC offset."""
    return at.astimezone(ZoneInfo(zone)).isoformat(" ", "seconds")
