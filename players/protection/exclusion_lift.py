"""Lifting of exclusions, which takes two people: one asks, another decides (`audit.approvals`)."""

from collections.abc import Mapping

from django.db import DatabaseError, transaction

from audit import approvals
from audit.log import Json
from audit.models import Approval
from players.models import Exclusion, Staff
from players.protection import exclusions

KIND = "exclusion.lift"
PERMISSION = "players.exclude_player"
NOT_AGREED = "SB031"  # SQLSTATE of players_check_lift


@transaction.atomic
def ask(*, exclusion: Exclusion, reason: str, by: Staff) -> Approval:
    """Ask for an exclusion to be lifted. Raises EndsAtItsTime, approvals.AskedTwice."""
    if not exclusions.may_be_lifted(exclusion):
        raise exclusions.EndsAtItsTime
    request: dict[str, Json] = {"exclusion": exclusion.pk, "player": exclusion.player_id}
    return approvals.ask(
        kind=KIND, on=f"exclusion:{exclusion.pk}", request=request, by=str(by), person=by.person, reason=reason
    )


def execute(request: Mapping[str, Json], verdict: approvals.Verdicted) -> None:
    """Lift the exclusion of an approved request. Raises approvals.CannotExecute."""
    asked = Approval.objects.get(pk=verdict.approval_id)
    try:
        with transaction.atomic():
            exclusions.lift(exclusion_id=_id(request), reason=asked.reason, asked_by=asked.by, decided_by=verdict.by)
    except exclusions.EndsAtItsTime as error:
        raise approvals.CannotExecute("This exclusion ends at its time. Nobody can end it now.") from error
    except exclusions.LiftedAlready as error:
        raise approvals.CannotExecute("This exclusion was lifted already.") from error
    except DatabaseError as error:
        if approvals.sqlstate(error) != NOT_AGREED:
            raise
        raise approvals.CannotExecute(approvals.NOT_THEIRS) from error


def describe(request: Mapping[str, Json]) -> approvals.Description:
    """Describe the exclusion to the deciding staff member."""
    exclusion = Exclusion.objects.select_related("player").get(pk=_id(request))
    until = f"{exclusion.until:%Y-%m-%d %H:%M} UTC" if exclusion.until else "for good"
    return approvals.Description(
        title=f"Lift the exclusion of {exclusion.player}",
        facts=[
            ("Exclusion", exclusion.get_kind_display().lower()),
            ("Begun", f"{exclusion.begun:%Y-%m-%d %H:%M} UTC"),
            ("Until", until),
            ("Excluded because", exclusion.reason or "the player’s own wish"),
            ("Excluded by", exclusion.by),
        ],
    )


def _id(request: Mapping[str, Json]) -> int:
    return int(str(request["exclusion"]))
