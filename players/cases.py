"""Cases: open one, and take actions on it.

Functions of the database write cases, their history and their events, and check the permission of the staff member
(``players/sql/functions/cases.sql``). Error messages are for staff.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from django.db import DatabaseError, connection, transaction
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy

from audit.raw_rows import sqlstate
from players.models import DECIDED, Case, CaseAction, CaseKind, CaseOutcome, Conversation, Player, Staff

OPEN: Final = "SELECT players_open_case(%s, %s, %s, %s, %s, %s)"
MOVE: Final = "SELECT players_move_case(%s, %s, %s, %s, %s)"
OVERDUE: Final = "SELECT players_enter_overdue()"
READ_BY_PLAYER: Final = (CaseKind.MARKER, CaseKind.COMPLAINT)
"""The kinds whose history is in the player's own export."""
PERMISSIONS: Final[Mapping[CaseKind, str]] = {
    CaseKind.MARKER: "players.see_flags",
    CaseKind.AML: "audit.handle_significant",
    CaseKind.FUNDS: "audit.handle_significant",
    CaseKind.SCREENING: "audit.handle_significant",
    CaseKind.DUPLICATE: "players.review_identity",
    CaseKind.COMPLAINT: "players.answer_service",
}
"""The permission for each kind, as in `players_case_permission`."""
UNFIT: Final[Mapping[CaseAction, str | Promise]] = {
    CaseAction.DUE: gettext_lazy("The deadline must be a day in the future."),
    CaseAction.ASSIGNED: gettext_lazy("The new owner’s role may not see this case."),
    CaseAction.LINKED: gettext_lazy(
        "No such object. Check its kind and number. A marker or complaint is part of the player’s data export: it can "
        "link only to the player’s own objects, and not to a case of another kind."
    ),
    CaseAction.CLOSED: gettext_lazy("Choose a closing reason and enter a text."),
}
"""Said where an action lacks something; the others lack a text."""
OUTCOMES: Final[Mapping[CaseKind, tuple[CaseOutcome, ...]]] = {
    CaseKind.MARKER: (CaseOutcome.NO_CONCERN, CaseOutcome.TALKED, CaseOutcome.LIMITED, CaseOutcome.EXCLUDED),
    CaseKind.AML: (CaseOutcome.NO_CONCERN, CaseOutcome.EXPLAINED, CaseOutcome.REPORTED, CaseOutcome.ENDED),
    CaseKind.FUNDS: (CaseOutcome.NO_CONCERN, CaseOutcome.EXPLAINED, CaseOutcome.REPORTED, CaseOutcome.ENDED),
    CaseKind.SCREENING: (CaseOutcome.OTHER_PERSON, CaseOutcome.REPORTED, CaseOutcome.ENDED),
    CaseKind.DUPLICATE: (CaseOutcome.SAME, CaseOutcome.DIFFERENT),
    CaseKind.COMPLAINT: DECIDED,
}
"""The closing reasons of each kind, as in `players_case_outcomes`."""
NEED_REVIEW: Final = (CaseOutcome.NO_CONCERN, CaseOutcome.EXPLAINED)
"""The closing reasons for which no document may be under review, as in `players_move_case`."""
LONGEST: Final = 4000  # characters of a text


class CaseError(Exception):
    """Nothing was written. The message is for staff."""


class MayNot(CaseError):
    """The staff member lacks the permission for this kind of case."""


class AlreadyDone(CaseError):
    """The case is already closed, or open, or holds payouts, or another one about the same is open."""


class DoesNotFit(CaseError):
    """A text is missing, or the new owner, deadline, object or closing reason does not fit."""


class NoContact(CaseError):
    """A marker has no contact. Even "no contact needed" must be recorded before it is closed."""


class UnderReview(CaseError):
    """A document must be accepted or refused before the case is closed with this reason."""


class TakesTwo(CaseError):
    """A match of the screening is closed by two people."""


REFUSALS: Final[Mapping[str, tuple[type[CaseError], str | Promise]]] = {
    "SB150": (MayNot, gettext_lazy("Your role may not work on this kind of case.")),
    "SB151": (
        AlreadyDone,
        gettext_lazy(
            "Another staff member has closed or reopened this case, or another case about the same matter is open. "
            "Reload the page."
        ),
    ),
    "23505": (
        AlreadyDone,
        gettext_lazy("Another case about the same matter was opened at the same moment. Use that case."),
    ),
    "SB152": (DoesNotFit, gettext_lazy("Enter a text.")),
    "SB160": (AlreadyDone, gettext_lazy("This case already holds payouts.")),
    "SB155": (
        TakesTwo,
        gettext_lazy("A match with a list is closed by two people: one requests it, another approves it."),
    ),
    "SB159": (
        UnderReview,
        gettext_lazy(
            "A document of this case is still under review. Accept or refuse it before you close the case with this "
            "reason."
        ),
    ),
    "SB153": (NoContact, gettext_lazy("Record a contact first, or record that none was needed.")),
}


def of_conversation(conversation: Conversation) -> Case | None:
    """Return the case of a conversation that is a complaint."""
    found = Case.objects.select_related("owner", "player__user", "player__jurisdiction", "closed_by")
    subject = f"conversation:{conversation.pk}"
    return found.filter(player=conversation.player_id, kind=CaseKind.COMPLAINT, subject=subject).first()


def open_case(player_id: int, kind: CaseKind, *, subject: str = "", words: str = "") -> int | None:
    """Open a case by the system. Return its number, or None if one of this kind and subject is open."""
    return call(OPEN, player_id, kind.value, subject, None, None, words)


def ask_source_of_funds(*, player: Player, due_at: datetime, reason: str, by: Staff) -> int:
    """Open a case about the source of a player's funds and return its number. Raises CaseError."""
    try:
        number = call(OPEN, player.pk, CaseKind.FUNDS.value, "", by.pk, due_at, reason)
    except DoesNotFit as error:
        raise DoesNotFit(UNFIT[CaseAction.DUE] if reason.strip() else str(error)) from error
    if number is None:
        raise AlreadyDone(gettext("A case about this player’s source of funds is open."))
    return number


def act(*, case: Case, action: CaseAction, by: Staff, to: str = "", words: str = "") -> None:
    """Take an action on a case. *to* is the new owner ("staff:3"), the deadline, the linked object or the outcome.

    Raises CaseError.
    """
    try:
        call(MOVE, case.pk, by.pk, action.value, to, words)
    except DoesNotFit as error:
        raise DoesNotFit(UNFIT.get(action, str(error))) from error


def enter_overdue() -> int:
    """Enter in each complaint that is newly past its deadline that it is overdue. Return the number.

    The events are alerts for staff who handle significant events.
    """
    return call(OVERDUE) or 0


def call(statement: str, *values: str | int | datetime | None) -> int | None:
    """Call a function of cases and return the number that it returns. Raises CaseError."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, values)
            (number,) = cursor.fetchone()
    except DatabaseError as error:
        refusal = REFUSALS.get(sqlstate(error) or "")
        if refusal is None:
            raise
        kind, message = refusal
        raise kind(message) from error
    return int(number) if number not in (None, "") else None
