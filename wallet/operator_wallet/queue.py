"""Queue of messages to operators. Rows in PostgreSQL are the queue; Celery messages are only hints.

A message is sent until its operator accepts it, with delays of 1, 2, 4 … seconds up to an hour. If
an acceptance was not stored, the message is sent again. This is harmless, because it names the same
transaction.

A refused message is in doubt. Staff retry it or settle it by hand. Later messages of the same bet
wait for it.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Final

from celery import current_app
from django.db import connection, transaction
from django.db.models.functions import Now
from kombu.exceptions import OperationalError

from audit import log
from players.models import Player, Staff
from wallet.models import MessageKind, MessageState, OperatorMessage
from wallet.operator_wallet import operators
from wallet.seamless_wallet import messages, partners

EXPIRES = 60  # seconds; older hints are dropped


def send_operator_messages_soon() -> None:
    """Start the delivery task after the transaction has committed."""
    transaction.on_commit(_ask)


def _ask() -> None:
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.send_operator_messages", retry=False, expires=EXPIRES)


LONGEST_WAIT: Final = timedelta(hours=1)
LOUD_AFTER: Final = timedelta(hours=1)
"""Staff are alerted once when an operator has not answered for this long.

One alert covers all messages that wait for it.
"""
LONGEST_SAID: Final = 200

# The next due message. The third column says whether its operator has failed to answer a waiting
# message.
DUE: Final = """
SELECT message.id, operator_player.partner_id, EXISTS (
    SELECT FROM wallet_operator_message AS other
    JOIN wallet_operator_bet AS its ON its.id = other.bet_id
    JOIN wallet_operator_player AS theirs ON theirs.player_id = its.player_id
    WHERE other.state = 'waiting' AND other.tries > 0 AND theirs.partner_id = operator_player.partner_id)
FROM wallet_operator_message AS message
JOIN wallet_operator_bet AS bet ON bet.id = message.bet_id
JOIN wallet_operator_player AS operator_player ON operator_player.player_id = bet.player_id
WHERE message.state = 'waiting' AND message.due_at <= clock_timestamp() AND operator_player.partner_id <> ALL (%s)
  AND NOT EXISTS (
    SELECT FROM wallet_operator_message AS earlier
    WHERE earlier.bet_id = message.bet_id AND earlier.id < message.id AND earlier.state IN ('waiting', 'doubt'))
ORDER BY message.due_at, message.id LIMIT 1 FOR UPDATE OF message SKIP LOCKED
"""
ALONE: Final = "SELECT pg_try_advisory_xact_lock(hashtextextended('silent-operator:' || %s, 0))"
LATER: Final = """
UPDATE wallet_operator_message SET tries = tries + 1, said = %s,
    due_at = clock_timestamp() + interval '1 second' * least(2 ^ least(tries, 20), %s)
WHERE id = %s
"""
# Marks a message that has waited too long, unless staff were already alerted to a waiting message
# of the same operator.
SILENT: Final = """
UPDATE wallet_operator_message AS message SET alarmed_at = clock_timestamp()
FROM wallet_operator_bet AS bet JOIN wallet_operator_player AS operator_player USING (player_id)
WHERE message.id = %s AND bet.id = message.bet_id AND message.at < clock_timestamp() - %s * interval '1 second'
  AND NOT EXISTS (
    SELECT FROM wallet_operator_message AS other
    JOIN wallet_operator_bet AS its ON its.id = other.bet_id
    JOIN wallet_operator_player AS theirs ON theirs.player_id = its.player_id
    WHERE other.state = 'waiting' AND other.alarmed_at IS NOT NULL AND theirs.partner_id = operator_player.partner_id)
RETURNING message.id
"""


class NotInDoubt(Exception):
    """There is no such message in doubt."""


def send_due() -> None:
    """Send the due messages, each in its own transaction. Several workers can run it.

    An operator that does not answer is skipped until the next run, so it blocks at most one worker.
    """
    left: set[int] = set()
    while _send_next(left):
        pass


def is_waiting(player: Player) -> bool:
    """Return whether messages about a player's rounds still wait for delivery."""
    return OperatorMessage.objects.filter(bet__player=player, state=MessageState.WAITING).exists()


@transaction.atomic
def try_again(message_id: int, *, by: Staff) -> None:
    """Send a message in doubt once more. Raises NotInDoubt."""
    message = _locked(message_id)
    if message.state != MessageState.DOUBT:
        raise NotInDoubt
    message.state, message.due_at = MessageState.WAITING, Now()
    message.save(update_fields=["state", "due_at"])
    log.record("operator_message.tried_again", by=str(by), on=str(message), data=_described(message))
    send_operator_messages_soon()


@transaction.atomic
def settle(message_id: int, *, note: str, by: Staff) -> None:
    """Close a message in doubt that was settled with the operator in another way. *note* says how.

    Also closes a waiting message of an operator without a key. The ledger is unchanged. Raises
    NotInDoubt.
    """
    message = _locked(message_id)
    if not can_be_settled(message):
        raise NotInDoubt
    message.state, message.ended_at = MessageState.SETTLED, Now()
    message.settled_by, message.note = by, note
    message.save(update_fields=["state", "ended_at", "settled_by", "note"])
    log.record("operator_message.settled", by=str(by), on=str(message), data=_described(message) | {"reason": note})
    send_operator_messages_soon()


def can_be_settled(message: OperatorMessage) -> bool:
    """Return whether staff may settle a message: it is in doubt, or its operator has no active key."""
    if message.state == MessageState.WAITING:
        return partners.running_keys(message.bet.launch.operator_player.partner) == 0
    return message.state == MessageState.DOUBT


def _locked(message_id: int) -> OperatorMessage:
    found = OperatorMessage.objects.filter(pk=message_id).select_for_update(of=("self",))
    message = found.select_related("bet__launch__operator_player__partner").first()
    if message is None:
        raise NotInDoubt
    return message


@transaction.atomic
def _send_next(left: set[int]) -> bool:
    """Send the next due message of an operator not in *left*. Returns False if there is none.

    Adds operators that do not answer to *left*.
    """
    with connection.cursor() as cursor:
        cursor.execute(DUE, [list(left)])
        row = cursor.fetchone()
        if row is None:
            return False
        number, partner, is_silent = row
        if is_silent:
            cursor.execute(ALONE, [partner])
            if cursor.fetchone() == (False,):
                left.add(partner)
                return True
    message = OperatorMessage.objects.select_related("bet__launch__operator_player__partner", "bet__player").get(
        pk=number
    )
    operator_player = message.bet.launch.operator_player
    try:
        said = operators.ask(operator_player.partner, _request_of(message), messages.Done)
        if (said.transaction, said.currency) != (str(message.transaction), message.bet.currency):
            raise operators.NoAnswer("the answer is to something else")
    except operators.Refused as refused:
        _doubt(message, refused.code)
    except operators.NoAnswer as silence:
        left.add(partner)
        _wait(message, silence)
    else:
        operators.note_balance(message.bet.player, said)
        message.state, message.ended_at, message.reference = MessageState.TAKEN, Now(), said.reference or ""
        message.save(update_fields=["state", "ended_at", "reference"])
    return True


def _doubt(message: OperatorMessage, code: str) -> None:
    message.state, message.said = MessageState.DOUBT, code
    message.save(update_fields=["state", "said"])
    log.record("operator_message.refused", by="system", on=str(message), data=_described(message) | {"code": code})


def _wait(message: OperatorMessage, silence: operators.NoAnswer) -> None:
    """Schedule a retry; alert staff after long silence or a rejected key.

    A rejected key does not resolve itself, so that alert is immediate.
    """
    said, is_unknown = str(silence), isinstance(silence, operators.NotRecognised)
    loud_after = timedelta(0) if is_unknown else LOUD_AFTER
    with connection.cursor() as cursor:
        cursor.execute(LATER, [said[:LONGEST_SAID], LONGEST_WAIT.total_seconds(), message.pk])
        cursor.execute(SILENT, [message.pk, loud_after.total_seconds()])
        is_loud = cursor.fetchone() is not None
    data = _described(message) | {"said": said}
    if is_loud and is_unknown:
        log.record("operator_message.not_recognised", by="system", on=str(message), data=data)
    elif is_loud:
        log.record("operator_message.unanswered", by="system", on=str(message), data=data)


def _request_of(message: OperatorMessage) -> messages.Win | messages.Rollback:
    """Return the message in its transport format."""
    bet = message.bet
    said = {
        "player": bet.launch.operator_player.name,
        "session": bet.launch.token,
        "game": bet.game,
        "round": str(bet.round_id),
        "transaction": str(message.transaction),
        "currency": bet.currency,
    }
    if message.kind == MessageKind.WIN:
        return messages.Win(**said, amount=message.amount)
    return messages.Rollback(**said, takes_back=str(message.takes_back))


def _described(message: OperatorMessage) -> dict[str, log.Json]:
    bet = message.bet
    return {
        "operator": bet.launch.operator_player.partner.code,
        "what": message.kind,
        "transaction": str(message.transaction),
        "round": str(bet.round_id),
        "player": f"player:{bet.player_id}",
        "amount": message.amount or bet.amount,
        "currency": bet.currency,
    }
