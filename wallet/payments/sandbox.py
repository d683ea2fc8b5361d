"""The sandbox bank as a django-payments provider, written as for any other bank."""

import json
from decimal import Decimal
from typing import Any, NoReturn
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from payments import PaymentError, PaymentStatus, RedirectNeeded
from payments.core import BasicProvider, get_base_url

from wallet.models import OrderState, Payment
from wallet.sandbox_bank import orders
from wallet.sandbox_bank.orders import HEADER, BadNotice, PayRequest, check, seal, seconds_now

PAYEE = "Sabot"
STATUS_OF = {
    OrderState.OPEN: PaymentStatus.WAITING,
    OrderState.APPROVED: PaymentStatus.CONFIRMED,
    OrderState.DECLINED: PaymentStatus.REJECTED,
    OrderState.CANCELLED: PaymentStatus.CANCELLED,
    OrderState.REFUNDED: PaymentStatus.REFUNDED,
}
SAID = ("amount", "currency", "sequence", "reason", "funding")
FIELDS = {
    "reference": str,
    "state": str,
    "amount": int,
    "currency": str,
    "authorisation": str,
    "sequence": int,
    "reason": str,
}


def request_for(payment: Payment) -> PayRequest:
    """Return the payment request for the payer."""
    return PayRequest(
        reference=payment.pk,
        payee=PAYEE,
        amount=payment.amount,
        currency=payment.currency,
        callback_url=get_base_url() + reverse("pay_callback", kwargs={"provider": payment.variant}),
        return_path=payment.get_process_url(),  # the bank is on the same host
        refuses_credit=payment.player.jurisdiction.credit_forbidden,
    )


class SandboxBank(BasicProvider):
    """Provider that redirects to the embedded bank and accepts its signed messages."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key

    def get_form(self, payment: Payment, data: Any = None) -> NoReturn:
        """Raise RedirectNeeded with the URL of the bank's page."""
        raise RedirectNeeded(reverse("sandbox_bank", kwargs={"order": seal(request_for(payment), self._key)}))

    def get_token_from_request(self, payment: Payment | None, request: HttpRequest) -> str:
        """Return the token of the payment in a message.

        Raises PaymentError if the bank did not sign it.
        """
        return str(self._statement(request)["reference"])

    def process_data(self, payment: Payment, request: HttpRequest) -> HttpResponse:
        """Process a message of the bank. A GET is the returning player, who reports nothing."""
        if request.method != "POST":
            return redirect(payment.get_success_url())
        statement = self._statement(request)
        if statement["reference"] != payment.token:
            raise PaymentError("another payment's message", code=400)
        self._hear(payment, statement)
        return JsonResponse({"taken": True})

    def status(self, payment: Payment) -> Payment:
        """Query the bank. It is in the same process, so no HTTP is needed."""
        statement = orders.statement(UUID(payment.token))
        if statement is not None:
            self._hear(payment, statement)
        return payment

    def cancel(self, payment: Payment) -> None:
        """Cancel an order that nobody has decided. Raises PaymentError if it was paid."""
        if orders.cancel(request_for(payment)).state == OrderState.APPROVED:
            raise PaymentError("already paid")

    def refund(self, payment: Payment, amount: Decimal | None = None) -> Decimal:
        """Send the whole amount back, once. Raises PaymentError for a part of it and if it was not paid."""
        if amount not in (None, payment.total) or orders.refund(UUID(payment.token)) is None:
            raise PaymentError("only what was paid can be sent back, and only all of it")
        return payment.captured_amount

    def _statement(self, request: HttpRequest) -> orders.Statement:
        try:
            check(request.body, request.headers.get(HEADER, ""), self._key, now=seconds_now())
        except BadNotice as error:
            raise PaymentError(str(error), code=400) from error
        statement = json.loads(request.body)
        if not all(isinstance(statement.get(name), kind) for name, kind in FIELDS.items()):
            raise PaymentError("a field is missing", code=400)
        return dict(statement)

    def _hear(self, payment: Payment, statement: orders.Statement) -> None:
        payment.attrs.said = {name: statement[name] for name in SAID if name in statement}
        payment.transaction_id = str(statement["authorisation"])
        payment.status = STATUS_OF[OrderState(str(statement["state"]))]
        if payment.status == PaymentStatus.CONFIRMED and statement["amount"] == payment.amount:
            payment.captured_amount = payment.total
        payment.save()
