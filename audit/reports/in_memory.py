"""A file that is small enough to lie in memory, written as those of reports are: for whoever takes out what a page
shows.
"""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from audit.reports.files import CsvFile, File
from audit.reports.heading import Head
from audit.reports.kinds import Row


def whole(form: str, head: Head, rows: Iterable[Row]) -> bytes:
    """Return *rows* under their *head* as the bytes of a file, *form* being csv or xlsx."""
    pieces: list[bytes] = []
    if form == "csv":
        _fill(CsvFile(head, pieces.append), head, rows)
    else:
        from audit.reports.workbook import SheetFile  # its library takes long to load, and every process loads this

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
