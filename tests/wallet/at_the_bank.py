"""Deposits and messages of the bank, for tests."""

import json
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.test import Client

from players.models import Player
from tests.people import a_visitor
from wallet.ledger import accounts
from wallet.models import BankNotice, Behaviour, Mode, OrderState, Payment
from wallet.payments.deposits import begin
from wallet.payments.sandbox import request_for
from wallet.sandbox_bank import orders
from wallet.sandbox_bank.orders import HEADER, seconds_now, sign

CALLBACK = "/pay/callback/sandbox/"


def a_payment(player: Player, amount: int = 50_000) -> Payment:
    """Return a new deposit."""
    return begin(player=player, amount=amount, key=uuid4())


def at_the_bank(
    payment: Payment, said: orders.Answer = orders.Answer.APPROVE, behaviour: Behaviour = Behaviour.NEVER
) -> None:
    """Answer as the payer on the bank's page."""
    orders.answer(request=request_for(payment), said=said, behaviour=behaviour)


def statement(payment: Payment, state: OrderState = OrderState.APPROVED, **changes: object) -> dict[str, Any]:
    """Return the bank's statement about a payment, with *changes*."""
    said = {
        "reference": str(payment.pk),
        "state": state.value,
        "amount": payment.amount,
        "currency": payment.currency,
        "authorisation": "SB0123456789" if state == OrderState.APPROVED else "",
        "sequence": 2,
        "reason": "",
    }
    return said | changes


def call_back(said: dict[str, Any], *, key: str | None = None, age: int = 0, visitor: Client | None = None) -> int:
    """Send the bank's message, signed *age* seconds ago. Return the status of the answer."""
    body = json.dumps(said).encode()
    signature = sign(body, settings.SANDBOX_BANK_KEY if key is None else key, at=seconds_now() - age)
    answer = (visitor or a_visitor()).post(CALLBACK, body, content_type="application/json", headers={HEADER: signature})
    return int(answer.status_code)


def deliver_owed(reference: UUID) -> None:
    """Deliver the bank's messages about an order to the house in the order of their due times."""
    for notice in BankNotice.objects.filter(order_id=reference).order_by("due_at", "id"):
        assert call_back(json.loads(notice.body)) == 200


def balance(player: Player) -> int:
    """Return the player's real money."""
    return accounts.balance(player.pk, Mode.REAL)
