"""Upload, preview and confirm provider statements, and note and settle their differences.

Only the uploader sees a draft. It is confirmed once. Statements of one provider are confirmed one
at a time, under a lock, so that no line is counted twice. The database refuses the same file a
second time. Differences stay; staff notes are only added.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, OuterRef, QuerySet, Value
from django.db.models.functions import Now
from django.utils.translation import gettext

from audit import log
from players.models import Staff
from wallet.models import (
    Difference,
    DifferenceKind,
    DifferenceStep,
    LineStatus,
    ProviderStatement,
    StatementDraft,
    StatementLine,
    Verdict,
)
from wallet.provider_statements.comparison import Compared, Comparison, compare
from wallet.provider_statements.parser import Fault, Line, read

DRAFT_LASTS: Final = timedelta(hours=1)
BATCH: Final = 2000
# Kinds of difference that a later statement may correct.
CORRECTED: Final = (
    DifferenceKind.AMOUNT,
    DifferenceKind.CURRENCY,
    DifferenceKind.STATUS,
    DifferenceKind.AUTHORISATION,
)
LOCK: Final = "SELECT pg_advisory_xact_lock(hashtextextended('statement:' || %s, 0))"


class StatementError(Exception):
    """Base error: nothing was stored. The message is a sentence for staff."""


class SameFile(StatementError):
    """The same file was already confirmed as *statement*."""

    def __init__(self, statement: ProviderStatement) -> None:
        super().__init__(
            gettext("This file was already confirmed as statement %(statement)s. Repeated lines are not counted again.")
            % {"statement": statement.pk}
        )
        self.statement = statement


class Gone(StatementError):
    """The draft is confirmed, discarded, expired, or belongs to another staff member."""


class Faulty(StatementError):
    """Some lines cannot be read. A statement is confirmed as a whole or not at all."""


class Settled(StatementError):
    """Another person has settled the difference first."""


@dataclass(frozen=True)
class Draft:
    """A draft as its uploader sees it."""

    row: StatementDraft
    lines: Sequence[Line]
    faults: Sequence[Fault]


@transaction.atomic
def upload(*, content: bytes, name: str, provider: str, since: date, until: date, staff: Staff) -> StatementDraft:
    """Parse a statement's file and store it as a draft for an hour. Also deletes expired drafts.

    Raises SameFile, and NotAStatement if the file as a whole cannot be read.
    """
    digest = hashlib.sha256(content).digest()
    _refuse_again(digest)
    statement = read(content, since=since, until=until)
    StatementDraft.objects.filter(at__lt=Now() - Value(DRAFT_LASTS)).delete()
    return StatementDraft.objects.create(
        staff=staff,
        provider=provider,
        since=since,
        until=until,
        name=name[:100],
        digest=digest,
        lines=[line.stored() for line in statement.lines],
        faults=[asdict(fault) for fault in statement.faults],
    )


def drafts_of(staff: Staff) -> QuerySet[StatementDraft]:
    """Return the drafts that a staff member can still confirm, newest first."""
    return StatementDraft.objects.filter(staff=staff, at__gte=Now() - Value(DRAFT_LASTS)).order_by("-at")


def draft(draft_id: UUID, staff: Staff) -> Draft:
    """Return a draft to its uploader. Raises Gone."""
    row = drafts_of(staff).filter(pk=draft_id).first()
    if row is None:
        raise Gone(
            gettext(
                "This draft no longer exists: it was confirmed, discarded or has expired after one hour. "
                "Upload the file again."
            )
        )
    return Draft(row, [Line.read(line) for line in row.lines], [Fault(**fault) for fault in row.faults])


def preview(found: Draft) -> Comparison:
    """Return what confirming a draft would result in now. Raises TooMuchMissing."""
    row = found.row
    return compare(found.lines, provider=row.provider, since=row.since, until=row.until)


def discard(draft_id: UUID, staff: Staff) -> None:
    """Delete the staff member's own draft. A draft that does not exist any more is ignored."""
    drafts_of(staff).filter(pk=draft_id).delete()


@transaction.atomic
def confirm(draft_id: UUID, staff: Staff) -> ProviderStatement:
    """Store a draft's lines with their verdicts and differences permanently, and delete the draft.

    Raises Gone, Faulty, SameFile, TooMuchMissing.
    """
    found = draft(draft_id, staff)
    if found.faults:
        raise Faulty(gettext("Some lines are invalid. Correct them in the file and upload it again."))
    row = found.row
    with connection.cursor() as cursor:
        cursor.execute(LOCK, [row.provider])
    _refuse_again(bytes(row.digest))
    found = draft(draft_id, staff)  # it may have been discarded while waiting for the lock
    comparison = preview(found)
    statement = _keep(row, comparison, str(staff))
    _settle_found(comparison.lines, statement)
    data: dict[str, log.Json] = {
        "provider": row.provider,
        "since": row.since.isoformat(),
        "until": row.until.isoformat(),
        "sha256": bytes(row.digest).hex(),
        "lines": len(comparison.lines),
        "differences": statement.differences.count(),
    }
    log.record("statement.confirmed", by=str(staff), on=str(statement), data=data)
    row.delete()
    return statement


def _refuse_again(digest: bytes) -> None:
    known = ProviderStatement.objects.filter(digest=digest).first()
    if known is not None:
        raise SameFile(known)


def _keep(row: StatementDraft, comparison: Comparison, by: str) -> ProviderStatement:
    try:
        with transaction.atomic():
            statement = ProviderStatement.objects.create(
                provider=row.provider,
                since=row.since,
                until=row.until,
                name=row.name,
                digest=row.digest,
                totals=[asdict(total) for total in comparison.totals],
                by=by,
            )
    except IntegrityError:
        _refuse_again(bytes(row.digest))
        raise
    lines = [
        StatementLine(statement=statement, subject=each.subject, verdict=each.verdict, **asdict(each.line))
        for each in comparison.lines
    ]
    StatementLine.objects.bulk_create(lines, BATCH)
    found = [
        Difference(
            statement=statement,
            line=line,
            kind=kind,
            subject=each.subject,
            known=each.known.stored() if each.known else {},
        )
        for line, each in zip(lines, comparison.lines, strict=True)
        for kind in each.differences
    ]
    missing = [
        Difference(statement=statement, kind=DifferenceKind.MISSING, subject=each.subject, known=each.stored())
        for each in comparison.missing
    ]
    Difference.objects.bulk_create([*found, *missing], BATCH)
    return statement


def _settle_found(lines: Iterable[Compared], statement: ProviderStatement) -> None:
    """Settle differences of earlier statements that this statement resolves.

    These are payments that were missing and are in it, and lines that now agree with the house.
    """
    said = [each for each in lines if each.verdict != Verdict.DIFFERS]
    settled = [each.subject for each in said if each.line.status == LineStatus.SETTLED]
    right = {(each.line.kind, each.subject, each.line.day) for each in said if each.verdict == Verdict.MATCHED}
    earlier = Difference.objects.filter(statement__provider=statement.provider).exclude(statement=statement)
    lacked = earlier.filter(kind=DifferenceKind.MISSING, subject__in=settled)
    _settle_by(lacked, (gettext("It is in statement %(statement)s.") % {"statement": statement.pk}))
    otherwise = earlier.filter(kind__in=CORRECTED, subject__in={subject for _kind, subject, _day in right})
    put_right = [
        each.pk
        for each in otherwise.select_related("line")
        if each.line and (each.line.kind, each.subject, each.line.day) in right
    ]
    _settle_by(
        otherwise.filter(pk__in=put_right),
        (gettext("Statement %(statement)s reports it as recorded here.") % {"statement": statement.pk}),
    )


def _settle_by(found: QuerySet[Difference], text: str) -> None:
    for difference in found.exclude(_is_settled()).order_by("pk"):
        _lock(difference)
        if not difference.steps.filter(settles=True).exists():  # settled by another person while waiting for the lock
            _enter(difference, by="system", settles=True, text=text)


@transaction.atomic
def note(difference_id: int, *, text: str, settles: bool, by: str) -> DifferenceStep:
    """Add a note to a difference. A note with *settles* closes it; after that no note can be added.

    Raises Difference.DoesNotExist, Settled.
    """
    difference = Difference.objects.select_related("statement").get(pk=difference_id)
    _lock(difference)
    if difference.steps.filter(settles=True).exists():
        raise Settled(gettext("Another person has already settled this difference. Nothing was saved."))
    return _enter(difference, by=by, settles=settles, text=text)


def _lock(difference: Difference) -> None:
    """Serialise all writes about a difference, also when nothing is settled yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [str(difference)])


def _enter(difference: Difference, *, by: str, settles: bool, text: str) -> DifferenceStep:
    step = DifferenceStep.objects.create(difference=difference, by=by, settles=settles, text=text)
    data: dict[str, log.Json] = {
        "statement": difference.statement_id,
        "what": difference.kind,
        "about": difference.subject,
        "text": text,
    }
    log.record("difference.settled" if settles else "difference.noted", by=by, on=str(difference), data=data)
    return step


def _is_settled() -> Exists:
    return Exists(DifferenceStep.objects.filter(difference=OuterRef("pk"), settles=True))


def differences(statement: ProviderStatement, *, open_only: bool, kind: str) -> QuerySet[Difference]:
    """Return the differences of a statement with their lines and steps."""
    found = Difference.objects.filter(statement=statement).select_related("line").prefetch_related("steps")
    if open_only:
        found = found.exclude(_is_settled())
    return found.filter(kind=kind) if kind else found


def with_open_differences() -> QuerySet[ProviderStatement]:
    """Return the statements that have unsettled differences."""
    unsettled = Difference.objects.filter(statement=OuterRef("pk")).exclude(_is_settled())
    return ProviderStatement.objects.filter(Exists(unsettled))


def still_open(statement: ProviderStatement) -> int:
    """Return how many differences of a statement are unsettled."""
    return Difference.objects.filter(statement=statement).exclude(_is_settled()).count()
