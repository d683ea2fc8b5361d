"""Every finished round is dealt again once, soon after it was played: its seed has to reproduce everything kept of it.

Where it does not, the round is annulled, its table closed, an incident opened, and the players are told. This is the
only reason for which a round is ever annulled, and nobody can ask for it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q, Sum

from audit import log
from games.engine.bets import Variant
from games.incidents import open_incident
from games.models import IncidentKind, Participation, ReplayDue, Round, Void, VoidReason
from games.recall import Finding, Moved, StoredPart, StoredRound, StoredWager, findings
from games.tables import set_open
from games.variants import VARIANTS
from games.void import void_round
from wallet.ledger import LedgerError
from wallet.models import Entry

BATCH = 500  # rounds dealt again in one transaction
BATCHES = 40  # in one run; what is left then waits for the next one
FIRST = UUID(int=0)
SYSTEM = "system"


@dataclass(frozen=True)
class Replayed:
    """How many rounds a run has dealt again, and those that it had to do something about."""

    rounds: int
    suspicious: tuple[UUID, ...]


def replay_finished_rounds() -> Replayed:
    """Deal again what is due, and act where a seed does not reproduce its round.

    Any number of workers may run this at once, and one that dies repeats harmlessly: a round leaves the queue in the
    transaction that has looked at it.
    """
    count, last = 0, FIRST
    suspicious: list[UUID] = []
    for _ in range(BATCHES):
        batch = _replay_batch(last)
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
        log.record("rounds.replayed", by=SYSTEM, on="rounds", data=data)
    return Replayed(count, tuple(suspicious))


@dataclass(frozen=True)
class _Batch:
    rounds: int
    suspicious: tuple[UUID, ...]
    last: UUID


@transaction.atomic
def _replay_batch(after: UUID) -> _Batch:
    """Deal the next rounds of the queue again, in the order of their ids, and take those off it that are reproduced.

    The others stay: each is acted on in a transaction of its own, which locks a table and accounts.
    """
    due = ReplayDue.objects.filter(pk__gt=after).order_by("pk").select_for_update(skip_locked=True)[:BATCH]
    ids = [each.pk for each in due]
    if not ids:
        return _Batch(0, (), after)
    settled = {played.pk for played, stored in _stored(ids) if not _problem(played, stored)}
    settled.update(Void.objects.filter(pk__in=ids).values_list("pk", flat=True))
    ReplayDue.objects.filter(pk__in=settled).delete()
    return _Batch(len(ids), tuple(round_id for round_id in ids if round_id not in settled), ids[-1])


@dataclass(frozen=True)
class _Problem:
    kind: IncidentKind
    found: tuple[Finding, ...]


def _problem(played: Round, stored: StoredRound) -> _Problem | None:
    """Say what is the matter with a round, or None where its seed reproduces it."""
    version = played.table_version
    variant = _rules(version.table.variant, version.rules_digest)
    if variant is None:
        known = VARIANTS.get(version.table.variant)
        rules = Finding("rules", version.rules_digest, known.digest if known else "no such game")
        return _Problem(IncidentKind.RULES_UNKNOWN, (rules,))
    found = findings(stored, variant)
    return _Problem(IncidentKind.NOT_REPRODUCED, found) if found else None


def _rules(slug: str, digest: str) -> Variant | None:
    """Return the rules with this digest: a round settles under those it was staked under, whatever holds now."""
    variant = VARIANTS.get(slug)
    return variant if variant and variant.digest == digest else None


@transaction.atomic
def _act(round_id: UUID) -> None:
    """Look at a suspicious round once more, alone with it, and do what has to be done."""
    if not ReplayDue.objects.filter(pk=round_id).select_for_update().exists():
        return  # another worker has
    if not Round.objects.filter(pk=round_id).exists():
        log.record("round.missing", by=SYSTEM, on=f"round:{round_id}", data={"table": "games_round"})
    for played, stored in _stored([round_id]):
        problem = _problem(played, stored)
        if problem and problem.kind is IncidentKind.RULES_UNKNOWN:
            _open(played, problem.kind, problem.found, ["Nothing: the round stands."])
        elif problem:
            _annul(played, problem)
    ReplayDue.objects.filter(pk=round_id).delete()


def _annul(played: Round, problem: _Problem) -> None:
    """Close the table, move the money back, keep what was found. The table is locked first, then accounts."""
    table_id = played.table_version.table_id
    reason = f"Round {played.code} does not follow from its seed."
    set_open(table_id=table_id, is_open=False, reason=reason, by=SYSTEM)
    try:
        with transaction.atomic():
            void_round(round_id=played.pk, reason=VoidReason.NOT_REPRODUCED, by=SYSTEM)
    except LedgerError as refusal:
        found = (*problem.found, Finding("reversal", f"{type(refusal).__name__}: {refusal}", "possible"))
        _open(played, IncidentKind.LEDGER_REFUSES, found, ["Table closed.", "Round not voided: see the ledger."])
    else:
        _open(played, problem.kind, problem.found, ["Table closed.", "Round voided.", "Players told at the table."])


def _open(played: Round, kind: IncidentKind, found: Iterable[Finding], done: Sequence[str]) -> None:
    table_id = played.table_version.table_id
    open_incident(kind=kind, table_id=table_id, round_id=played.pk, found=found, done=done, by=SYSTEM)


def _stored(ids: Sequence[UUID]) -> Iterator[tuple[Round, StoredRound]]:
    """Read rounds with all that is kept of them, in a fixed number of queries; those annulled already are left out."""
    parts: dict[UUID, list[StoredPart]] = {}
    for part in Participation.objects.filter(round_id__in=ids).prefetch_related("wagers").order_by("pk"):
        parts.setdefault(part.round_id, []).append(_stored_part(part))
    moved = _moved(ids)
    voided = Void.objects.filter(pk__in=ids).values("pk")
    for played in Round.objects.filter(pk__in=ids).exclude(pk__in=voided).select_related("table_version__table"):
        yield (
            played,
            StoredRound(
                seed=bytes(played.seed),
                commitment=played.commitment,
                player_value=played.player_value,
                cards=played.cards,
                outcome=played.outcome,
                mode=played.mode,
                parts=tuple(parts.get(played.pk, ())),
                moved=moved.get(played.pk, {}),
            ),
        )


def _stored_part(part: Participation) -> StoredPart:
    return StoredPart(
        player=part.player_id,
        currency=part.currency,
        mode=part.mode,
        staked=part.staked,
        paid=part.paid,
        commission=part.commission,
        balance_before=part.balance_before,
        balance_after=part.balance_after,
        wagers=tuple(
            StoredWager(wager.bet, wager.stake, wager.payout, wager.commission, wager.result)
            for wager in part.wagers.all()
        ),
    )


def _moved(ids: Sequence[UUID]) -> Mapping[UUID, dict[int, Moved]]:
    """Return what the ledger moved for each round and player: stakes, and whatever else its journals paid."""
    entries = (
        Entry.objects.filter(journal__round_id__in=ids, account__owner__isnull=False)
        .values_list("journal__round_id", "account__owner_id", "currency", "mode")
        .annotate(
            staked=Sum("amount", filter=Q(journal__kind="stake"), default=0),
            paid=Sum("amount", filter=~Q(journal__kind="stake"), default=0),
        )
    )
    moved: dict[UUID, dict[int, Moved]] = {}
    for round_id, owner, currency, mode, staked, paid in entries:
        players = moved.setdefault(round_id, {})
        before = players.get(owner, Moved(0, 0, frozenset()))
        money = before.money | {(currency, mode)}
        players[owner] = Moved(before.staked - staked, before.paid + paid, money)
    return moved
