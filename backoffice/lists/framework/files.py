"""Export of a list as a file: the rows shown, from the current page on, at most `MOST`.

The maximum bounds the memory and time of an export. An event records each export with the hash of
the file.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from audit.reports.files import whole
from audit.reports.heading import Head, moment
from audit.reports.kinds import Column, Row
from audit.reports.requests import clock

EXPORT: Final = "audit.export_rows"
MOST: Final = 10_000  # rows of a file
ZONE: Final = "UTC"
TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


@dataclass(frozen=True)
class Taken:
    """A file and its SHA-256 in hex."""

    content: bytes
    digest: str


def write(
    form: str,
    *,
    name: str,
    by: str,
    asked: Iterable[tuple[str, str]],
    columns: Sequence[Column],
    rows: Sequence[Row],
    goes_on: str = "",
) -> Taken:
    """Write *rows* of the list *name* as *form*, one of `TYPES`.

    The heading states who asked for what and when. *goes_on* is a note that more rows follow.
    """
    lines = [("Operator", settings.OPERATOR_NAME), ("List", name), *asked]
    lines += [("Generated at", moment(clock(), ZONE)), ("Asked for by", by)]
    head = Head(lines, ZONE, columns, notes=[goes_on] if goes_on else [])
    content = whole(form, head, rows)
    return Taken(content, hashlib.sha256(content).hexdigest())
