"""Parse the file of a provider's statement into lines, with amounts in minor units, and faults.

Only the columns declared in ``docs/payments.md`` are read. Other data about people is dropped at
once.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, Final

from django.utils.translation import gettext, gettext_lazy

from wallet.models import Currency, LineKind, LineStatus
from wallet.money import LARGEST, MINOR_UNITS

MOST_BYTES: Final = 5 * 1024 * 1024
TOO_LARGE: Final = gettext_lazy("The file is larger than %(value)s MB. Split it into shorter periods.") % {
    "value": MOST_BYTES // 1024 // 1024
}
MOST_LINES: Final = 20_000
MOST_FAULTS: Final = 200
LONGEST_SHOWN: Final = 200  # characters shown of a faulty line

DEMANDED: Final = ("kind", "amount", "currency", "date", "status")
NAMING: Final = ("reference", "authorisation")  # the file and each line need at least one of these
COLUMNS: Final = (*NAMING, *DEMANDED)
SEPARATORS: Final = (";", ",", "\t")
NAME: Final = re.compile(r"[A-Za-z0-9._:/-]{0,64}")
AMOUNT: Final = re.compile(r"(?P<whole>[0-9]{1,14})(?:[.,](?P<decimals>[0-9]{1,2}))?")
THOUSANDS: Final = re.compile(r"[0-9]{1,3}(?:[.,' \u00a0][0-9]{3})+(?:[.,][0-9]{1,2})?")
DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class NotAStatement(Exception):
    """The file as a whole cannot be read. The message is a sentence for staff."""


class Wrong(Exception):
    """A cell cannot be read. The message is a sentence for staff."""


@dataclass(frozen=True)
class Line:
    """A line as the provider wrote it, of *amount* minor units.

    *number* is its line number; the header is 1.
    """

    number: int
    reference: str
    authorisation: str
    kind: str
    amount: int
    currency: str
    day: date
    status: str

    def stored(self) -> dict[str, Any]:
        """Return it as JSON for storage."""
        return asdict(self) | {"day": self.day.isoformat()}

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "Line":
        """Return the line that `stored` serialised."""
        return cls(**{**stored, "day": date.fromisoformat(stored["day"])})


@dataclass(frozen=True)
class Fault:
    """A line that cannot be read: its declared cells, and the errors."""

    number: int
    text: str
    wrong: Sequence[str]


@dataclass(frozen=True)
class Statement:
    """A parsed file: its lines and faults. Parsing stops after `MOST_FAULTS` faults."""

    lines: Sequence[Line]
    faults: Sequence[Fault]


def read(content: bytes, *, since: date, until: date) -> Statement:
    """Parse the statement for the days from *since* to *until*, both included.

    Raises NotAStatement.
    """
    if len(content) > MOST_BYTES:
        raise NotAStatement(TOO_LARGE)
    rows = _rows(_text(content))
    positions = _positions(next(rows, (1, []))[1])
    width = len(positions.heading)
    lines: list[Line] = []
    faults: list[Fault] = []
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if len(lines) + len(faults) >= MOST_LINES:
            raise NotAStatement(
                gettext("The file has more than %(most_lines)s lines. Split it into shorter periods.")
                % {"most_lines": f"{MOST_LINES:,}"}
            )
        fields_of_line = {
            name: cells[position].strip() for name, position in positions.of.items() if position < len(cells)
        }
        wrong: list[str] = []
        if len(cells) != width:
            wrong.append(
                gettext(
                    "Cells: %(cells)s; columns in the header row: %(columns)s. A decimal comma between commas needs "
                    "quotes."
                )
                % {"cells": len(cells), "columns": width}
            )
        else:
            line = _line(number, fields_of_line, since, until, wrong)
        if wrong:
            faults.append(Fault(number, " | ".join(fields_of_line.values())[:LONGEST_SHOWN], wrong))
        else:
            lines.append(line)
        if len(faults) >= MOST_FAULTS:
            break
    return Statement(lines, faults)


def _text(content: bytes) -> str:
    if content.startswith(UTF_16):
        raise NotAStatement(gettext("The file is UTF-16. Save it as CSV in UTF-8."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            text = content.decode("cp1252")
        except UnicodeDecodeError:
            raise NotAStatement(
                gettext("The file is neither UTF-8 nor Windows-1252. Save it as CSV in UTF-8.")
            ) from None
    if "\x00" in text:
        raise NotAStatement(gettext("The file is not text. Save it as CSV in UTF-8."))
    return text


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row with the number of its first line."""
    heading = text.partition("\n")[0]
    separator = max(SEPARATORS, key=heading.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        number = rows.line_num + 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise NotAStatement(
                gettext("From line %(number)s on the file cannot be read as CSV: %(error)s.")
                % {"number": number, "error": error}
            ) from error
        yield number, cells


@dataclass(frozen=True)
class _Positions:
    heading: Sequence[str]
    of: Mapping[str, int]  # positions of the declared columns in the file


def _positions(cells: Sequence[str]) -> _Positions:
    heading = [cell.strip().lower() for cell in cells]
    lacking = [name for name in DEMANDED if name not in heading]
    if lacking:
        raise NotAStatement(gettext("The header row lacks: %(join)s.") % {"join": ", ".join(lacking)})
    if not set(NAMING) & set(heading):
        raise NotAStatement(
            gettext("The header row lacks both %(join)s; one of them is required.") % {"join": " and ".join(NAMING)}
        )
    if twice := [name for name in COLUMNS if heading.count(name) > 1]:
        raise NotAStatement(gettext("The header row has a duplicate column: %(join)s.") % {"join": ", ".join(twice)})
    return _Positions(heading, {name: heading.index(name) for name in COLUMNS if name in heading})


def _line(number: int, fields_of_line: Mapping[str, str], since: date, until: date, wrong: list[str]) -> Line:
    """Parse a line and add errors to *wrong*. After an error, the returned line is not usable."""

    def cell(read: Any, *more: Any) -> Any:
        try:
            return read(fields_of_line, *more)
        except Wrong as error:
            wrong.append(str(error))
            return ""

    reference, authorisation = cell(_name, "reference"), cell(_name, "authorisation")
    if not fields_of_line.get("reference") and not fields_of_line.get("authorisation"):
        wrong.append(gettext("The line has neither a reference nor an authorisation number."))
    return Line(
        number=number,
        reference=reference,
        authorisation=authorisation,
        kind=cell(_one_of, "kind", LineKind.values),
        amount=cell(_amount),
        currency=cell(_one_of, "currency", Currency.values),
        day=cell(_day, since, until),
        status=cell(_one_of, "status", LineStatus.values),
    )


def _name(fields_of_line: Mapping[str, str], column: str) -> str:
    text = fields_of_line.get(column, "")
    if not NAME.fullmatch(text):
        raise Wrong(
            gettext("The %(column)s may contain only letters, digits and %(signs)s, at most 64 characters.")
            % {"column": column, "signs": ". _ : / -"}
        )
    return text


def _one_of(fields_of_line: Mapping[str, str], column: str, values: Sequence[str]) -> str:
    text = fields_of_line[column]
    for value in values:
        if text.lower() == value.lower():
            return value
    raise Wrong(gettext("The %(column)s must be one of %(join)s.") % {"column": column, "join": ", ".join(values)})


def _amount(fields_of_line: Mapping[str, str]) -> int:
    """Parse an amount exactly, with a point or a comma before the decimals."""
    text = fields_of_line["amount"]
    if text.startswith(("-", "\u2212", "+")):
        raise Wrong(gettext("The amount must have no sign. The kind gives the direction."))
    if THOUSANDS.fullmatch(text):
        raise Wrong(gettext("The amount is ambiguous. Write 1234.50 or 1234,50 without thousands separators."))
    found = AMOUNT.fullmatch(text)
    if found is None or not text.isascii():
        raise Wrong(gettext("Invalid amount. Write 1234.50 or 1234,50."))
    minor = int(found["whole"]) * MINOR_UNITS + int((found["decimals"] or "").ljust(2, "0"))
    if not 0 < minor <= LARGEST:
        raise Wrong(gettext("The amount is zero or too large."))
    return minor


def _day(fields_of_line: Mapping[str, str], since: date, until: date) -> date:
    text = fields_of_line["date"]
    try:
        day = date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise Wrong(gettext("Invalid date. Write 2026-11-22."))
    if not since <= day <= until:
        raise Wrong(
            gettext("The date is outside the days from %(since)s to %(until)s.") % {"since": since, "until": until}
        )
    return day
