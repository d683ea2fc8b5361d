"""The queue of finished rounds that await verification. Functions of the database write it."""

from collections.abc import Iterable
from uuid import UUID

from django.db import connection, transaction

from players import credentials


def take(after: UUID, most: int) -> list[UUID]:
    """Return the next rounds after an id, in order, locked until the transaction ends.

    Rounds that another worker has locked are left out.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM games_next_replays(%s::uuid, %s::integer)", [after, most])
        return [round_id for (round_id,) in cursor.fetchall()]


def is_due(round_id: UUID) -> bool:
    """Return whether a round is in the queue, and lock it there until the transaction ends."""
    return _said("SELECT games_is_replay_due(%s::uuid)", round_id)


def request(round_id: UUID) -> bool:
    """Put a finished round into the queue; return whether it is new there."""
    return _said("SELECT games_request_replay(%s::uuid)", round_id)


def end(rounds: Iterable[UUID]) -> None:
    """Take verified rounds out of the queue, with a proof for this transaction."""
    ids = list(rounds)
    if not ids:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        proof = credentials.proof_here("replayed", ",".join(map(str, ids)))
        cursor.execute("SELECT games_end_replays(%s::uuid[], %s)", [ids, proof])


def _said(statement: str, round_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, [round_id])
        (answer,) = cursor.fetchone()
    return bool(answer)
