"""Workbook of a report (Office Open XML). In a module of its own because its library is slow to
import, and only the making of a report needs it.
"""

from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from audit.reports.files import MINOR_UNITS, PIECE, Keep, exact
from audit.reports.heading import NO_ACTIVITY, Head
from audit.reports.kinds import FIGURES, Cell, Column, Form, Row
from audit.staff_text import english, is_sentence

DIGITS: Final = 15  # significant digits that a spreadsheet keeps
LONGEST_CELL: Final = 32_767  # characters per cell in a spreadsheet
ROWS_OF_A_SHEET: Final = 1_000_000
SHEET_FORMATS: Final = {
    Form.NUMBER: "#,##0",
    Form.ID: "0",
    Form.MONEY: "#,##0.00",
    Form.SHARE: "0.0000%",
    Form.TIME: "yyyy-mm-dd hh:mm:ss",
}
WIDTHS: Final = {
    Form.TEXT: 24,
    Form.WORD: 24,
    Form.NUMBER: 14,
    Form.ID: 14,
    Form.MONEY: 18,
    Form.SHARE: 14,
    Form.TIME: 20,
}  # characters


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
            self._first.append([self._text("Note", bold=True), self._text(english(note))])
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
        value = None if is_sentence(cell) else _number(cell, column.form, self._head.zone)
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


def _number(cell: Any, form: Form, zone: str) -> Decimal | int | datetime | None:
    """Return a cell as a number or time for a spreadsheet, None where that would not be exact or it is text."""
    match form:
        case Form.TEXT | Form.WORD:
            return None
        case Form.TIME:
            return datetime.fromisoformat(str(cell)).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
        case Form.MONEY:
            number = Decimal(int(cell)) / MINOR_UNITS
        case _:
            number = Decimal(cell)
    return number if len(number.as_tuple().digits) <= DIGITS else None
