"""Payouts: send withdrawals to a bank, query it, and process its answers.

``PAYOUT_PROVIDER`` configures the bank. A withdrawal is set to `sending`, with its own reference,
before the bank gets the order. A bank executes an order with the same reference once. So after a
crash the task repeats the order and nothing is paid twice. Without a provider, approved withdrawals
wait.
"""

import hashlib
import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string

from audit import log
from players import rates
from players.identity.verification import latest
from wallet import withdrawals
from wallet.models import PayoutNotice, Withdrawal, WithdrawalStatus
from wallet.payouts.accounts import reveal

logger = logging.getLogger(__name__)


class PayoutFailed(Exception):
    """The bank cannot be reached or refuses the call. The message is for the log."""


class NotTheBank(Exception):
    """The message is not from the bank, or its time is outside the window."""


@dataclass(frozen=True)
class Order:
    """A payout order for a bank. The same *reference* is always the same order."""

    reference: UUID
    iban: str
    holder: str
    amount: int  # minor units
    currency: str


@dataclass(frozen=True)
class BankAnswer:
    """A bank's answer about an order.

    *state* is ``accepted`` until the bank decides, then ``paid`` with the bank's number or
    ``refused`` with a reason (one of ``wallet.withdrawals.BANK_REASONS``).
    """

    reference: UUID
    state: str
    amount: int  # minor units
    currency: str
    number: str = ""
    reason: str = ""


class Provider(Protocol):
    """A bank that executes payouts. Each method raises PayoutFailed if the bank cannot be reached."""

    name: str

    def send(self, order: Order) -> None:
        """Send an order. A repeated reference changes nothing."""

    def ask(self, reference: UUID) -> BankAnswer | None:
        """Query the state of an order. None if the bank has no such order."""

    def read(self, body: bytes, signature: str) -> BankAnswer:
        """Parse a callback message. Raises NotTheBank."""


class Outcome(StrEnum):
    """Result of a bank's message."""

    PAID = "paid"
    RETURNED = "returned"
    NOTHING_NEW = "nothing new"
    UNKNOWN = "unknown reference"
    MISMATCH = "another amount or currency"
    CONTRADICTION = "contradicts what was decided"
    FORGED = "not the bank"


ALARMS = (Outcome.UNKNOWN, Outcome.MISMATCH, Outcome.CONTRADICTION, Outcome.FORGED)


def provider() -> Provider | None:
    """Return the configured bank, or None."""
    if not settings.PAYOUT_PROVIDER:
        return None
    made: Provider = import_string(settings.PAYOUT_PROVIDER)()
    return made


def send_due() -> None:
    """Send approved withdrawals to the bank and query those that it has not decided."""
    bank = provider()
    if bank is None:
        return
    approved = Withdrawal.objects.filter(status=WithdrawalStatus.APPROVED).order_by("pk")
    for withdrawal_id in approved.values_list("pk", flat=True):
        withdrawals.send(withdrawal_id, provider=bank.name)
    for withdrawal in Withdrawal.objects.filter(status=WithdrawalStatus.SENDING).order_by("pk"):
        try:
            _follow_up(bank, withdrawal)
        except Exception as error:  # providers raise their own errors; one must not delay the others
            is_foreseen = isinstance(error, PayoutFailed)
            logger.warning("payout %s waits: %s", withdrawal.reference, error, exc_info=None if is_foreseen else error)


def _follow_up(bank: Provider, withdrawal: Withdrawal) -> None:
    """Query an order. If the bank does not know it, send it."""
    word = bank.ask(withdrawal.reference)
    if word is None:
        bank.send(_order(withdrawal))
    elif word.state != "accepted":
        hear(word, provider=bank.name, path="query", raw=repr(word).encode())


def _order(withdrawal: Withdrawal) -> Order:
    who = latest(withdrawal.player)
    holder = f"{who.given_names} {who.family_name}" if who else ""
    return Order(
        reference=withdrawal.reference,
        iban=reveal(withdrawal.account),
        holder=holder,
        amount=withdrawal.amount,
        currency=withdrawal.currency,
    )


def receive(*, body: bytes, signature: str, sender: str = "") -> Outcome:
    """Process a callback message from the address *sender*.

    Raises NotTheBank and records it. Of many from one address within an hour, only some are
    recorded.
    """
    bank = provider()
    if bank is None:
        raise NotTheBank("no bank is configured")
    try:
        word = bank.read(body, signature)
    except NotTheBank as error:
        times = rates.to_record("payout", sender)
        if times:
            data: dict[str, log.Json] = {"outcome": Outcome.FORGED.value, "why": str(error)}
            data |= {"sha256": _sha256(body).hex()} | ({"times": times} if times > rates.FIRST else {})
            log.record_refusal("payout.notice_refused", by="anonymous", on=f"bank:{bank.name}", data=data)
        raise
    return hear(word, provider=bank.name, path="callback", raw=body)


@transaction.atomic
def hear(word: BankAnswer, *, provider: str, path: Literal["callback", "query"], raw: bytes) -> Outcome:
    """Apply a bank's message once, in whatever order messages come, and store it."""
    found = Withdrawal.objects.select_for_update().filter(reference=word.reference).first()
    outcome = _judge(found, word)
    PayoutNotice.objects.create(
        withdrawal=found, provider=provider, path=path, raw_hash=_sha256(raw), outcome=outcome.value
    )
    if outcome in ALARMS:
        data: dict[str, log.Json] = {
            "outcome": outcome.value,
            "reference": str(word.reference),
            "state": word.state,
            "amount": word.amount,
            "currency": word.currency,
        }
        log.record("payout.notice_refused", by=f"bank:{provider}", on=str(found or "payouts"), data=data)
    if found is not None and outcome is Outcome.PAID:
        withdrawals.pay(found, provider=provider, number=word.number)
    if found is not None and outcome is Outcome.RETURNED:
        withdrawals.take_back(found, provider=provider, code=word.reason)
    return outcome


def _judge(found: Withdrawal | None, word: BankAnswer) -> Outcome:
    if found is None:
        return Outcome.UNKNOWN
    if (found.amount, found.currency) != (word.amount, word.currency):
        return Outcome.MISMATCH
    said = {"paid": WithdrawalStatus.PAID, "refused": WithdrawalStatus.RETURNED}.get(word.state)
    if said is None or said == found.status:
        return Outcome.NOTHING_NEW
    if found.status != WithdrawalStatus.SENDING:
        return Outcome.CONTRADICTION
    return Outcome.PAID if said == WithdrawalStatus.PAID else Outcome.RETURNED


def _sha256(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()
