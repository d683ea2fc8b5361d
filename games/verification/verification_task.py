"""Verification task: deals every finished round again once, soon after it was played.

If a round of a solo table does not match its records, the task voids it, closes the table, opens an
incident and notifies the player. Solo rounds are never voided for any other reason. If only the
proof is missing that the dealer committed to the round in the event log and dealt it, the task
closes the table and opens an incident; the round stands. If a shared
round does not match, the task stops the table for that kind of money and calls the supervisor, who
decides, because other players have played on since.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_noop

from audit import log
from games.errors import DealerAway
from games.incidents import open_incident
from games.models import IncidentKind, LiveRound, Round, Void, VoidReason
from games.rounds import verification_queue
from games.rounds.redeal import Finding
from games.rounds.stored import Problem, problems
from games.rounds.void import void_round
from games.shared import malfunction, shoes
from games.tables.status import close_table
from wallet.ledger import LedgerError

BATCH = 500  # rounds dealt again in one transaction
BATCHES = 40  # batches in one run; the next run does the rest
FIRST = UUID(int=0)
SYSTEM = "system"
CAUSES = {
    IncidentKind.NOT_REPRODUCED: gettext_noop("The re-dealt cards differ from the stored cards."),
    IncidentKind.NOT_RECOMPUTED: gettext_noop(
        "The recomputed settlement differs from the stored settlement or the payouts."
    ),
    IncidentKind.RULES_UNKNOWN: gettext_noop("The rules of the round are not installed."),
    IncidentKind.NOT_DEALT: gettext_noop("There is no proof that the dealer dealt the round."),
}


@dataclass(frozen=True)
class Verified:
    """The result of a run: the number of rounds dealt again, and the rounds that did not match."""

    rounds: int
    suspicious: tuple[UUID, ...]


def verify_finished_rounds() -> Verified:
    """Deal the due rounds again and act on those that do not match their records.

    Any number of workers can run this at the same time, and a repeat after a crash is harmless: a
    round leaves the queue in the transaction that checks it.
    """
    count, last = 0, FIRST
    suspicious: list[UUID] = []
    for _ in range(BATCHES):
        batch = _verify_batch(last)
        if not batch.rounds:
            break
        count += batch.rounds
        suspicious += batch.suspicious
        last = batch.last
    for round_id in suspicious:
        _act(round_id)
    if count:
        data: dict[str, log.Json] = {
            "reproduced": count - len(suspicious),
            "suspicious": [str(each) for each in suspicious],
        }
        log.record("rounds.verified", by=SYSTEM, on="rounds", data=data)
    return Verified(count, tuple(suspicious))


@dataclass(frozen=True)
class _Batch:
    rounds: int
    suspicious: tuple[UUID, ...]
    last: UUID


@transaction.atomic
def _verify_batch(after: UUID) -> _Batch:
    """Deal the next rounds of the queue again, in the order of their ids.

    Rounds that match leave the queue. Each of the others is handled in its own transaction, which
    locks a table and accounts.
    """
    ids = verification_queue.take(after, BATCH)
    if not ids:
        return _Batch(0, (), after)
    settled = {played.pk for played, problem in problems(ids) if problem is None}
    settled.update(Void.objects.filter(pk__in=ids).values_list("pk", flat=True))
    verification_queue.end(settled)
    return _Batch(len(ids), tuple(round_id for round_id in ids if round_id not in settled), ids[-1])


@transaction.atomic
def _act(round_id: UUID) -> None:
    """Check a suspicious round again, alone, and act on the result."""
    if not verification_queue.is_due(round_id):
        return  # another worker has handled it
    if not Round.objects.filter(pk=round_id).exists():
        log.record("round.missing", by=SYSTEM, on=f"round:{round_id}", data={"table": "games_round"})
    for played, problem in problems([round_id]):
        if problem and played.shoe_id:
            malfunction.stop(
                live_round=LiveRound.objects.get(pk=round_id),
                kind=problem.kind,
                cause=CAUSES[problem.kind],
                found=problem.found,
                by=SYSTEM,
            )
        elif problem and problem.kind is IncidentKind.RULES_UNKNOWN:
            _open(played, problem.kind, problem.found, [gettext_noop("No action: the round stands.")])
        elif problem and problem.kind is IncidentKind.NOT_DEALT:
            _close(played)
            _open(
                played, problem.kind, problem.found, [gettext_noop("Table closed."), gettext_noop("The round stands.")]
            )
        elif problem:
            _void(played, problem)
    verification_queue.end([round_id])


def publish_seeds() -> None:
    """Publish the seeds of shoes that have ended. If rounds do not follow from one, stop the table.

    Ends quietly while the dealer is away: the next run tries again.
    """
    with suppress(DealerAway):
        for shoe_id in shoes.unpublished():
            malfunction.publish_seed(shoe_id)


def _void(played: Round, problem: Problem) -> None:
    """Close the table, void the round and open an incident. Locks the table before the accounts."""
    close_table(
        table_id=played.table_version.table_id, reason=f"Round {played.code} does not match its seed.", by=SYSTEM
    )
    try:
        with transaction.atomic():
            void_round(round_id=played.pk, reason=VoidReason.NOT_REPRODUCED, by=SYSTEM)
    except LedgerError as refusal:
        found = (*problem.found, Finding("reversal", f"{type(refusal).__name__}: {refusal}", "possible"))
        _open(
            played,
            IncidentKind.LEDGER_REFUSES,
            found,
            [gettext_noop("Table closed."), gettext_noop("Round not voided: see the ledger.")],
        )
    else:
        _open(
            played,
            problem.kind,
            problem.found,
            [
                gettext_noop("Table closed."),
                gettext_noop("Round voided."),
                gettext_noop("Players informed at the table."),
            ],
        )


def _close(played: Round) -> None:
    """Close the table of a round that nobody proves to have dealt."""
    reason = f"Nothing proves that the dealer dealt round {played.code}."
    close_table(table_id=played.table_version.table_id, reason=reason, by=SYSTEM)


def _open(played: Round, kind: IncidentKind, found: Iterable[Finding], done: Sequence[str]) -> None:
    table_id = played.table_version.table_id
    open_incident(kind=kind, table_id=table_id, round_id=played.pk, found=found, done=done, by=SYSTEM)
