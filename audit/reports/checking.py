"""A report that was made, against what the log says of it."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass

from audit.models import Event, Report, ReportPage, ReportPart
from audit.reports.writing import MADE, line


@dataclass(frozen=True)
class Said:
    """What the log says of a report: the number of the event, and the hashes, by what they are of."""

    event_id: int
    digests: dict[str, str]


def said(report: Report) -> Said | None:
    """Return what the log says of *report*, None where it does not know it."""
    event = Event.objects.filter(kind=MADE, on=f"report:{report.pk}").order_by("pk").first()
    return Said(event.pk, json.loads(bytes(event.body))["data"]["digests"]) if event else None


def faults(report: Report) -> list[str]:
    """Hash again all that is stored of a report, and return what is not as the log says: "csv", "xlsx", "screen"; all
    three where the log does not know it.
    """
    known = said(report)
    digests = known.digests if known else {}
    stored = {name: _of_file(report, name) for name in ("csv", "xlsx")} | {"screen": _of_screen(report)}
    return [name for name, digest in stored.items() if digests.get(name) != digest]


def pieces(report: Report, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file of *report*, in pieces."""
    parts = ReportPart.objects.filter(report=report, format=name).order_by("number")
    for content in parts.values_list("content", flat=True).iterator(chunk_size=4):
        yield bytes(content)


def _of_file(report: Report, name: str) -> str:
    hashed = hashlib.sha256()
    for piece in pieces(report, name):
        hashed.update(piece)
    return hashed.hexdigest()


def _of_screen(report: Report) -> str:
    hashed = hashlib.sha256()
    pages = ReportPage.objects.filter(report=report).order_by("number")
    for rows in pages.values_list("rows", flat=True).iterator(chunk_size=20):
        for row in rows:
            hashed.update(line(row))
    hashed.update(line(report.head))
    return hashed.hexdigest()
