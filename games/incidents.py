"""Incidents: what should not have happened at a table, kept as it was found, for staff to look into."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import cast
from uuid import UUID

from django.db.models import Prefetch

from audit import log
from audit.log import Json
from games.models import Incident, IncidentKind, VoidPart
from games.recall import Finding

PAGE = 20


@dataclass(frozen=True)
class IncidentPage:
    """Some incidents, and the mark to ask for older ones with (None: there are none)."""

    incidents: tuple[Incident, ...]
    older: int | None


def open_incident(
    *, kind: IncidentKind, table_id: int, round_id: UUID, found: Iterable[Finding], done: Sequence[str], by: str
) -> Incident:
    """Keep what is the matter with a round and what was done about it. One round has one incident of a kind: a second
    call returns the first one's.
    """
    findings = [asdict(finding) for finding in found]
    incident, is_new = Incident.objects.get_or_create(
        kind=kind, round_id=round_id, defaults={"table_id": table_id, "findings": findings, "done": list(done)}
    )
    if is_new:
        log.record(
            "incident.opened",
            by=by,
            on=f"table:{table_id}",
            data={
                "done": list(done),
                "findings": cast("Json", findings),
                "incident": incident.pk,
                "kind": str(kind),
                "round": str(round_id),
            },
        )
    return incident


def incidents(*, before: int | None = None) -> IncidentPage:
    """Return a page of incidents that are older than the mark *before*, newest first, with what their voids did."""
    found = Incident.objects.order_by("-pk").select_related("table", "round__table_version", "round__void")
    if before is not None:
        found = found.filter(pk__lt=before)
    parts = Prefetch("round__void__parts", VoidPart.objects.order_by("player_id"))
    rows = tuple(found.prefetch_related(parts)[: PAGE + 1])
    return IncidentPage(rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None)
