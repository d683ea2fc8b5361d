"""Execute a step of a withdrawal: set the status, store the step, move the money, mail the player.

All of it runs in the caller's transaction. `wallet.withdrawals` decides which step is allowed, and
for whom.
"""

from contextlib import suppress
from dataclasses import dataclass

from celery import current_app
from django.db import transaction
from django.utils.functional import Promise
from kombu.exceptions import OperationalError

from audit import log
from players import mail
from wallet import ledger
from wallet.ledger import accounts
from wallet.models import AccountKind, Mode, Withdrawal, WithdrawalStatus, WithdrawalStep

METHOD = "bank transfer"
HOUSE = "house"
HINT_EXPIRES = 60  # seconds; the periodic task finds what a dropped hint missed

TEMPLATES = {
    WithdrawalStatus.REQUESTED: "withdrawal_requested",
    WithdrawalStatus.APPROVED: "withdrawal_approved",
    WithdrawalStatus.PAID: "withdrawal_paid",
    WithdrawalStatus.RETURNED: "withdrawal_returned",
    WithdrawalStatus.REFUSED: "withdrawal_refused",
    WithdrawalStatus.CANCELLED: "withdrawal_cancelled",
}


@dataclass(frozen=True)
class Hand:
    """Who executes a step, how and why, for the record. *sentence* is the reason that the player reads."""

    by: str
    handler: str = HOUSE
    method: str = METHOD
    reason: str = ""
    sentence: str | Promise = ""


def give_back(found: Withdrawal, after: WithdrawalStatus, hand: Hand) -> Withdrawal:
    """Return the pending money to the player's cash and set the status. *found* is locked."""
    cash, pending = accounts.lock_cash_and(AccountKind.PENDING, found.player_id, Mode.REAL)
    journal = post(found, "withdraw_returned", pending.pk, cash.pk)
    return move(found, after, hand, journal)


def post(withdrawal: Withdrawal, kind: str, source: int, target: int) -> int:
    """Move the amount between two accounts under the step's idempotency key, and return the journal id."""
    lines = (
        ledger.Line(source, withdrawal.currency, Mode.REAL, -withdrawal.amount),
        ledger.Line(target, withdrawal.currency, Mode.REAL, withdrawal.amount),
    )
    (posted,) = ledger.post(ledger.Journal(ledger.system_key(withdrawal.reference, kind), kind, lines))
    return posted.journal_id


def move(found: Withdrawal, after: WithdrawalStatus, hand: Hand, journal: int | None = None) -> Withdrawal:
    """Set the status of a locked withdrawal to *after*."""
    before = found.status
    Withdrawal.objects.filter(pk=found.pk).update(status=after)
    found.status = after
    enter(found, before, hand, journal)
    return found


def enter(found: Withdrawal, before: str, hand: Hand, journal: int | None = None) -> None:
    """Store the step, record the event, and mail the player if the status has a mail."""
    after = WithdrawalStatus(found.status)
    WithdrawalStep.objects.create(
        withdrawal=found,
        before=before,
        after=after,
        by=hand.by,
        handler=hand.handler,
        method=hand.method,
        reason=hand.reason,
        journal_id=journal,
    )
    data: dict[str, log.Json] = {
        "player": str(found.player),
        "amount": found.amount,
        "currency": found.currency,
        "before": before,
        "method": hand.method,
        "handler": hand.handler,
        "reason": hand.reason,
        "journal": journal,
    }
    log.record(f"withdrawal.{after.value}", by=hand.by, on=str(found), data=data)
    if after is WithdrawalStatus.APPROVED:
        transaction.on_commit(_ask_to_send)
    if after in TEMPLATES and before != after:
        context = {"withdrawal": found, "account": found.account, "reason": hand.sentence}
        mail.write(user=found.player.user, template=TEMPLATES[after], context=context)


def _ask_to_send() -> None:
    """Start the payout task. If the hint is lost, the periodic task sends the payout."""
    with suppress(OperationalError):
        current_app.send_task("wallet.tasks.send_payouts", retry=False, expires=HINT_EXPIRES)
