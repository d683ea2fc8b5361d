"""Payouts at the sandbox bank: accept an order once, decide it after a delay, send signed webhooks.

The account number determines the result, as in other banks' sandboxes. An order to any other
account is paid, and its webhook is prompt.
"""

import json
import secrets
from collections.abc import Mapping
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.urls import reverse

from wallet.models import BankPayout, BankPayoutNotice, Behaviour
from wallet.payouts import BankAnswer, NotTheBank, Order
from wallet.sandbox_bank import orders
from wallet.sandbox_bank.orders import SECONDS_BETWEEN, SECONDS_LATE, BadNotice, check, seconds_now

SECONDS_TO_DECIDE = 5

PAID = "DE89370400440532013000"
CLOSED = "DE41370400440000000001"
UNKNOWN = "DE14370400440000000002"
LATE = "DE84370400440000000003"
TWICE = "DE57370400440000000004"
SHUFFLED = "DE30370400440000000005"
SILENT = "DE03370400440000000006"

REFUSED: Mapping[str, str] = {CLOSED: "account_closed", UNKNOWN: "account_unknown"}
BEHAVIOUR_OF_IBAN: Mapping[str, Behaviour] = {
    LATE: Behaviour.LATE,
    TWICE: Behaviour.TWICE,
    SHUFFLED: Behaviour.SHUFFLED,
    SILENT: Behaviour.NEVER,
}


class SandboxPayouts:
    """The bank as a payout provider. It is in the same process, so orders and queries need no HTTP."""

    name = "sandbox"

    def send(self, order: Order) -> None:
        """Accept an order. A known reference is unchanged."""
        facts = {"iban": order.iban, "amount": order.amount, "currency": order.currency}
        callback = f"http://{settings.PAYMENT_HOST}{reverse('payout_callback')}"
        new = BankPayout(
            reference=order.reference,
            callback_url=callback,
            due_at=orders.in_seconds(SECONDS_TO_DECIDE),
            **facts,
        )
        BankPayout.objects.bulk_create([new], ignore_conflicts=True)

    def ask(self, reference: UUID) -> BankAnswer | None:
        """Return the status of an order."""
        found = BankPayout.objects.filter(pk=reference).first()
        return None if found is None else _word(json.loads(_statement(found)))

    def read(self, body: bytes, signature: str) -> BankAnswer:
        """Verify and parse one of the bank's webhooks."""
        try:
            check(body, signature, settings.SANDBOX_BANK_KEY, now=seconds_now())
            return _word(json.loads(body))
        except (BadNotice, ValueError, KeyError, TypeError) as error:
            raise NotTheBank(str(error)) from error


def decide_due() -> None:
    """Decide the due orders, each in its own transaction, then send the due webhooks."""
    while _decide_next():
        pass
    while _send_next():
        pass


@transaction.atomic
def _decide_next() -> bool:
    due = BankPayout.objects.filter(state="accepted", due_at__lte=Now()).order_by("due_at")
    payout = due.select_for_update(skip_locked=True).first()
    if payout is None:
        return False
    accepted = _statement(payout)
    payout.refusal = REFUSED.get(payout.iban, "")
    payout.state = "refused" if payout.refusal else "paid"
    payout.number = "" if payout.refusal else f"SP{secrets.randbelow(10**10):010}"
    payout.sequence += 1
    payout.save()
    _owe(payout, accepted)
    return True


def _owe(payout: BankPayout, accepted: str) -> None:
    decided = _statement(payout)
    due: tuple[tuple[str, int], ...] = {
        Behaviour.PROMPT: ((accepted, 0), (decided, 0)),
        Behaviour.LATE: ((decided, SECONDS_LATE),),
        Behaviour.TWICE: ((decided, 0), (decided, 0)),
        Behaviour.SHUFFLED: ((decided, 0), (accepted, SECONDS_BETWEEN)),
        Behaviour.NEVER: (),
    }[BEHAVIOUR_OF_IBAN.get(payout.iban, Behaviour.PROMPT)]
    for body, seconds in due:
        BankPayoutNotice.objects.create(payout=payout, body=body, due_at=orders.in_seconds(seconds))


@transaction.atomic
def _send_next() -> bool:
    due = BankPayoutNotice.objects.filter(sent_at=None, tries__lt=orders.MOST_TRIES, due_at__lte=Now())
    locked = due.order_by("due_at", "id").select_for_update(skip_locked=True, of=("self",)).select_related("payout")
    notice = locked.first()
    if notice is None:
        return False
    notice.tries = F("tries") + 1
    if orders.deliver(notice.payout.callback_url, notice.body):
        notice.sent_at = Now()
    else:
        notice.due_at = orders.in_seconds(orders.SECONDS_BETWEEN_TRIES)
    notice.save(update_fields=["tries", "sent_at", "due_at"])
    return True


def _statement(payout: BankPayout) -> str:
    """Return the webhook body of an order."""
    return json.dumps(
        {
            "reference": str(payout.reference),
            "state": payout.state,
            "amount": payout.amount,
            "currency": payout.currency,
            "number": payout.number,
            "reason": payout.refusal,
            "sequence": payout.sequence,
        }
    )


def _word(said: Mapping[str, str | int]) -> BankAnswer:
    return BankAnswer(
        reference=UUID(str(said["reference"])),
        state=str(said["state"]),
        amount=int(said["amount"]),
        currency=str(said["currency"]),
        number=str(said["number"]),
        reason=str(said["reason"]),
    )
