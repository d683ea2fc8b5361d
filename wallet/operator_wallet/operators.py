"""Operators whose players play here: as whom they are asked, and what their players have there."""

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
from wallet.models import AccountKind, Mode, Partner, PartnerKey, RemoteLaunch, RemotePlayer
from wallet.operator_wallet import client
from wallet.seamless_wallet import keys, messages

logger = structlog.get_logger(__name__)

# How many threads of a web process may wait for one operator, and for all of them: whoever asks one that hangs holds a
# thread for as long as an answer may take, and the others are for the rest of the house.
MOST_WAIT_FOR_ONE: Final = max(1, settings.WEB_THREADS // 4)
MOST_WAIT: Final = max(1, settings.WEB_THREADS // 2)
_waiting: Counter[int] = Counter()  # for whom, by the number of the partner
_counting: Final = threading.Lock()

Answer = TypeVar("Answer", messages.Done, messages.Balance)
UNIX_TIME: Final = "SELECT floor(extract(epoch FROM clock_timestamp()))::bigint"


def ask(partner: Partner, message: messages.BalanceAsked | messages.Asked, answer: type[Answer]) -> Answer:
    """Return what an operator answers. Raises client.Refused, client.NoAnswer, and of the latter client.NotRecognised
    where it has no key any more, too.
    """
    try:
        key = keys.signing_key(partner)
    except PartnerKey.DoesNotExist as error:
        raise client.NotRecognised("the operator has no key") from error
    with connection.cursor() as cursor:
        cursor.execute(UNIX_TIME)
        (now,) = cursor.fetchone()
    operator = client.Operator(partner.address, key.name, keys.secret_of(key))
    return client.ask(operator, message, answer, at=now)


class Busy(Exception):
    """As many threads of this process wait for the operator, or for operators at all, as may: it was asked nothing."""


@contextmanager
def waiting_for(partner: Partner) -> Iterator[None]:
    """Count a thread that waits for an operator's answer within the block. Raises Busy at once where too many do."""
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
    """Keep what the operator has just said its player has."""
    if said.currency == player.currency and said.balance is not None:
        RemotePlayer.objects.filter(pk=player.pk).update(balance=said.balance, said_at=Clock())


def refresh_balance(player: Player, launch: RemoteLaunch) -> None:
    """Ask the operator what its player has; where it does not say, what it said last goes on to count."""
    remote = launch.remote
    asked = messages.BalanceAsked(player=remote.name, session=launch.token)
    try:
        with waiting_for(remote.partner):
            note_balance(player, ask(remote.partner, asked, messages.Balance))
    except (client.Refused, client.NoAnswer, Busy) as error:
        logger.info("remote_balance_unknown", partner=remote.partner.code, said=str(error) or type(error).__name__)


def funds(player: Player, mode: Mode, kind: AccountKind = AccountKind.CASH) -> int:
    """Return what a player has to play with, in minor units: of an operator's player what the operator said last."""
    if player.is_remote and mode is Mode.REAL and kind is AccountKind.CASH:
        return RemotePlayer.objects.values_list("balance", flat=True).get(pk=player.pk)
    return accounts.balance(player.pk, mode, kind)


def forget(player: Player) -> None:
    """Forget what the operator called a player whose account was closed for long enough, and its sessions with them.
    The database refuses where it was not.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT wallet_forget_remote(%s)", [player.pk])


def launch_of(player: Player, session: UUID | None) -> RemoteLaunch | None:
    """Return the visit that a session began with; None where it began otherwise, and where its operator is switched off
    or has no key: there is nobody to play with.
    """
    if session is None:
        return None
    asked = PartnerKey.objects.filter(partner=OuterRef("remote__partner"), partner__off_at=None, ended_at=None)
    found = RemoteLaunch.objects.filter(Exists(asked), remote=player.pk, session=session)
    return found.select_related("remote__partner").first()
