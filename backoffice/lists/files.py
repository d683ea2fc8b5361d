"""Export of a list as a file: the rows shown, from the current page on, at most `MOST`.

The maximum bounds the memory and time of an export. An event records each export with the hash of
the file, and the access log the players in it.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.utils.text import slugify

from audit import log
from audit.reports.files import whole
from audit.reports.heading import Head, moment
from audit.reports.kinds import Column, Row
from audit.reports.requests import clock
from players.access import StaffRequest
from players.login.current_user import actor
from players.staff import access_log

EXPORT: Final = "audit.export_rows"
MOST: Final = 10_000  # rows of a file
ZONE: Final = "UTC"
WORKBOOK: Final = "xlsx"
TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    WORKBOOK: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


def export(
    request: StaffRequest,
    form: str,
    *,
    name: str,
    label: str,
    asked: Iterable[tuple[str, str]],
    columns: Sequence[Column],
    rows: Sequence[Row],
    players: Iterable[int],
    goes_on: str = "",
) -> HttpResponse:
    """Return *rows* of the list *name* as a download in *form*, one of `TYPES`.

    The heading of a workbook states who asked for what and when; a CSV file has only the rows.
    *label* is the list's name in events, *players* are the ids of the players in the rows, and
    *goes_on* is a note that more rows follow; the name of the file says so too.
    """
    by = actor(request)
    lines = [("Operator", settings.OPERATOR_NAME), ("List", name), *asked]
    lines += [("Generated at", moment(clock(), ZONE)), ("Asked for by", by)]
    content = whole(form, Head(lines, ZONE, columns, notes=[goes_on] if goes_on else []), rows)
    access_log.note_list(request, players, what=f"{name.lower()} as {form}")
    digest = hashlib.sha256(content).hexdigest()
    data: dict[str, log.Json] = {"list": label, "format": form, "rows": len(rows), "sha256": digest}
    log.record("rows.exported", by=by, on=f"list:{label}", data=data)
    part = f"-first-{len(rows)}" if goes_on else ""
    answer = HttpResponse(content, content_type=TYPES[form])
    answer["Content-Disposition"] = f'attachment; filename="{slugify(name)}-{clock():%Y%m%d-%H%M%S}{part}.{form}"'
    return answer
