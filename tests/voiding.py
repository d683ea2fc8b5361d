"""Rounds voided past the pages, as the house and two people do: the database takes no other way."""

from uuid import UUID

from django.db import transaction

from audit import approvals, log
from audit.models import Decision, Verdict
from games.incidents import open_incident
from games.models import IncidentKind, LiveRound, Round, Void, VoidReason
from games.rounds.void import void_round
from games.shared import malfunction
from games.shared.malfunction import KIND, void_live_round
from players.models import Staff
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff

SYSTEM = "system"


def agree_to_void(round_id: UUID) -> Staff:
    """Have one supervisor ask for a live round to be voided and another agree, who is returned. Nothing is done yet,
    and no table is stopped.
    """
    asker, decider = a_member_of_staff("supervisor"), a_member_of_staff("supervisor")
    asked = approvals.ask(
        kind=KIND,
        on=f"round:{round_id}",
        request={"round": str(round_id)},
        by=str(asker),
        person=asker.person,
        reason="for a test",
    )
    Decision.objects.create(
        approval=asked,
        verdict=Verdict.APPROVED,
        by=str(decider),
        asker=asker.person,
        person=decider.person,
        reason="for a test",
    )
    data: dict[str, log.Json] = {"yes": True, "person": str(decider.person), "reason": "for a test"}
    log.record("approval.decided", by=str(decider), on=f"approval:{asked.pk}", data=data)
    return decider


def void_as_two_agree(round_id: UUID) -> LiveRound:
    """Void a live round in any phase, as two supervisors agree."""
    return void_as_agreed(round_id, agree_to_void(round_id))


def void_as_agreed(round_id: UUID, by: Staff) -> LiveRound:
    """Void a live round, of which *by* and another supervisor have agreed that it is."""
    return void_live_round(round_id=round_id, reason=VoidReason.DECIDED, by=str(by))


def cancel(*, round_id: UUID, by: str) -> LiveRound:
    """Void a live round before its deal, as one supervisor does."""
    return malfunction.cancel(round_id=round_id, reason="for a test", by=by)


@transaction.atomic
def void_overdue(round_id: UUID) -> LiveRound:
    """Void a live round that was not dealt in time, as the house does."""
    as_owner("UPDATE games_liveround SET deadline = clock_timestamp() - interval '1 hour' WHERE id = %s", [round_id])
    live = void_live_round(round_id=round_id, reason=VoidReason.OVERDUE, by=SYSTEM)
    malfunction.stop(live_round=live, kind=IncidentKind.OVERDUE, cause="for a test", found=(), by=SYSTEM)
    return live


@transaction.atomic
def void_unreproduced(round_id: UUID) -> Void:
    """Void a round of a solo table as the house does where its seed does not reproduce it, and open the incident."""
    void = void_round(round_id=round_id, reason=VoidReason.NOT_REPRODUCED, by=SYSTEM)
    open_incident(
        kind=IncidentKind.NOT_REPRODUCED,
        table_id=Round.objects.get(pk=round_id).table_version.table_id,
        round_id=round_id,
        found=(),
        done=["Round voided."],
        by=SYSTEM,
    )
    return void
