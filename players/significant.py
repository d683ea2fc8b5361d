"""Significant events of players and staff (GLI-19 v3.0, 2.8.8), and failed attempts.

Failed attempts under one name on one day are one significant event. Otherwise someone guessing
passwords would bury all others. The IP addresses of the attempts are personal data of the log and
are not copied here.

Limits, exclusions, agreements to the terms, answers of registers, account locks, findings about duplicates
and national rules are verified against the event log as a part of the verification of the house
(`audit.verification.house`).
"""

from collections.abc import Iterable, Iterator
from datetime import UTC
from typing import Final

from django.utils.translation import gettext_noop

from audit.models import Category, Event, Weight
from audit.significant import detection
from audit.significant.detection import Found, Leaves
from audit.staff_text import marked, register_findings, sentence
from audit.verification import house
from audit.verification.house import Finding, Verifier, found_by
from players.models import CaseAction

KINDS: Final[dict[str, detection.Significance]] = {
    "login.locked": (Category.LOG_IN, Weight.ALERT, gettext_noop("Account locked after failed log-ins")),
    "address.changed": (Category.PERSONAL, Weight.NOTICE, gettext_noop("E-mail address changed")),
    "identity.verified": (Category.PERSONAL, Weight.NOTICE, gettext_noop("Identity verified")),
    "authenticator.removed": (Category.PERSONAL, Weight.NOTICE, gettext_noop("Second factor removed")),
    "passkey.removed": (Category.PERSONAL, Weight.NOTICE, gettext_noop("Passkey removed")),
    "staff.employed": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Staff role granted")),
    "staff.roles_changed": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Staff roles changed")),
    "staff.suspended": (Category.DEACTIVATION, Weight.ALERT, gettext_noop("Staff account suspended by one person")),
    "staff.suspension_refused": (
        Category.PARAMETER,
        Weight.NOTICE,
        gettext_noop("Suspension of a staff account refused"),
    ),
    "staff.suspension_unconfirmed": (
        Category.ERROR,
        Weight.ALERT,
        gettext_noop("Suspension of a staff account not confirmed"),
    ),
    "staff.disabled": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Staff account disabled")),
    "staff.enabled": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Staff account enabled")),
    "staff.factors_reset": (Category.PARAMETER, Weight.ALERT, gettext_noop("Staff second factors reset")),
    "staff.token_made": (Category.PARAMETER, Weight.NOTICE, gettext_noop("Staff API token created")),
    "account.closing": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Account closure started")),
    "account.locked": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Account locked by staff")),
    "account.unlocked": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Account unlocked by staff")),
    "borrowed.marked": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Deposits blocked: borrowed money")),
    "borrowed.removed": (
        Category.CORRECTION,
        Weight.NOTICE,
        gettext_noop("Mark of borrowed money removed by two people"),
    ),
    "account.closed": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Account closed")),
    "player.excluded": (Category.DEACTIVATION, Weight.NOTICE, gettext_noop("Player excluded")),
    "exclusion.lifted": (Category.CORRECTION, Weight.ALERT, gettext_noop("Exclusion lifted early")),
    "national_rule.changed": (Category.PARAMETER, Weight.ALERT, gettext_noop("National rule changed")),
    "identity.another_person": (
        Category.LAUNDERING,
        Weight.ALERT,
        gettext_noop("Another person confirmed on an account"),
    ),
    "screening.failed": (Category.ERROR, Weight.ALERT, gettext_noop("Screening list could not be read")),
    "screening.matched": (Category.LAUNDERING, Weight.ALERT, gettext_noop("Player matches a sanctions or PEP list")),
    "case.overdue": (Category.ERROR, Weight.ALERT, gettext_noop("Source of funds: deadline passed")),
    "complaint.overdue": (Category.ERROR, Weight.ALERT, gettext_noop("Complaint overdue")),
}
ORDINARY: Final = (
    # A reminder to review limits, and its answer.
    "limits.reminded",
    "limits.reviewed",
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
    "complaint.continued",
    "duplicate.found",
    "duplicate.resolved",
    "identity.confirmed",
    "identity.not_confirmed",
    "identity.refused",
    "identity.stated",
    "identity.submitted",
    *(
        f"{kind}.{action}"
        for kind in ("case", "marker", "complaint")
        for action in CaseAction.values
        if kind == "marker" or action != CaseAction.OVERDUE
    ),
    "marker.contact",
    "marker.flagged",
    "marker.worsened",
    "note.added",
    "notice.published",
    "notice.withdrawn",
    "reply.withdrawn",
    "reply.written",
    "screening.read",
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
    "player.tagged",
    "player.untagged",
    "reality_check.answered",
    "reality_check.chosen",
    "register.checked",
    "report.delivered",
    "report_schedule.ended",
    "report_schedule.made",
    "report_schedule.paused",
    "report_schedule.resumed",
    "service.forgotten",
    "session.began",
    "session.ended",
    "tag.made",
    "tag.retired",
    "terms.agreed",
    "staff.suspension_confirmed",  # the suspension itself is significant
    # Changes that come with a release.
    "national_rules.shipped",
)
TRIES: Final = {
    "login.failed": gettext_noop("Failed log-ins"),
    "second_factor.failed": gettext_noop("Wrong second factor"),
    "access.refused": gettext_noop("Access to restricted pages refused"),
}
"""Kinds whose events of one name and day count as one significant event."""


TABLES: Final = (
    "players_limitchange",
    "players_exclusion",
    "players_agreement",
    "players_registercheck",
    "players_identity",
    "audit_event",
)
CASE_TABLES: Final = ("players_case_entry", "audit_event")
"""Tables whose rows `Protection` and `Cases` verify (``players/sql/functions/log_verification.sql``)."""


TEXTS: Final = (
    marked("finding", "change %(change)s of a limit"),
    marked("finding", "the answer to the offer of limits"),
    marked("finding", "exclusion %(exclusion)s"),
    marked("finding", "the lifting of exclusion %(exclusion)s"),
    marked("finding", "the agreement to the terms %(terms)s"),
    marked("finding", "register check %(check)s"),
    marked("finding", "lock %(lock)s of the account"),
    marked("finding", "the identity recorded by %(by)s"),
    marked("finding", "mark %(mark)s of borrowed money"),
    marked("finding", "the duplicate of %(other)s by %(ground)s"),
    marked("finding", "the finding about %(other)s by %(ground)s"),
    marked("finding", "change of approval %(approval)s"),
    marked("finding", "change %(change)s"),
    marked("finding", "%(what)s: the value in force is %(value)s; event %(event)s (%(kind)s) says %(said)s"),
    marked("finding", "%(what)s: the source is %(source)s; event %(event)s (%(kind)s) says %(said)s"),
    marked("finding", "entry %(entry)s"),
    marked("finding", "%(what)s: the stored value is %(stored)s; its history says %(said)s"),
    marked("finding", "player protection matches the log"),
    marked("finding", "player protection has events"),
    marked("finding", "national rules match the log"),
    marked("finding", "cases match the log"),
    marked("finding", "cases have events"),
    marked("finding", "cases match their history"),
    marked("finding", "exists"),
    marked("finding", "player"),
    marked("finding", "source"),
    marked("finding", "period"),
    marked("finding", "before"),
    marked("finding", "after"),
    marked("finding", "amount"),
    marked("finding", "effective at"),
    marked("finding", "needs confirmation"),
    marked("finding", "asked by"),
    marked("finding", "decided by"),
    marked("finding", "begun"),
    marked("finding", "until"),
    marked("finding", "register"),
    marked("finding", "outcome"),
    marked("finding", "locks"),
    marked("finding", "is marked"),
    marked("finding", "resolution"),
    marked("finding", "rule"),
)
"""Findings about protection, duplicates, national rules and cases."""


def register() -> None:
    """Register the detection of this app's significant events, and its part of the verification of the house."""
    detection.register_kinds(KINDS)
    detection.register_ordinary([*ORDINARY, *TRIES])
    detection.register_set_up(["staff.employed"])
    detection.register("tries", tries)
    register_findings(TEXTS)
    house.register(house.Part(house.PROTECTION, Protection, tables=TABLES))
    house.register(house.Part(house.PROTECTION, Cases, tables=CASE_TABLES))


def tries(leaves: Leaves) -> Iterable[Found]:
    """Yield failed attempts: one finding per name and day, at the first attempt."""
    for event in detection.events(leaves, *TRIES):
        name, day = player_of(event), event.at.astimezone(UTC).date().isoformat()
        yield Found(
            key=f"{event.kind}:{name}:{day}",
            category=Category.LOG_IN,
            weight=Weight.NOTICE,
            on=name,
            title=TRIES[event.kind],
            happened_at=event.at,
            event=event.pk,
            because=sentence(
                gettext_noop(
                    "First attempt of %(day)s (UTC) for this name. All attempts of the day are one significant event. "
                    "They are listed below, with IP addresses as long as these are retained."
                ),
                day=day,
            ),
            rows=[{detection.WHAT: gettext_noop("First attempt"), detection.VALUE: f"event {event.pk}"}],
        )


def player_of(event: Event) -> str:
    """Return the name of the attempt: the account, or a placeholder if no account has the address."""
    return event.by if event.kind == "access.refused" else event.on


class Protection(Verifier):
    """Verifies limits, exclusions, agreements, answers of registers, account locks, identities, findings about
    duplicates, borrowed money and national rules.
    """

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the rows of which these leaves speak."""
        yield from found_by("players_verify_logged_protection", first, end)
        yield from found_by("players_verify_logged_duplicates", first, end)
        yield from found_by("players_verify_logged_rules", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of every row."""
        yield from found_by("players_verify_unlogged_protection", *(self.scope.low[table] for table in TABLES))
        yield from found_by("players_verify_unlogged_duplicates")
        yield from found_by("players_verify_unlogged_rules")


class Cases(Verifier):
    """Verifies cases and their history."""

    def leaves(self, first: int, end: int) -> Iterator[Finding]:
        """Compare the entries of which these leaves speak."""
        yield from found_by("players_verify_logged_cases", first, end)

    def rows(self) -> Iterator[Finding]:
        """Verify that an event speaks of every entry, and that cases are what their entries say."""
        yield from found_by("players_verify_unlogged_cases", *(self.scope.low[table] for table in CASE_TABLES))
