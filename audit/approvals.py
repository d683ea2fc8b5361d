"""Four-eyes approvals: one person requests, another decides, and an approved request is executed
unchanged. Until the decision the requester may withdraw it.

The request is stored as canonical JSON with its SHA-256. Exactly those bytes are executed, in the
transaction of the decision; if execution fails, the decision is rolled back. Other apps register
kinds of requests when they are ready (`register`). Accounts and persons are plain IDs here.

The database enforces the rules for every writer (``sql/functions/approvals.sql``). Error messages
here are for staff, in English.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import DateTimeField, ExpressionWrapper, QuerySet, Value
from django.utils.translation import gettext, gettext_lazy, gettext_noop

from audit import log
from audit.models import Approval, Clock, Decision, Event, Verdict
from audit.raw_rows import sqlstate

LASTS = timedelta(days=3)
TOO_LATE = "SB007"  # SQLSTATE of audit_decide_in_time
LATE = gettext_lazy("This request expired without a decision. Submit it again.")
NOT_THEIRS = gettext_lazy("One of the two people no longer has this role. Submit the request again.")


class ApprovalError(Exception):
    """No decision was made. The message is a sentence for staff."""


class UnknownApproval(ApprovalError):
    """There is no such approval."""


class AlreadyDecided(ApprovalError):
    """Another decision was first."""


class AskedTwice(ApprovalError):
    """A request of this kind for the same subject is open: *asked* is that request."""

    def __init__(self, asked: Approval) -> None:
        super().__init__(gettext("The same request is already pending: request %(asked)s.") % {"asked": asked.pk})
        self.asked = asked


class Expired(ApprovalError):
    """Nobody decided in time."""


class OwnRequest(ApprovalError):
    """The requester and the decider are one person."""


class NotYours(ApprovalError):
    """The request belongs to another person."""


class NotAllowed(ApprovalError):
    """The decider lacks the permission of this kind."""


class CannotWithdraw(ApprovalError):
    """The effect of the request began when it was made, so only a decision ends it."""


class Tampered(ApprovalError):
    """The stored request is not the one that was made."""


class CannotExecute(ApprovalError):
    """The request cannot be executed in the current state. Raised by a kind's own function."""


@dataclass(frozen=True)
class Description:
    """Display form of a request: a title for the list, and facts as pairs of name and value."""

    title: str
    facts: "Facts"


@dataclass(frozen=True)
class Verdicted:
    """A decision, as passed to a kind's functions."""

    by: str
    reason: str
    approval_id: int


Act = Callable[[Mapping[str, log.Json], Verdicted], None]
Facts = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Kind:
    """A kind of request: what an approval and a refusal do, who may decide, and how it is displayed."""

    name: str
    title: str  # what is requested, as a noun
    then: str  # what an approval does, as a sentence
    otherwise: str  # what a refusal does, as a sentence
    execute: Act
    refuse: Act
    permission: str  # app.codename
    describe: Callable[[Mapping[str, log.Json]], Description]
    current_facts: Callable[[Mapping[str, log.Json]], Facts]  # the current state that an approval would change
    lasts: timedelta
    lapse: Act  # what happens if nobody decides in time; the verdict is by "system"
    may_withdraw: bool


_kinds: dict[str, Kind] = {}
_listeners: list[Callable[[Approval], None]] = []


def _nothing(request: Mapping[str, log.Json], verdict: Verdicted) -> None:
    """Do nothing."""


def _no_facts(request: Mapping[str, log.Json]) -> Facts:
    """Return no facts about the current state."""
    return ()


def register(
    kind: str,
    *,
    title: str,
    then: str,
    otherwise: str = gettext_noop("Nothing is executed."),
    execute: Act,
    permission: str,
    describe: Callable[[Mapping[str, log.Json]], Description],
    current_facts: Callable[[Mapping[str, log.Json]], Facts] = _no_facts,
    refuse: Act = _nothing,
    lasts: timedelta = LASTS,
    lapse: Act = _nothing,
    may_withdraw: bool = True,
) -> None:
    """Register a kind of request; an app calls this once, when it is ready.

    *title*, *then* and *otherwise* describe to staff the request, its effect if it is approved, and if it is refused;
    *execute* raises CannotExecute
    where the request no longer fits. *lapse* must not raise.
    """
    _kinds[kind] = Kind(
        kind, title, then, otherwise, execute, refuse, permission, describe, current_facts, lasts, lapse, may_withdraw
    )


def listen(listener: Callable[[Approval], None]) -> None:
    """Call *listener* with every approval that is requested or has ended, in the same transaction."""
    _listeners.append(listener)


def kind(name: str) -> Kind:
    """Return the kind registered under *name*. Raises KeyError."""
    return _kinds[name]


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds."""
    return tuple(sorted(_kinds))


def title_of(kind: str) -> str:
    """Return what a request of a kind asks for, in the active language; the kind itself if it no longer exists."""
    known = _kinds.get(kind)
    return gettext(known.title) if known else kind


def permissions() -> tuple[str, ...]:
    """Return every permission that lets somebody decide requests."""
    return tuple(sorted({each.permission for each in _kinds.values()}))


@transaction.atomic
def ask(*, kind: str, on: str, request: Mapping[str, log.Json], by: str, person: UUID, reason: str) -> Approval:
    """Request that *request* be executed after another person's approval. It is open for as long as
    its kind lasts.

    Raises AskedTwice where one of this kind is open for *on*; KeyError for an unregistered kind.
    """
    lasts = _kinds[kind].lasts
    if before := waiting().filter(kind=kind, on=on).first():
        raise AskedTwice(before)
    frozen = log.canonical(request)
    asked = Approval.objects.create(
        kind=kind,
        on=on,
        request=frozen,
        sha256=_sha256(frozen),
        by=by,
        person=person,
        reason=reason,
        expires_at=ExpressionWrapper(Clock() + Value(lasts), DateTimeField()),
    )
    asked.refresh_from_db()
    data: dict[str, log.Json] = {
        "kind": kind,
        "on": on,
        "person": str(person),
        "reason": reason,
        "sha256": asked.sha256.hex(),
        "expires_at": asked.expires_at.isoformat(),
    }
    log.record("approval.asked", by=by, on=_name(asked.pk), data=data)
    _notify_listeners(asked)
    return asked


def decide(*, approval_id: int, yes: bool, by: str, person: UUID, reason: str, may: Callable[[str], bool]) -> Decision:
    """Approve and execute, or refuse, what another person requested; *may* returns whether the
    decider has a permission.

    Raises UnknownApproval, NotAllowed, OwnRequest, Expired, AlreadyDecided, Tampered,
    CannotExecute; each is recorded.
    """
    try:
        return _decide(approval_id, yes, by, person, reason, may)
    except ApprovalError as refusal:
        data: dict[str, log.Json] = {"why": type(refusal).__name__, "yes": yes}
        log.record_refusal("approval.not_decided", by=by, on=_name(approval_id), data=data)
        raise


@transaction.atomic
def _decide(approval_id: int, yes: bool, by: str, person: UUID, reason: str, may: Callable[[str], bool]) -> Decision:
    asked = _find(approval_id)
    if not may(_kinds[asked.kind].permission):
        raise NotAllowed(gettext("Your role cannot decide requests of this kind."))
    if asked.person == person:
        raise OwnRequest(gettext("You made this request yourself. Another person must decide it."))
    if Approval.objects.filter(pk=asked.pk, expires_at__lte=Clock()).exists():
        raise Expired(LATE)
    decision = _enter(asked, Verdict.APPROVED if yes else Verdict.REFUSED, by, person, reason)
    request = thaw(asked)
    data: dict[str, log.Json] = {
        "yes": yes,
        "kind": asked.kind,
        "on": asked.on,
        "person": str(person),
        "reason": reason,
        "asked_by": asked.by,
    }
    log.record("approval.decided", by=by, on=_name(asked.pk), data=data | {"sha256": bytes(asked.sha256).hex()})
    act = _kinds[asked.kind].execute if yes else _kinds[asked.kind].refuse
    act(request, Verdicted(by, reason, asked.pk))
    return decision


def withdraw(*, approval_id: int, by: str, person: UUID, reason: str) -> Decision:
    """Withdraw a request that *person* made, under this account or another one. Neither `execute`
    nor `refuse` of its kind is called; it can be requested again.

    Raises UnknownApproval, NotYours, CannotWithdraw, Expired, AlreadyDecided; each is recorded.
    """
    try:
        return _withdraw(approval_id, by, person, reason)
    except ApprovalError as refusal:
        data: dict[str, log.Json] = {"why": type(refusal).__name__}
        log.record_refusal("approval.not_withdrawn", by=by, on=_name(approval_id), data=data)
        raise


@transaction.atomic
def _withdraw(approval_id: int, by: str, person: UUID, reason: str) -> Decision:
    asked = _find(approval_id)
    if asked.person != person:
        raise NotYours(gettext("Another person made this request. You can refuse it, but not withdraw it."))
    if not _kinds[asked.kind].may_withdraw:
        raise CannotWithdraw(gettext("This request has already taken effect. Another person must decide it."))
    decision = _enter(asked, Verdict.WITHDRAWN, by, person, reason)
    data: dict[str, log.Json] = {
        "kind": asked.kind,
        "on": asked.on,
        "person": str(person),
        "reason": reason,
        "asked_by": asked.by,
    }
    log.record("approval.withdrawn", by=by, on=_name(asked.pk), data=data)
    return decision


def expire() -> int:
    """Expire all approvals that nobody decided in time, and return their number."""
    return sum(map(_expire, Approval.objects.filter(decision=None, expires_at__lte=Clock()).order_by("pk")))


@transaction.atomic
def _expire(asked: Approval) -> bool:
    try:
        _enter(asked, Verdict.EXPIRED, "system", None, "")
    except AlreadyDecided:  # by another worker
        return False
    log.record("approval.expired", by="system", on=_name(asked.pk), data={"kind": asked.kind, "on": asked.on})
    _kinds[asked.kind].lapse(json.loads(asked.request), Verdicted("system", "", asked.pk))
    return True


def waiting() -> QuerySet[Approval]:
    """Return the approvals that can be decided now, by the database's clock."""
    return Approval.objects.filter(decision=None, expires_at__gt=Clock())


def thaw(asked: Approval) -> Mapping[str, log.Json]:
    """Return the request as it was made.

    Raises Tampered where the stored bytes do not match the stored hash and the hash in the event of
    the request.
    """
    hashed = _sha256(asked.request)
    event = Event.objects.filter(kind="approval.asked", on=_name(asked.pk)).order_by("pk").first()
    recorded = json.loads(bytes(event.body))["data"]["sha256"] if event else None
    if bytes(asked.sha256) != hashed or recorded != hashed.hex():
        raise Tampered(
            gettext(
                "The stored request does not match the recorded one. Nothing was executed. Report this to compliance."
            )
        )
    request: Mapping[str, log.Json] = json.loads(asked.request)
    return request


def _find(approval_id: int) -> Approval:
    asked = Approval.objects.filter(pk=approval_id).first()
    if asked is None:
        raise UnknownApproval(gettext("Request not found."))
    return asked


def _enter(asked: Approval, verdict: Verdict, by: str, person: UUID | None, reason: str) -> Decision:
    """Insert the decision first: the second of two deciders waits here and gets an error."""
    try:
        with transaction.atomic():
            decision = Decision.objects.create(
                approval=asked, verdict=verdict, by=by, asker=asked.person, person=person, reason=reason
            )
    except DatabaseError as error:
        if sqlstate(error) == TOO_LATE:
            raise Expired(LATE) from error
        if not Decision.objects.filter(pk=asked.pk).exists():
            raise
        raise AlreadyDecided(gettext("This request has already been decided.")) from error
    _notify_listeners(asked)
    return decision


def _notify_listeners(asked: Approval) -> None:
    for listener in _listeners:
        listener(asked)


def _sha256(frozen: str) -> bytes:
    return hashlib.sha256(frozen.encode()).digest()


def _name(approval_id: int) -> str:
    return f"approval:{approval_id}"
