"""Providers as other people write them for django-payments, for tests."""

import json
from decimal import Decimal

from django.http import HttpResponse, JsonResponse
from payments import PaymentError, PaymentStatus, RedirectNeeded
from payments.core import BasicProvider


class Plain(BasicProvider):
    """Knows django-payments and nothing else: no sequence, no questions."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def get_form(self, payment, data=None):
        """Lead to a page of its own."""
        raise RedirectNeeded(f"https://plain.example/{payment.token}")

    def get_token_from_request(self, payment, request) -> str:
        """Read the payment's token."""
        return str(self._said(request)["token"])

    def process_data(self, payment, request) -> HttpResponse:
        """Take a message."""
        said = self._said(request)
        payment.captured_amount = Decimal(said["paid"])
        payment.transaction_id = "plain-1"
        payment.change_status(PaymentStatus.CONFIRMED)
        payment.save()
        return JsonResponse({})

    def _said(self, request) -> dict[str, str]:
        said: dict[str, str] = json.loads(request.body)
        if said["secret"] != self._secret:
            raise PaymentError("not from us", code=400)
        return said


class OutOfOrder(BasicProvider):
    """Cannot be reached."""

    def get_form(self, payment, data=None):
        """Fail as a connection does."""
        raise ConnectionError("nobody there")
