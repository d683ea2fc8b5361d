"""Significant events of players and staff (GLI-19 v3.0, 2.8.8), and failed attempts.

Failed attempts under one name on one day are one significant event. Otherwise someone guessing
passwords would bury all others. The IP addresses of the attempts are personal data of the log and
are not copied here.
"""

from collections.abc import Iterable
from datetime import UTC
from typing import Final

from audit.models import Category, Event, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves

KINDS: Final[dict[str, detection.Significance]] = {
    "login.locked": (Category.LOG_IN, Weight.ALERT, "An account was locked after failed log-ins"),
    "address.changed": (Category.PERSONAL, Weight.NOTICE, "An e-mail address was changed"),
    "identity.verified": (Category.PERSONAL, Weight.NOTICE, "Who a player is was confirmed"),
    "authenticator.removed": (Category.PERSONAL, Weight.NOTICE, "A second factor was removed"),
    "passkey.removed": (Category.PERSONAL, Weight.NOTICE, "A passkey was removed"),
    "staff.employed": (Category.PARAMETER, Weight.NOTICE, "Somebody was given a role in the house"),
    "staff.roles_changed": (Category.PARAMETER, Weight.NOTICE, "Somebody of staff was given other roles"),
    "staff.disabled": (Category.DEACTIVATION, Weight.NOTICE, "An account of staff was disabled"),
    "staff.enabled": (Category.PARAMETER, Weight.NOTICE, "An account of staff was enabled"),
    "staff.factors_reset": (Category.PARAMETER, Weight.ALERT, "The second factors of somebody of staff were reset"),
    "staff.token_made": (Category.PARAMETER, Weight.NOTICE, "Somebody of staff lets a program read"),
    "account.closing": (Category.DEACTIVATION, Weight.NOTICE, "An account is being closed"),
    "account.locked": (Category.DEACTIVATION, Weight.NOTICE, "Staff locked an account"),
    "account.unlocked": (Category.DEACTIVATION, Weight.NOTICE, "Staff opened a locked account"),
    "account.closed": (Category.DEACTIVATION, Weight.NOTICE, "An account was closed"),
    "player.excluded": (Category.DEACTIVATION, Weight.NOTICE, "A player was excluded"),
    "exclusion.lifted": (Category.CORRECTION, Weight.ALERT, "An exclusion was lifted before its time"),
    "complaint.overdue": (Category.ERROR, Weight.ALERT, "A complaint was not decided by the day that was promised"),
}
ORDINARY: Final = (
    # Credentials were added or renewed; the owner was notified by mail.
    "authenticator.added",
    "passkey.added",
    "password.changed",
    "password.reset",
    "recovery_codes.made",
    "token.made",
    "token.revoked",
    "login.unlocked",
    # Events with a queue of their own, in which staff work on them.
    "complaint.answered",
    "complaint.assigned",
    "complaint.begun",
    "complaint.closed",
    "complaint.continued",
    "complaint.decided",
    "complaint.lodged",
    "complaint.reopened",
    "duplicate.found",
    "duplicate.resolved",
    "identity.refused",
    "identity.submitted",
    "marker.closed",
    "marker.contact",
    "marker.flagged",
    "marker.worsened",
    "note.added",
    "notice.published",
    "notice.withdrawn",
    "reply.withdrawn",
    "reply.written",
    "service.answered",
    "service.begun",
    "service.closed",
    "service.continued",
    "service.lodged",
    # Ordinary actions of players.
    "account.let_in",
    "limits.changed",
    "limits.contact_due",
    "limits.declined",
    "limits.withdrawn",
    "player.registered",
    "reality_check.answered",
    "reality_check.chosen",
    "register.checked",
    "service.forgotten",
    "session.began",
    "session.ended",
    "terms.agreed",
)
TRIES: Final = {
    "login.failed": "Log-ins failed",
    "second_factor.failed": "A second factor was wrong",
    "access.refused": "Pages were asked for that are not for whoever asked",
}
"""Kinds whose events of one name and day count as one significant event."""


def register() -> None:
    """Register the detection of this app's significant events."""
    detection.register_kinds(KINDS)
    detection.register_ordinary([*ORDINARY, *TRIES])
    detection.register("tries", tries)


def tries(leaves: Leaves) -> Iterable[Found]:
    """Yield failed attempts: one finding per name and day, at the first attempt."""
    for event in detection.events(leaves, *TRIES):
        name, day = whose(event), event.at.astimezone(UTC).date().isoformat()
        yield Found(
            key=f"{event.kind}:{name}:{day}",
            category=Category.LOG_IN,
            weight=Weight.NOTICE,
            on=name,
            title=TRIES[event.kind],
            happened_at=event.at,
            event=event.pk,
            because=f"It is the first try of {day} (UTC) under this name. All of that day are one significant event; "
            "they stand below, with the address each came from, for as long as those are kept.",
            rows=[{"What": "First try", "Value": f"event {event.pk}"}],
        )


def whose(event: Event) -> str:
    """Return the name of the attempt: the account, or a placeholder if no account has the address."""
    return event.by if event.kind == "access.refused" else event.on
