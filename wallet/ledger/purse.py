"""The purse: a separate balance for a game.

A re-buy fills it from cash, and leaving returns the rest.

All that is left returns to cash, however the player leaves. Error messages are sentences in the
active language.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid4, uuid5

from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from audit import log
from players.models import Player
from players.protection import eligibility
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Entry, Mode
from wallet.money import format_money


class Leaving(StrEnum):
    """Reason for emptying a purse, as written to the event log."""

    GAME = "left the game"
    SESSION = "logged out"
    IDLE = "did nothing"
    EXCLUDED = "stopped playing"
    LOCKED = "account locked"


class PurseError(Exception):
    """Base error: nothing moved. The message is for the player."""


class NotEligible(PurseError):
    """The player is not eligible to play."""


class MoreThanBalance(PurseError):
    """The re-buy exceeds the balance of the cash account."""


class FormUsed(PurseError):
    """The form's idempotency key was used for another amount."""


@dataclass(frozen=True)
class Returned:
    """The amount returned to cash, in minor units.

    *repeated* is true if an earlier call with the same key did it.
    """

    amount: int
    repeated: bool


def balance(player: Player, mode: Mode) -> int:
    """Return the balance of the player's purse in minor units, 0 if there is no purse."""
    return accounts.totals(player.pk).balances(AccountKind.PURSE).get(mode, 0)


def rebuy(*, player: Player, mode: Mode, amount: int, key: UUID) -> ledger.Posted:
    """Move *amount* minor units from the player's cash into the purse.

    The same *key* moves them once.

    Raises NotEligible, MoreThanBalance, FormUsed, and records each refusal.
    """
    try:
        return _fill(player, mode, amount, uuid5(key, f"rebuy:{player.pk}:{mode.value}"))
    except PurseError as refusal:
        data: dict[str, log.Json] = {"reason": type(refusal).__name__, "amount": amount, "mode": mode.value}
        log.record_refusal("purse.refused", by=str(player), on=str(player), data=data)
        raise


@transaction.atomic
def leave(*, player: Player, mode: Mode, key: UUID) -> Returned:
    """Return the whole purse to the player's cash.

    A repeated *key* moves nothing and returns the first result.
    """
    return _empty(player, mode, uuid5(key, f"leave:{player.pk}:{mode.value}"), Leaving.GAME, str(player))


@transaction.atomic
def give_back(*, player: Player, mode: Mode, why: Leaving, by: str) -> int:
    """Return the whole purse to the player's cash, and return the amount in minor units."""
    return _empty(player, mode, uuid4(), why, by).amount


@transaction.atomic
def _fill(player: Player, mode: Mode, amount: int, key: UUID) -> ledger.Posted:
    ineligibility = eligibility.check_play(player, real=mode is Mode.REAL)
    if ineligibility:
        raise NotEligible(ineligibility.message)
    accounts.open_purse(player, mode)
    cash, purse = accounts.lock_cash_and(AccountKind.PURSE, player.pk, mode)
    has = (cash.balance or 0) - cash.held
    if has < amount and ledger.find(key) is None:
        raise MoreThanBalance(
            _("Your balance is %(amount)s. Choose an amount that is not higher.")
            % {"amount": format_money(has, player.currency, get_language() or "en")}
        )
    try:
        posted = _move(player, mode, key, "rebuy", cash.pk, purse.pk, amount)
    except ledger.PostingConflict as conflict:
        raise FormUsed(
            _("This form has already been sent with a different amount. Check your balance before you send it again.")
        ) from conflict
    if not posted.repeated:
        _record("purse.filled", player, mode, posted, amount, by=str(player), more={})
    return posted


def _empty(player: Player, mode: Mode, key: UUID, why: Leaving, by: str) -> Returned:
    """Return everything that is not held for a round to cash.

    Both accounts are locked when the balance is read, so a stake is posted completely before or
    completely after.
    """
    try:
        cash, purse = accounts.lock_cash_and(AccountKind.PURSE, player.pk, mode)
    except Account.DoesNotExist:
        return Returned(0, repeated=False)
    before = ledger.find(key)
    if before is not None:
        entry = Entry.objects.get(journal_id=before.journal_id, account_id=cash.pk)
        return Returned(entry.amount, repeated=True)
    amount = (purse.balance or 0) - purse.held
    if amount:
        posted = _move(player, mode, key, "leave", purse.pk, cash.pk, amount)
        _record("purse.returned", player, mode, posted, amount, by=by, more={"why": why.value})
    return Returned(amount, repeated=False)


def _move(player: Player, mode: Mode, key: UUID, kind: str, source: int, target: int, amount: int) -> ledger.Posted:
    lines = (
        ledger.Line(source, player.currency, mode, -amount),
        ledger.Line(target, player.currency, mode, amount),
    )
    (posted,) = ledger.post(ledger.Journal(key, kind, lines))
    return posted


def _record(
    kind: str, player: Player, mode: Mode, posted: ledger.Posted, amount: int, *, by: str, more: dict[str, log.Json]
) -> None:
    data: dict[str, log.Json] = {
        "journal": posted.journal_id,
        "amount": amount,
        "currency": player.currency,
        "mode": mode.value,
    }
    log.record(kind, by=by, on=str(player), data=data | more)
