"""When something is wrong at a shared table: it is stopped, what was found is kept, the supervisor is called and decides
whether the round stands or is annulled, and when the table goes on.

Before the deal one supervisor may cancel a round. After it a round is annulled by two people together, and only where
an incident says what is wrong (`audit.approvals`).
"""

from collections.abc import Iterable
from uuid import UUID

from audit.models import Approval
from games.models import Incident, IncidentKind, IncidentRuling, LiveRound, LiveTable
from games.recall import Finding
from players.models import Staff


class MalfunctionError(Exception):
    """Something that may not be done about a malfunction, in a sentence for staff."""


def stop(*, live_round: LiveRound, kind: IncidentKind, cause: str, found: Iterable[Finding], by: str) -> Incident:
    """Stop the live table, keep what is wrong with its round, and call the supervisor."""
    raise NotImplementedError


def in_doubt(round_id: UUID) -> bool:
    """Say whether an incident of the round awaits its ruling: until then it is not moved on."""
    return Incident.objects.filter(live_round_id=round_id, ruling=None).exists()


def report(*, round_id: UUID, cause: str, by: str) -> Incident:
    """Stop a table because a person says that something is wrong with a round."""
    raise NotImplementedError


def cancel(*, round_id: UUID, reason: str, by: str) -> LiveRound:
    """Annul a round before its deal."""
    raise NotImplementedError


def let_stand(*, incident_id: int, reason: str, by: str) -> IncidentRuling:
    """Rule that a round stands."""
    raise NotImplementedError


def ask_void(*, incident_id: int, reason: str, by: Staff) -> Approval:
    """Ask for a round to be annulled after its deal; another person decides."""
    raise NotImplementedError


def reopen(*, live_table_id: int, reason: str, by: str) -> LiveTable:
    """Let a stopped table go on."""
    raise NotImplementedError
