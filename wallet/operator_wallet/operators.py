"""Requests to operators, and the balances of operators' players."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import connection
from django.db.models import Exists, OuterRef

from audit.models import Clock
from players.models import Player
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, OperatorLaunch, OperatorPlayer, Partner, PartnerKey
from wallet.operator_wallet import client
from wallet.seamless_wallet import messages, signing

logger = structlog.get_logger(__name__)

# Maximum number of web threads that may wait for one operator, and for all of them. A request to an
# operator that hangs blocks a thread until the timeout. The other threads serve the rest of the
# site.
MOST_WAIT_FOR_ONE: Final = max(1, settings.WEB_THREADS // 4)
MOST_WAIT: Final = max(1, settings.WEB_THREADS // 2)
_waiting: Counter[int] = Counter()  # number of waiting threads by partner id
_counting: Final = threading.Lock()

Answer = TypeVar("Answer", messages.Done, messages.Balance)
UNIX_TIME: Final = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"


def ask(partner: Partner, message: messages.BalanceAsked | messages.Asked, answer: type[Answer]) -> Answer:
    """Send a message to an operator and return its response.

    Raises client.Refused, client.NoAnswer, and client.NotRecognised also if the operator has no
    active key.
    """
    try:
        key = signing.signing_key(partner)
    except PartnerKey.DoesNotExist as error:
        raise client.NotRecognised("the operator has no key") from error
    with connection.cursor() as cursor:
        cursor.execute(UNIX_TIME)
        (now,) = cursor.fetchone()
    operator = client.Operator(partner.address, key.name, signing.secret_of(key))
    return client.ask(operator, message, answer, at=now)


class Busy(Exception):
    """Too many threads of this process already wait for this operator or for operators in total."""


@contextmanager
def waiting_for(partner: Partner) -> Iterator[None]:
    """Count a thread as waiting for an operator within the block.

    Raises Busy at once above the maximum.
    """
    with _counting:
        if _waiting[partner.pk] >= MOST_WAIT_FOR_ONE or _waiting.total() >= MOST_WAIT:
            raise Busy
        _waiting[partner.pk] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[partner.pk] -= 1


def note_balance(player: Player, said: messages.Done | messages.Balance) -> None:
    """Store the balance that the operator has just reported."""
    if said.currency == player.currency and said.balance is not None:
        OperatorPlayer.objects.filter(pk=player.pk).update(balance=said.balance, said_at=Clock())


def refresh_balance(player: Player, launch: OperatorLaunch) -> None:
    """Query the operator for the player's balance.

    Without an answer, the last reported balance stays.
    """
    operator_player = launch.operator_player
    asked = messages.BalanceAsked(player=operator_player.name, session=launch.token)
    try:
        with waiting_for(operator_player.partner):
            note_balance(player, ask(operator_player.partner, asked, messages.Balance))
    except (client.Refused, client.NoAnswer, Busy) as error:
        logger.info(
            "remote_balance_unknown", partner=operator_player.partner.code, said=str(error) or type(error).__name__
        )


def funds(player: Player, mode: Mode, kind: AccountKind = AccountKind.CASH) -> int:
    """Return the balance a player can play with, in minor units.

    For an operator's player, it is the balance that the operator reported last.
    """
    if player.uses_operator_wallet and mode is Mode.REAL and kind is AccountKind.CASH:
        return OperatorPlayer.objects.values_list("balance", flat=True).get(pk=player.pk)
    return accounts.balance(player.pk, mode, kind)


def forget(player: Player) -> None:
    """Erase the operator's id for a player and its session tokens.

    The database refuses if the account has not been closed long enough.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_forget_operator_player(%s)", [player.pk])


def launch_of(player: Player, session: UUID | None) -> OperatorLaunch | None:
    """Return the launch that started a login session.

    None if the session began otherwise, or if its operator is switched off or has no active key.
    """
    if session is None:
        return None
    asked = PartnerKey.objects.filter(partner=OuterRef("operator_player__partner"), partner__off_at=None, ended_at=None)
    found = OperatorLaunch.objects.filter(Exists(asked), operator_player=player.pk, session=session)
    return found.select_related("operator_player__partner").first()
