"""Notes of staff about an incident: steps that are only added."""

from django.db import transaction

from audit import log
from games.models import Incident, IncidentNote
from games.shared.malfunction import stated


@transaction.atomic
def note(*, incident: Incident, text: str, by: str) -> IncidentNote:
    """Add a note. What it says stands with the incident, and not in the log. Raises MalfunctionError where it says
    nothing.
    """
    kept = IncidentNote.objects.create(incident=incident, text=stated(text), by=by)
    log.record(
        "incident.noted", by=by, on=f"table:{incident.table_id}", data={"incident": incident.pk, "note": kept.pk}
    )
    return kept
