"""Bets with an operator's money: request the stakes before a round, return what is left after it.

A bet is committed before the operator is asked. Then it is either played or given up, once, under
the lock of its row. So a process may crash at any point. `sweep` gives up bets that were neither
played nor refused. A bet that is given up is rolled back at the operator: the rollback is sent
until the operator accepts it.
"""

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from audit import log
from audit.models import Clock
from players.models import Player
from wallet import ledger
from wallet.ledger import Line, accounts
from wallet.models import AccountKind, BetState, MessageKind, Mode, OperatorBet, OperatorLaunch, OperatorMessage
from wallet.operator_wallet import operators, queue
from wallet.operator_wallet.operators import SECONDS_TO_ANSWER
from wallet.seamless_wallet import messages

BET: Final = "operator_bet"
BACK: Final = "operator_return"
JOURNALS: Final = (BET, BACK)
LOST_AFTER: Final = timedelta(seconds=6 * SECONDS_TO_ANSWER)
"""Age after which no process waits for the answer to a bet any more."""
INSUFFICIENT: Final = "insufficient-funds"
SESSION_OVER: Final = "session-over"


class BetError(Exception):
    """Base error: no money is staked."""


class BetUnderWay(BetError):
    """A request for the stakes of this round is already in progress."""


class BetRefused(BetError):
    """The operator refused the bet. *code* is the reason (docs/seamless.md)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class BetNotAsked(BetError):
    """Too many requests already wait for the operator, so it was not asked."""


class BetUnanswered(BetError):
    """The operator did not answer, or too late. The stakes are rolled back."""


def ask(*, player: Player, launch: OperatorLaunch, round_id: UUID, game: str, amount: int) -> OperatorBet:
    """Request a stake of *amount* minor units from the operator and return the accepted bet.

    Call it outside of any transaction: the request must stay on record whatever happens. Raises
    BetNotAsked, BetUnderWay, BetRefused, BetUnanswered.
    """
    try:
        with operators.waiting_for(launch.operator_player.partner):
            return _ask(player=player, launch=launch, round_id=round_id, game=game, amount=amount)
    except operators.Busy as error:
        raise BetNotAsked from error


def _ask(*, player: Player, launch: OperatorLaunch, round_id: UUID, game: str, amount: int) -> OperatorBet:
    bet = OperatorBet(
        launch=launch, player=player, round_id=round_id, game=game, amount=amount, currency=player.currency
    )
    try:
        with transaction.atomic(durable=True):
            bet.save(force_insert=True)
    except IntegrityError as error:
        raise BetUnderWay from error
    try:
        said = operators.ask(launch.operator_player.partner, _asked(bet), messages.Done)
    except operators.Refused as refused:
        _decide(bet, BetState.REFUSED, refused.code)
        raise BetRefused(refused.code) from refused
    except operators.NoAnswer as silence:
        give_up(bet, str(silence))
        raise BetUnanswered from silence
    if (said.transaction, said.currency) != (str(bet.pk), bet.currency):
        give_up(bet, "the answer is to something else")
        raise BetUnanswered
    operators.note_balance(player, said)
    bet.reference = said.reference or ""
    return bet


def book(bet: OperatorBet) -> int:
    """Post the stakes from the operator to the player, in the round's transaction.

    Returns the player's balance here before that, so that the operator's money is not mixed with
    it. It is normally 0. Raises BetUnanswered if the bet was given up first.
    """
    if not _decide(bet, BetState.PLAYED):
        raise BetUnanswered
    before = accounts.balance(bet.player_id, Mode.REAL)
    _post(bet, bet.pk, BET, bet.amount)
    return before


def give_back(bet: OperatorBet, before: int) -> OperatorMessage:
    """Post what is left after the round to the operator, and queue a win message.

    Runs in the round's transaction. At 0 the message says that the round is over. The balance
    *before* the round is not the operator's and stays.
    """
    amount = accounts.balance(bet.player_id, Mode.REAL) - before
    message = OperatorMessage.objects.create(bet=bet, kind=MessageKind.WIN, amount=amount)
    if amount:
        _post(bet, message.transaction, BACK, -amount)
    queue.send_operator_messages_soon()
    return message


@transaction.atomic
def give_up(bet: OperatorBet, why: str) -> bool:
    """Give up a bet that plays no round and queue its rollback.

    Returns whether the bet was still undecided.
    """
    if not _decide(bet, BetState.GIVEN_UP, why):
        return False
    OperatorMessage.objects.create(bet=bet, kind=MessageKind.ROLLBACK, amount=0, takes_back=bet.pk)
    data: dict[str, log.Json] = {
        "bet": str(bet.pk),
        "round": str(bet.round_id),
        "amount": bet.amount,
        "currency": bet.currency,
        "why": why,
    }
    log.record("operator_bet.given_up", by="system", on=f"player:{bet.player_id}", data=data)
    queue.send_operator_messages_soon()
    return True


def take_back(round_id: UUID) -> None:
    """Queue the rollbacks of a void round: first of its win, then of its bet.

    The postings here are reversed in the same transaction.
    """
    win = OperatorMessage.objects.filter(bet__round_id=round_id, kind=MessageKind.WIN).select_related("bet").first()
    if win is None:
        return
    for taken in (win.transaction, win.bet_id):
        OperatorMessage.objects.create(bet=win.bet, kind=MessageKind.ROLLBACK, amount=0, takes_back=taken)
    queue.send_operator_messages_soon()


def sweep() -> int:
    """Give up bets whose request is older than `LOST_AFTER`, and return how many.

    A bet that is being played at this moment is skipped.
    """
    given_up = 0
    while _sweep_next():
        given_up += 1
    return given_up


@transaction.atomic
def _sweep_next() -> bool:
    lost = OperatorBet.objects.filter(state=BetState.ASKED, asked_at__lt=Clock() - LOST_AFTER)
    bet = lost.select_for_update(skip_locked=True).order_by("asked_at").first()
    return bet is not None and give_up(bet, "nobody waited for the answer")


def _asked(bet: OperatorBet) -> messages.Bet:
    return messages.Bet(
        player=bet.launch.operator_player.name,
        session=bet.launch.token,
        game=bet.game,
        round=str(bet.round_id),
        transaction=str(bet.pk),
        currency=bet.currency,
        amount=bet.amount,
    )


@transaction.atomic
def _decide(bet: OperatorBet, state: BetState, why: str = "") -> bool:
    """Decide a bet under the lock of its row. Returns False if it was already decided."""
    if OperatorBet.objects.select_for_update().get(pk=bet.pk).state != BetState.ASKED:
        return False
    bet.state, bet.why, bet.ended_at = state, why[:64], Now()
    bet.save(update_fields=["state", "why", "ended_at", "reference"])
    return True


def _post(bet: OperatorBet, key: UUID, kind: str, amount: int) -> None:
    """Move *amount* minor units from the operator to the player, back if negative."""
    cash = accounts.player_account(bet.player_id, Mode.REAL)
    operator = accounts.house_account(AccountKind.OPERATOR, bet.currency, Mode.REAL)
    lines = (Line(operator, bet.currency, Mode.REAL, -amount), Line(cash, bet.currency, Mode.REAL, amount))
    ledger.post(ledger.Journal(key, kind, lines, bet.round_id))
