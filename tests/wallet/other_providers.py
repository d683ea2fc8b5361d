"""Third-party providers for django-payments, for tests."""

import json
from decimal import Decimal

from django.http import HttpResponse, JsonResponse
from payments import PaymentError, PaymentStatus, RedirectNeeded
from payments.core import BasicProvider


class Plain(BasicProvider):
    """Implements only django-payments' own interface: no sequence numbers, no status queries."""

    def __init__(self, secret: str) -> None:
        super().__init__()
        self._secret = secret

    def get_form(self, payment, data=None):
        """Redirect to its own page."""
        raise RedirectNeeded(f"https://plain.example/{payment.token}")

    def get_token_from_request(self, payment, request) -> str:
        """Return the payment's token."""
        return str(self._said(request)["token"])

    def process_data(self, payment, request) -> HttpResponse:
        """Handle a message."""
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
    """A provider that is not reachable."""

    def get_form(self, payment, data=None):
        """Fail like a connection."""
        raise ConnectionError("nobody there")
