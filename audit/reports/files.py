"""Files of reports: CSV and XLSX.

Both have the same content: heading, columns with rows, totals, notes. CSV separates them by empty
lines, a workbook uses sheets. Numbers are exact: amounts are decimals in units of the row's
currency, shares are fractions of one. A workbook has real numbers and times where they are exact,
otherwise text.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from audit.reports.heading import NO_ACTIVITY, Head
from audit.reports.kinds import FIGURES, Cell, Column, Form, Row

PIECE: Final = 256 * 1024  # bytes stored in one row
BOM: Final = "\ufeff"  # marks UTF-8 for spreadsheets
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
    """Comma-separated values (RFC 4180) in UTF-8 with a byte order mark. No cell can be read as a formula."""

    def __init__(self, head: Head, keep: Keep) -> None:
        self._head = head
        self._keep = keep
        self._text = io.StringIO(newline="")
        self._lines = csv.writer(self._text)
        self._rows = 0
        self._text.write(BOM)
        self._lines.writerows((name, _inert(text)) for name, text in head.lines)
        self._lines.writerow(())
        self._lines.writerow(head.headings)

    def row(self, row: Row) -> None:
        """Write a row."""
        self._rows += 1
        self._lines.writerow(_plain(row, self._head))
        if self._text.tell() >= PIECE:
            self._give()

    def end(self, head: Head) -> None:
        """Write what follows the rows, and flush."""
        if not self._rows:
            self._lines.writerow((NO_ACTIVITY,))
        for name, rows in (
            ("Totals", [_plain(row, head) for row in head.totals]),
            ("Notes", [[_inert(note)] for note in head.notes]),
        ):
            if rows:
                self._lines.writerows(((), (name,), *rows))
        self._give()

    def _give(self) -> None:
        self._keep(self._text.getvalue().encode())
        self._text.seek(0)
        self._text.truncate()


def _plain(row: Row, head: Head) -> Iterator[str | int]:
    """Yield the cells of a row as they are written to CSV."""
    for cell, column in zip(row, head.columns, strict=True):
        plain = exact(cell, column.form, head.zone)
        yield _inert(plain) if column.form is Form.TEXT and isinstance(plain, str) else plain


def exact(cell: Cell, form: Form, zone: str) -> str | int:
    """Return a cell as text or as a whole number."""
    if cell is None or cell == "":
        return ""
    if form is Form.MONEY:
        return f"{Decimal(int(cell)) / MINOR_UNITS:.2f}"
    if form is Form.TIME:
        return datetime.fromisoformat(str(cell)).astimezone(ZoneInfo(zone)).isoformat()
    return cell


def _inert(text: str) -> str:
    """Escape *text* so that no spreadsheet reads it as a formula."""
    return f"'{text}" if text.startswith(BEGIN_FORMULAS) else text


def whole(form: str, head: Head, rows: Iterable[Row]) -> bytes:
    """Return *rows* under *head* as the bytes of a file; *form* is "csv" or "xlsx"."""
    pieces: list[bytes] = []
    if form == "csv":
        _fill(CsvFile(head, pieces.append), head, rows)
    else:
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


DIGITS: Final = 15  # significant digits that a spreadsheet keeps
LONGEST_CELL: Final = 32_767  # characters per cell in a spreadsheet
ROWS_OF_A_SHEET: Final = 1_000_000
SHEET_FORMATS: Final = {
    Form.NUMBER: "#,##0",
    Form.MONEY: "#,##0.00",
    Form.SHARE: "0.0000%",
    Form.TIME: "yyyy-mm-dd hh:mm:ss",
}
WIDTHS: Final = {Form.TEXT: 24, Form.NUMBER: 14, Form.MONEY: 18, Form.SHARE: 14, Form.TIME: 20}  # characters


class SheetFile:
    """A workbook (Office Open XML) in *folder*, handed over when complete: a sheet with heading and
    notes, one with the rows under frozen column headings, and one with the totals. Rows that do not
    fit on a sheet continue on another.
    """

    def __init__(self, head: Head, keep: Keep, folder: Path) -> None:
        self._head = head
        self._keep = keep
        self._path = folder / "report.xlsx"
        self._book = Workbook(write_only=True)
        self._first = self._book.create_sheet("Report")
        self._first.column_dimensions["A"].width = WIDTHS[Form.TEXT]
        self._first.column_dimensions["B"].width = 2 * WIDTHS[Form.TEXT]
        self._rows = 0
        self._begin("Rows")

    def row(self, row: Row) -> None:
        """Write a row."""
        if self._rows and self._rows % ROWS_OF_A_SHEET == 0:
            self._begin(f"Rows {self._rows // ROWS_OF_A_SHEET + 1}")
        self._rows += 1
        self._sheet.append(self._cells(row))

    def end(self, head: Head) -> None:
        """Write notes and totals, and hand over the file."""
        for name, text in (*head.lines, ("Rows", str(self._rows))):
            self._first.append([self._text(name, bold=True), self._text(text)])
        for note in head.notes:
            self._first.append([self._text("Note", bold=True), self._text(note)])
        if not self._rows:
            self._sheet.append([self._text(NO_ACTIVITY)])
        if head.totals:
            self._begin("Totals")
            for row in head.totals:
                self._sheet.append(self._cells(row))
        self.close()
        with self._path.open("rb") as file:
            while piece := file.read(PIECE):
                self._keep(piece)

    def close(self) -> None:
        """Save the workbook unless that is done; until then each sheet is a temporary file."""
        if not self._path.exists():
            self._book.save(self._path)

    def _begin(self, name: str) -> None:
        self._sheet = self._book.create_sheet(name)
        for number, column in enumerate(self._head.columns, 1):
            width = max(WIDTHS[column.form], len(column.heading) + 2)
            self._sheet.column_dimensions[get_column_letter(number)].width = width
        self._sheet.freeze_panes = "A2"
        headings = zip(self._head.headings, self._head.columns, strict=True)
        self._sheet.append([self._text(text, bold=True, right=column.form in FIGURES) for text, column in headings])

    def _cells(self, row: Row) -> list[Any]:
        return [self._cell(cell, column) for cell, column in zip(row, self._head.columns, strict=True)]

    def _cell(self, cell: Cell, column: Column) -> Any:
        if cell is None or cell == "":
            return None
        value = _number(cell, column.form, self._head.zone)
        if value is None:
            return self._text(str(exact(cell, column.form, self._head.zone)))
        written = WriteOnlyCell(self._sheet)
        written.value = value
        written.number_format = SHEET_FORMATS[column.form]
        return written

    def _text(self, text: str, *, bold: bool = False, right: bool = False) -> Any:
        cell = WriteOnlyCell(self._sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", text)[:LONGEST_CELL])
        cell.data_type = "s"  # text, never a formula, whatever it begins with
        if bold:
            cell.font = Font(bold=True)
        if right:
            cell.alignment = Alignment(horizontal="right")
        return cell


def _number(cell: str | int, form: Form, zone: str) -> Decimal | int | datetime | None:
    """Return a cell as a number or time for a spreadsheet, None where that would not be exact or it is text."""
    match form:
        case Form.TEXT:
            return None
        case Form.TIME:
            return datetime.fromisoformat(str(cell)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        case Form.MONEY:
            number = Decimal(int(cell)) / MINOR_UNITS
        case _:
            number = Decimal(cell)
    return number if len(number.as_tuple().digits) <= DIGITS else None
