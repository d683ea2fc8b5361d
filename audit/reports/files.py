"""Files of reports: CSV here, XLSX in `audit.reports.workbook`.

A CSV file is one table for programs: the column headings and the rows, nothing before, after or
between. What else belongs to a report is in a file of its own (`about`); a workbook has it on
sheets. Numbers are exact: amounts are decimals in units of the row's currency, shares are fractions
of one. A workbook has real numbers and times where they are exact, otherwise text.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from audit.reports.heading import NO_ACTIVITY, Head
from audit.reports.kinds import TEXTS, Cell, Form, Row
from audit.staff_text import english, is_sentence

PIECE: Final = 256 * 1024  # bytes stored in one row
BEGIN_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")
MINOR_UNITS: Final = 100  # per unit, in every currency

Keep = Callable[[bytes], None]
"""Stores the next chunk of a file."""


class File(Protocol):
    """Interface of a report file that is given its rows in order, and then its end."""

    def row(self, row: Row) -> None:
        """Write a row."""

    def end(self, head: Head) -> None:
        """Write what follows the rows, and flush."""


class CsvFile:
    """Comma-separated values (RFC 4180) in UTF-8: headings and rows. No cell can be read as a formula."""

    def __init__(self, head: Head, keep: Keep) -> None:
        self._head = head
        self._keep = keep
        self._text = io.StringIO(newline="")
        self._lines = csv.writer(self._text)
        self._lines.writerow(head.headings)

    def row(self, row: Row) -> None:
        """Write a row."""
        self._lines.writerow(_plain(row, self._head))
        if self._text.tell() >= PIECE:
            self._give()

    def end(self, head: Head) -> None:
        """Flush."""
        self._give()

    def _give(self) -> None:
        self._keep(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()


def _plain(row: Row, head: Head) -> Iterator[str | int]:
    """Yield the cells of a row as they are written to CSV."""
    for cell, column in zip(row, head.columns, strict=True):
        plain = exact(cell, column.form, head.zone)
        yield _inert(plain) if column.form in TEXTS and isinstance(plain, str) else plain


def in_english(row: Row) -> list[Any]:
    """Return a row whose stored sentences are English text, for programs."""
    return [english(cell) if is_sentence(cell) else cell for cell in row]


def exact(cell: Cell, form: Form, zone: str) -> str | int:
    """Return a cell as text, in English, or as a whole number."""
    if cell is None or cell == "":
        return ""
    if is_sentence(cell):
        return english(cell)
    if form is Form.MONEY:
        return f"{Decimal(int(str(cell))) / MINOR_UNITS:.2f}"
    if form is Form.TIME:
        return datetime.fromisoformat(str(cell)).astimezone(ZoneInfo(zone)).isoformat()
    return cell if isinstance(cell, int) else str(cell)


def _inert(text: str) -> str:
    """Escape *text* so that no spreadsheet reads it as a formula."""
    return f"'{text}" if text.startswith(BEGIN_FORMULAS) else text


def about(head: Head, rows: int, digests: Mapping[str, str]) -> dict[str, Any]:
    """Return everything of a report except its rows, for programs: heading, columns, totals, notes and hashes.

    Cells are as in the CSV file.
    """
    return {
        "heading": dict(head.lines),
        "columns": [
            {"name": column.name, "heading": heading, "format": str(column.form)}
            for column, heading in zip(head.columns, head.headings, strict=True)
        ],
        "rows": rows,
        "activity": "" if rows else NO_ACTIVITY,
        "totals": [list(_plain(row, head)) for row in head.totals],
        "notes": [english(note) for note in head.notes],
        "sha256": dict(digests),
    }


def whole(form: str, head: Head, rows: Iterable[Row]) -> bytes:
    """Return *rows* under *head* as the bytes of a file; *form* is "csv" or "xlsx"."""
    pieces: list[bytes] = []
    if form == "csv":
        _fill(CsvFile(head, pieces.append), head, rows)
    else:
        from audit.reports.workbook import SheetFile  # slow to import, and every process imports this module

        with (
            TemporaryDirectory(prefix="sabot-rows-") as folder,
            closing(SheetFile(head, pieces.append, Path(folder))) as book,
        ):
            _fill(book, head, rows)
    return b"".join(pieces)


def _fill(file: File, head: Head, rows: Iterable[Row]) -> None:
    for row in rows:
        file.row(row)
    file.end(head)
