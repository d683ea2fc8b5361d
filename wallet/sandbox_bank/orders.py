"""Payment orders at the sandbox bank: the payer's decision, webhooks and status queries."""

import json
import secrets
from collections.abc import Mapping
from enum import StrEnum
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from wallet.models import BankNotice, BankOrder, Behaviour, OrderState
from wallet.sandbox_bank import webhooks
from wallet.sandbox_bank.protocol import PayRequest

SECONDS_LATE = 45
SECONDS_BETWEEN = 3  # from the decision to the "received" that should have come before it

Statement = Mapping[str, str | int]


class Answer(StrEnum):
    """The payer's decision."""

    APPROVE = "approve"
    DECLINE = "decline"
    LEAVE = "leave"


STATE_AFTER = {
    Answer.APPROVE: OrderState.APPROVED,
    Answer.DECLINE: OrderState.DECLINED,
    Answer.LEAVE: OrderState.CANCELLED,
}


@transaction.atomic
def answer(*, request: PayRequest, said: Answer, behaviour: Behaviour) -> BankOrder:
    """Decide a payment, once, and queue the webhooks that *behaviour* prescribes.

    A decided order is unchanged.
    """
    facts = {"amount": request.amount, "currency": request.currency, "callback_url": request.callback_url}
    BankOrder.objects.bulk_create([BankOrder(reference=request.reference, **facts)], ignore_conflicts=True)
    order = BankOrder.objects.select_for_update().get(pk=request.reference)
    if order.state != OrderState.OPEN:
        return order
    received = statement_of(order)
    order.state, order.sequence, order.decided_at = STATE_AFTER[said], order.sequence + 1, Now()
    if said is Answer.APPROVE:
        order.authorisation = f"SB{secrets.randbelow(10**10):010}"
    order.save()
    _owe(order, received, behaviour)
    return order


def statement(reference: UUID) -> Statement | None:
    """Return the status of an order in the form of the webhooks. None if the payer never opened the page."""
    order = BankOrder.objects.filter(pk=reference).first()
    return statement_of(order) if order else None


def statement_of(order: BankOrder) -> Statement:
    """Return the webhook body of an order."""
    return {
        "reference": str(order.reference),
        "state": order.state,
        "amount": order.amount,
        "currency": order.currency,
        "authorisation": order.authorisation,
        "sequence": order.sequence,
    }


def _owe(order: BankOrder, received: Statement, behaviour: Behaviour) -> None:
    decided = statement_of(order)
    due: tuple[tuple[Statement, int], ...] = {
        Behaviour.PROMPT: ((received, 0), (decided, 0)),
        Behaviour.LATE: ((decided, SECONDS_LATE),),
        Behaviour.TWICE: ((decided, 0), (decided, 0)),
        Behaviour.SHUFFLED: ((decided, 0), (received, SECONDS_BETWEEN)),
        Behaviour.NEVER: (),
    }[behaviour]
    for said, seconds in due:
        BankNotice.objects.create(order=order, body=json.dumps(said), due_at=webhooks.in_seconds(seconds))
    if due:
        transaction.on_commit(webhooks.ask_for_the_post)
