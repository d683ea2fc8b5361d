"""Verification of stored reports against the event log."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from audit.models import Event, Report, ReportPage, ReportPart, ReportState
from audit.reports.runner import MADE, line
from audit.verification.verify_events import Finding


@dataclass(frozen=True)
class Said:
    """The event about a report: its ID, and the hashes by name."""

    event_id: int
    digests: dict[str, str]


def said(report: Report) -> Said | None:
    """Return what the log records of *report*, None where there is no event."""
    event = Event.objects.filter(kind=MADE, on=f"report:{report.pk}").order_by("pk").first()
    return Said(event.pk, json.loads(bytes(event.body))["data"]["digests"]) if event else None


def faults(report: Report) -> list[str]:
    """Hash everything stored of a report again, and return what differs from the log: "csv",
    "xlsx", "screen"; all three where the log has no event.
    """
    known = said(report)
    digests = known.digests if known else {}
    stored = {name: _of_file(report, name) for name in ("csv", "xlsx")} | {"screen": _of_screen(report)}
    return [name for name, digest in stored.items() if digests.get(name) != digest]


def findings() -> Iterator[Finding]:
    """Hash every recorded report again and yield the differences."""
    numbers = []
    for event_id, on in Event.objects.filter(kind=MADE).order_by("pk").values_list("pk", "on").iterator():
        number = int(on.partition(":")[2])
        numbers.append(number)
        report = Report.objects.filter(pk=number, state=ReportState.READY).first()
        if report is None:
            yield Finding(f"report {number} is missing", "it was created and then deleted", event_id)
            continue
        for name in faults(report):
            yield Finding(f"{name} of report {number} differs", "it was changed after creation", event_id)
    for report in Report.objects.filter(state=ReportState.READY).exclude(pk__in=numbers):
        yield Finding(f"report {report.pk} is not recorded", "no event records its creation")


def pieces(report: Report, name: str) -> Iterator[bytes]:
    """Yield the bytes of a file of *report*, in chunks."""
    parts = ReportPart.objects.filter(report=report, format=name).order_by("number")
    for content in parts.values_list("content", flat=True).iterator(chunk_size=4):
        yield bytes(content)


def file_name(report: Report) -> str:
    """Return the name of a report's files, without their endings."""
    days = (f"{at.astimezone(ZoneInfo(report.choices['zone'])):%Y-%m-%d}" for at in (report.since, report.until))
    return "-".join([report.kind.replace("_", "-"), *days, str(report.pk)])


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
