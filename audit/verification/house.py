"""Verification of the house: reads the signed event log once, and compares all that is stored with it.

Apps register the parts that they can verify (`register`): the log itself, the ledger, rounds, protection.
A run reads leaves range by range, in order, and gives each range to every part; then each part verifies
what is not in leaves, above all rows that have no event. A row and its event are written in one
transaction, so a statement that sees one sees the other.

The task of each minute verifies what is new: leaves after those of the last run, and rows above the marks
of a run that began at least `OVERLAP` before, which is longer than a transaction lasts. Once a day
everything is verified, whatever any run says about itself: runs are rows that workers can write.

Each finding is recorded as an event (`FOUND`), which is a significant event with an e-mail, once until it is
gone and found again.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction
from django.db.models import F
from psycopg import sql

from audit import log
from audit.models import Clock, Leaf, VerificationFinding, VerificationRun
from audit.staff_text import marked
from audit.verification.checking import Done, Outside
from audit.verification.verify import Key

logger = logging.getLogger(__name__)

FOUND: Final = "verification.found"  # event kind
RANGE: Final = 8192  # leaves that every part verifies in one transaction
OVERLAP: Final = timedelta(minutes=10)  # longer than a transaction of web and workers lasts
MOST: Final = 100  # findings of one part in one range that are named: many changed rows are no flood of alarms
LOCK: Final = 1041  # first key of an advisory lock: one run of what is new, and one of everything, at a time

TEXTS: Final = (
    marked(
        "finding", "%(what)s: the stored value is %(stored)s; event %(event)s (%(kind)s, leaf %(leaf)s) says %(said)s"
    ),
    marked("finding", "%(what)s: the stored value is %(stored)s; event %(event)s (leaf %(leaf)s) says %(said)s"),
    marked("finding", "%(what)s: the stored value is %(stored)s; event %(event)s (%(kind)s) says %(said)s"),
    marked("finding", "no event records it"),
    marked("finding", "no event %(kind)s is recorded for it"),
    marked("finding", "no event records the request"),
    marked("finding", "no event records its detection"),
    marked("finding", "is %(verdict)s, but no event records this"),
    marked("finding", "%(what)s: %(state)s; event %(event)s (leaf %(leaf)s) records its detection"),
    marked("finding", "is missing"),
    marked("finding", "was changed afterwards"),
    marked("finding", "%(part)s: %(what)s could not be verified: %(error)s"),
    marked("finding", "%(part)s: %(count)s more findings like this: %(finding)s"),
    marked("finding", "leaves %(first)s to %(last)s"),
    marked("finding", "rows"),
    marked("finding", "log"),
    marked("finding", "ledger"),
    marked("finding", "protection"),
    marked("finding", "reports"),
    marked("finding", "rounds"),
    marked("finding", "nothing"),
    marked("finding", "none"),
    marked("finding", "true"),
    marked("finding", "false"),
    marked("finding", "everything can be verified"),
    marked("finding", "the log is as it was sealed and signed"),
    marked("finding", "checkpoints are signed"),
    marked("finding", "reports are unchanged"),
    marked("finding", "significant events match the log"),
    marked("finding", "approvals match the log"),
    marked("finding", "approvals have events"),
    marked("finding", "request"),
    marked("finding", "decision"),
    marked("finding", "verdict"),
    marked("finding", "approved"),
    marked("finding", "refused"),
    marked("finding", "withdrawn"),
    marked("finding", "expired"),
    marked("finding", "kind"),
    marked("finding", "on"),
    marked("finding", "by"),
    marked("finding", "person"),
    marked("finding", "reason"),
    marked("finding", "expires at"),
    marked("finding", "at"),
    marked("finding", "size"),
    marked("finding", "root"),
    marked("finding", "body"),
    marked("finding", "event %(event)s"),
    marked("finding", "event %(event)s, leaf %(leaf)s"),
    marked("finding", "event %(event)s, leaf %(leaf)s, %(field)s"),
    marked("finding", "leaf %(leaf)s"),
    marked("finding", "tile %(number)s of level %(level)s"),
    marked("finding", "%(tile)s does not lead to the hash above it"),
    marked("finding", "the checkpoint of %(count)s leaves cannot be compared with the tree: %(why)s"),
    marked("finding", "the root over %(count)s leaves is %(root)s; %(signed)s was signed"),
    marked("finding", "the root over %(count)s leaves is %(root)s"),
    marked("finding", "%(name)s has %(root)s: there are two histories"),
    marked("finding", "the checkpoint of %(count)s leaves"),
    marked("finding", "the signer’s history of %(count)s leaves"),
    marked("finding", "latest of the signer"),
    marked("finding", "%(name)s is not signed correctly: %(why)s"),
    marked("finding", "it proves nothing"),
    marked("finding", "%(name)s has %(stored)s in its row"),
    marked("finding", "its note says %(said)s"),
    marked("finding", "%(name)s is in no checkpoint"),
    marked("finding", "its checkpoint was removed"),
    marked("finding", "%(name)s is not in the signer’s history"),
    marked("finding", "the history was shortened"),
    marked("finding", "%(name)s is empty"),
    marked("finding", "its history ends with %(count)s leaves"),
    marked("finding", "its history ends before it begins"),
    marked("finding", "%(name)s covers %(count)s leaves"),
    marked("finding", "there is no signed checkpoint"),
    marked("finding", "nothing proves the %(count)s leaves"),
    marked("finding", "no signed checkpoint covers the leaves from here on, the oldest of %(since)s"),
    marked("finding", "nothing proves them: checkpoints were removed, or the signer does not sign"),
    marked("finding", "the log has %(count)s leaves, but %(name)s covers %(said)s"),
    marked("finding", "the log is an older copy, or leaves were removed from its end"),
    marked("finding", "%(name)s cannot be compared with the log"),
    marked("finding", "%(name)s holds %(count)s hashes"),
    marked("finding", "the tree has %(count)s there"),
    marked("finding", "%(name)s has %(hash)s for tile %(below)s below it"),
    marked("finding", "that tile hashes to %(hash)s: one of the two was changed"),
    marked("finding", "it is also leaf %(leaf)s"),
    marked("finding", "a leaf was inserted without the sealer"),
    marked("finding", "it is waiting to be sealed"),
    marked("finding", "it was queued again and would be sealed twice"),
    marked("finding", "%(name)s is missing"),
    marked("finding", "it was removed"),
    marked("finding", "its number is outside the log"),
    marked("finding", "it was inserted without the sealer"),
    marked("finding", "%(name)s exists"),
    marked("finding", "no tree has such a level"),
    marked("finding", "its number is outside the tree"),
    marked("finding", "line %(number)s of the signer’s history is %(line)s"),
    marked("finding", "it holds leaves, their root and a time"),
    marked("finding", "its body is not a record of an erasure"),
    marked("finding", "it does not name the personal values that were erased, so it covers none"),
    marked("finding", "the event is missing"),
    marked("finding", "it was removed after it was sealed"),
    marked("finding", "its time is %(time)s"),
    marked("finding", "it was sealed as an event written between %(first)s and %(last)s"),
    marked("finding", "the beginning"),
    marked("finding", "it is neither a leaf nor waiting to become one"),
    marked("finding", "it was not written by audit_record"),
    marked("finding", "a personal value has no event"),
    marked("finding", "its event was removed"),
    marked("finding", "its body is not an event"),
    marked("finding", "the row has %(value)s"),
    marked("finding", "the event says %(value)s"),
    marked("finding", "the stored personal value was changed or inserted"),
    marked("finding", "a different personal value was recorded"),
    marked("finding", "the event has no such personal value"),
    marked("finding", "its personal value is missing"),
    marked("finding", "no record says that it was erased or has expired"),
    marked("finding", "leaves %(first)s to %(last)s are missing"),
    marked("finding", "%(count)s events were removed"),
    marked("finding", "the tiles have no hash for it"),
    marked("finding", "it was inserted without the sealer, or tiles are lost"),
    marked("finding", "the event of leaf %(leaf)s is here"),
    marked("finding", "the order was changed"),
    marked("finding", "its body and salt hash to %(hash)s"),
    marked("finding", "what was sealed hashes to %(hash)s: one of them was changed"),
    marked("finding", "report %(number)s is missing"),
    marked("finding", "it was created and then deleted"),
    marked("finding", "%(file)s of report %(number)s differs"),
    marked("finding", "it was changed after creation"),
    marked("finding", "report %(number)s is not recorded"),
    marked("finding", "no event records its creation"),
)
"""Findings about the log, reports, approvals and significant events, and parts of any finding."""


@dataclass(frozen=True)
class Finding:
    """A fault that a run found: *verified* says what was checked, *on* names the object, *text* describes the fault."""

    verified: str
    on: str
    text: str
    is_recorded: bool = False


Tell = Callable[[str, int, int], object]
"""Called with the name of what is verified ("events", "journals"), the number verified, and the number of all."""


@dataclass(frozen=True)
class Evidence:
    """Data kept outside the database, and the keys to trust instead of the configured ones. Events are hashed
    again from leaf *first* on; *done* has the totals afterwards.
    """

    keys: Sequence[Key]
    outside: Outside
    first: int = 0
    done: Done = field(default_factory=Done)


def _say_nothing(_what: str, _done: int, _all: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Scope:
    """Range of a run: leaves *first* to below *beyond*, rows of each table from its id in *low* on.

    *from_start*: verify again what earlier runs verified. *evidence*: compare only the log with it.
    """

    is_whole: bool
    first: int
    beyond: int
    low: Mapping[str, int]
    from_start: bool = False
    evidence: Evidence | None = None
    tell: Tell = _say_nothing


Act = Callable[[Finding, bool], None]
"""Acts on a finding, in a transaction of its own: stops a table, or the signing. The second argument says whether it
is new.
"""


class Verifier:
    """Verifies one part of the house in one run. Both methods yield what is wrong."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def leaves(self, first: int, end: int) -> Iterable[Finding]:
        """Verify leaves *first* up to and excluding *end*, in a transaction; ranges come in order."""
        return ()

    def rows(self) -> Iterable[Finding]:
        """Verify what is not in leaves, after all ranges. It begins its own transactions."""
        return ()


def found_by(function: str, *values: int | datetime) -> Iterator[Finding]:
    """Call a function of the database that returns findings: what was verified, the subject and a sentence."""
    call = sql.SQL("SELECT verified, subject, finding FROM {} ({})").format(
        sql.Identifier(function), sql.SQL(", ").join(sql.Placeholder() * len(values))
    )
    with connection.cursor() as cursor:
        cursor.execute(call, values)
        rows = cursor.fetchall()
    yield from (Finding(*row) for row in rows)


@dataclass(frozen=True)
class Part:
    """A part of the verification; *tables* are those whose new rows it verifies, each with a column ``id``."""

    name: str
    verifier: Callable[[Scope], Verifier]
    tables: Sequence[str] = ()
    act: Act | None = None
    end: Callable[[Sequence[Finding]], None] | None = None  # called after everything was verified, with what was found
    takes_evidence: bool = False  # its `rows` may be called with `Scope.evidence` alone


PROTECTION: Final = "protection"  # a part of several apps

_parts: list[Part] = []


def register(part: Part) -> None:
    """Verify *part* from now on, after those registered before. Several may have one name, and are chosen together."""
    if part not in _parts:  # an application may be set up again in a process, and a finding is one
        _parts.append(part)


def names() -> Sequence[str]:
    """Return the names of all parts."""
    return tuple(dict.fromkeys(part.name for part in _parts))


class AlreadyRunning(Exception):
    """Another process is verifying."""


def run(
    *,
    is_whole: bool,
    parts: Sequence[str] = (),
    since: datetime | None = None,
    from_start: bool = False,
    tell: Tell = _say_nothing,
) -> list[Finding]:
    """Verify the house, or the *parts* with these names, and return what is wrong.

    *is_whole*: everything, or what was written *since* a time; otherwise what is new since the last run of all parts.
    *from_start*: see `Scope`. Raises AlreadyRunning.
    """
    chosen = [part for part in _parts if part.name in (parts or names())]
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s, %s)", [LOCK, int(is_whole)])
        if cursor.fetchone() == (False,):
            raise AlreadyRunning
    try:
        made, scope = _begin(chosen, is_whole=is_whole, since=since)
        return list(_run(chosen, made, replace(scope, from_start=from_start, tell=tell)))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s, %s)", [LOCK, int(is_whole)])


def hold_against(evidence: Evidence, tell: Tell = _say_nothing) -> list[Finding]:
    """Compare the log with evidence from outside, and return what is wrong.

    Nothing is recorded and nothing stopped: somebody may have given the wrong file. Raises what reading the evidence
    raises (`audit.verification.checking.check`).
    """
    scope = Scope(is_whole=True, first=0, beyond=0, low={}, evidence=evidence, tell=tell)
    return [each for part in _parts if part.takes_evidence for each in part.verifier(scope).rows()]


def open_findings(most: int | None = None) -> list[VerificationFinding]:
    """Return the findings that no whole run has found to be gone, the newest first, at most *most*."""
    return list(VerificationFinding.objects.filter(cleared_at=None).order_by("-pk")[:most])


def open_texts(part: str) -> set[str]:
    """Return the sentences of the open findings of a part, which are not recorded again."""
    return set(VerificationFinding.objects.filter(part=part, cleared_at=None).values_list("text", flat=True))


def last_runs() -> dict[bool, VerificationRun | None]:
    """Return the newest run of everything (True) and of what is new (False)."""
    return {each: VerificationRun.objects.filter(is_whole=each).order_by("-pk").first() for each in (True, False)}


def _begin(chosen: Sequence[Part], *, is_whole: bool, since: datetime | None) -> tuple[VerificationRun, Scope]:
    tables = sorted({table for part in _parts for table in part.tables})
    size = (Leaf.objects.order_by("-leaf").values_list("leaf", flat=True).first() or -1) + 1
    marks = {table: _next_id(table) for table in tables}
    first, low = 0, dict.fromkeys(tables, 0)
    if since is not None:
        after = Leaf.objects.filter(event__at__gte=since).order_by("leaf").values_list("leaf", flat=True).first()
        first = size if after is None else after
    elif not is_whole:
        minutes = VerificationRun.objects.filter(is_whole=False, parts=[*names()]).order_by("-pk")
        last = minutes.first()
        first = min(last.next, size) if last else 0
        before = minutes.filter(began_at__lt=Clock() - OVERLAP).first()
        low |= before.marks if before else {}
    made = VerificationRun.objects.create(
        is_whole=is_whole,
        parts=[*dict.fromkeys(part.name for part in chosen)],
        first=first,
        next=first,
        beyond=size,
        marks=marks,
    )
    made.refresh_from_db(fields=["began_at"])
    return made, Scope(is_whole, first, size, {table: low.get(table, 0) for table in tables})


def _next_id(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql.SQL("SELECT coalesce(max(id), 0) + 1 FROM {}").format(sql.Identifier(table)))
        (number,) = cursor.fetchone()
    return int(number)


def _run(chosen: Sequence[Part], made: VerificationRun, scope: Scope) -> Iterator[Finding]:
    verifiers = [(number, part, part.verifier(scope)) for number, part in enumerate(chosen)]
    found: list[list[Finding]] = [[] for _ in chosen]
    for first in range(scope.first, scope.beyond, RANGE):
        end = min(first + RANGE, scope.beyond)
        for number, part, verifier in verifiers:
            findings = _keep(made, part, _of_leaves(part, verifier, first, end))
            found[number] += findings
            yield from findings
        VerificationRun.objects.filter(pk=made.pk).update(next=end)
        scope.tell("events", end, scope.beyond)
    for number, part, verifier in verifiers:
        findings = _keep(made, part, _of_rows(part, verifier))
        found[number] += findings
        yield from findings
    _end(made, chosen, scope, found)


def _of_leaves(part: Part, verifier: Verifier, first: int, end: int) -> list[Finding]:
    try:
        with transaction.atomic():
            return list(verifier.leaves(first, end))
    except Exception as error:  # noqa: BLE001  (an error is a finding)
        return [_failed(part, f"leaves {first} to {end - 1}", error)]


def _of_rows(part: Part, verifier: Verifier) -> list[Finding]:
    try:
        return list(verifier.rows())
    except Exception as error:  # noqa: BLE001  (an error is a finding)
        return [_failed(part, "rows", error)]


def _failed(part: Part, what: str, error: Exception) -> Finding:
    """Return an error as a finding: somebody who can break the verifier must not silence it."""
    logger.error("%s cannot be verified", part.name, exc_info=error)
    said = f"{part.name}: {what} could not be verified: {type(error).__name__}: {error}"
    return Finding("everything can be verified", "verification", said.splitlines()[0])


def _keep(made: VerificationRun, part: Part, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Store and record the findings of one range, have the part act on them, and return all."""
    named = list(findings[:MOST])
    if len(findings) > MOST:
        more = f"{part.name}: {len(findings) - MOST} more findings like this: {findings[MOST - 1].text}"
        named.append(Finding(findings[MOST].verified, findings[MOST].on, more))
    for each in named:
        with transaction.atomic():
            is_new = _store(made, part, each)
        if part.act:
            try:
                with transaction.atomic():
                    part.act(each, is_new)
            except Exception:
                logger.exception("nothing was done about: %s", each.text)
    if named:
        VerificationRun.objects.filter(pk=made.pk).update(findings=F("findings") + len(findings))
    return findings


def _store(made: VerificationRun, part: Part, found: Finding) -> bool:
    """Store a finding, and record it unless it is open already; return whether it is new."""
    key = hashlib.sha256(f"{part.name}\n{found.text}".encode()).hexdigest()
    rows = VerificationFinding.objects.filter(key=key)
    if rows.filter(cleared_at=None).update(last_at=Clock()):
        return False
    if not rows.update(last_at=Clock(), cleared_at=None):
        VerificationFinding.objects.create(
            key=key, part=part.name, verified=found.verified, on=found.on, text=found.text
        )
    if not found.is_recorded:
        data: dict[str, log.Json] = {
            "part": part.name,
            "verified": found.verified,
            "finding": found.text,
            "run": made.pk,
        }
        log.record(FOUND, by="system", on=found.on, data=data)
    return True


@transaction.atomic
def _end(made: VerificationRun, chosen: Sequence[Part], scope: Scope, found: Sequence[Sequence[Finding]]) -> None:
    """End the run. After everything was verified, findings that it has not made again are gone."""
    VerificationRun.objects.filter(pk=made.pk).update(ended_at=Clock())
    if not scope.is_whole or scope.first:
        return
    VerificationFinding.objects.filter(
        part__in=[part.name for part in chosen], cleared_at=None, last_at__lt=made.began_at
    ).update(cleared_at=Clock())
    for part, findings in zip(chosen, found, strict=True):
        if part.end:
            part.end(findings)
