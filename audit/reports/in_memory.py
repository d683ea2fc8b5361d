"""Small files in memory, in the formats of reports: exports of the rows that a page shows."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.reports.files import CsvFile, File
from audit.reports.heading import Head
from audit.reports.kinds import Row


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
