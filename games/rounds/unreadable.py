"""Finished rounds that cannot be shown, because what is stored of them is no round: pages say so and go on, and the
check that deals rounds again is asked for at once.
"""

from contextlib import suppress
from uuid import UUID

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from audit import log
from games.chemin.bets import BANK, PUNTER
from games.engine.bets import Variant
from games.engine.cards import Card, CardError
from games.engine.chemin.record import possible_outcomes
from games.engine.coup import TooFewCards, deal
from games.models import Incident, Participation, ReplayDue
from games.variants import GAMES

SECONDS = 60  # after which beat has asked for the check anyway


def is_readable(part: Participation) -> bool:
    """Say whether the stored cards and bets make a round of its game. Where they do not, the round is examined. One
    that was annulled before its deal has no cards, and nothing is wrong with it.
    """
    fault = _fault(part)
    if fault:
        _examine(part.round_id, fault)
    return fault is None


def _fault(part: Participation) -> str | None:
    """Return what cannot be shown, None where everything can; whether it is true, the seed alone tells."""
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
def _examine(round_id: UUID, fault: str) -> None:
    """Put a round in the queue of those to be dealt again, on record, unless it waits there already. One with an
    incident has been examined: staff have it.
    """
    if Incident.objects.filter(round_id=round_id).exists():
        return
    _due, is_new = ReplayDue.objects.get_or_create(pk=round_id)
    if is_new:
        log.record("round.unreadable", by="system", on=f"round:{round_id}", data={"fault": fault})
    transaction.on_commit(_ask_for_the_check)


def _ask_for_the_check() -> None:
    """Send a message, which is a hint only: without one the check runs within a minute."""
    with suppress(OperationalError):
        current_app.send_task("games.tasks.replay_finished_rounds", retry=False, expires=SECONDS)
