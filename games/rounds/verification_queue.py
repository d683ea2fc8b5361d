"""The queue of finished rounds that await verification, written by functions of the database.

A page that finds a round whose stored data is not a valid round shows a message in its place, puts
the round into the queue and requests its verification at once.
"""

from collections.abc import Iterable
from contextlib import suppress
from uuid import UUID

from celery import current_app
from django.db import connection, transaction
from kombu.exceptions import OperationalError

from audit import log
from games.chemin.coups.redeal import BANK, PUNTER
from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.chemin.record import possible_outcomes
from games.engine.coup import TooFewCards, deal
from games.models import Incident, Participation
from games.variants import GAMES
from players.login import credentials


def take(after: UUID, most: int) -> list[UUID]:
    """Return the next rounds after an id, in order, locked until the transaction ends.

    Rounds that another worker has locked are left out.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM games_next_verifications(%s::uuid, %s::integer)", [after, most])
        return [round_id for (round_id,) in cursor.fetchall()]


def is_due(round_id: UUID) -> bool:
    """Return whether a round is in the queue, and lock it there until the transaction ends."""
    return _said("SELECT games_is_verification_due(%s::uuid)", round_id)


def request(round_id: UUID) -> bool:
    """Put a finished round into the queue; return whether it is new there."""
    return _said("SELECT games_request_verification(%s::uuid)", round_id)


def end(rounds: Iterable[UUID]) -> None:
    """Take verified rounds out of the queue, with a proof for this transaction."""
    ids = list(rounds)
    if not ids:
        return
    with transaction.atomic(), connection.cursor() as cursor:
        proof = credentials.proof_here("verified", ",".join(map(str, ids)))
        cursor.execute("SELECT games_end_verifications(%s::uuid[], %s)", [ids, proof])


def _said(statement: str, round_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, [round_id])
        (answer,) = cursor.fetchone()
    return bool(answer)


SECONDS = 60  # after this, beat has requested the verification anyway


def is_readable(part: Participation) -> bool:
    """Return whether the stored cards and bets form a round of its game; if not, queue it for
    verification.

    A round voided before its deal has no cards and counts as readable.
    """
    fault = _fault(part)
    if fault:
        _report_unreadable(part.round_id, fault)
    return fault is None


def is_showable(part: Participation) -> bool:
    """Return whether the round has cards, and cards and bets form a round of its game."""
    return bool(part.round.cards) and _fault(part) is None


def _fault(part: Participation) -> str | None:
    """Return why the round cannot be shown, or None. Only the seed can show whether the data is true."""
    if not part.round.cards and hasattr(part.round, "void"):
        return None
    game = GAMES[part.round.table_version.table.variant]
    try:
        cards = [Card.parse(code) for code in part.round.cards.split()]
        outcomes = {str(deal(cards).outcome)} if isinstance(game, Variant) else set(map(str, possible_outcomes(cards)))
    except (CardError, TooFewCards) as fault:
        return f"cards: {fault}"
    if part.round.outcome not in outcomes:
        return f"outcome: {part.round.outcome}, by the cards {' or '.join(sorted(outcomes)) or 'none'}"
    known = {bet.code for bet in game.bets} if isinstance(game, Variant) else {PUNTER, BANK}
    unknown = sorted({wager.bet for wager in part.wagers.all()} - known)
    return f"bets: {', '.join(unknown)}" if unknown else None


@transaction.atomic
def _report_unreadable(round_id: UUID, fault: str) -> None:
    """Queue a round for verification and record it, unless it is already queued.

    A round with an incident has been verified already: staff handle it.
    """
    if Incident.objects.filter(round_id=round_id).exists():
        return
    if request(round_id):
        log.record("round.unreadable", by="system", on=f"round:{round_id}", data={"fault": fault})
    transaction.on_commit(_ask_for_the_check)


def _ask_for_the_check() -> None:
    """Send a task as a hint; without it the verification runs within a minute."""
    with suppress(OperationalError):
        current_app.send_task("games.tasks.verify_finished_rounds", retry=False, expires=SECONDS)
