"""Adapter to the django-payments providers that ``PAYMENT_VARIANTS`` configures.

A provider writes its result into the django-payments columns ``status``, ``captured_amount`` and
``transaction_id``. Only `read_status` reads those columns. A provider that knows more puts it into
``payment.attrs.said``: amount in minor units, currency, sequence number, reason of a decline.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol, TypeVar, runtime_checkable

from django.conf import settings
from django.db import transaction
from payments import PaymentStatus, RedirectNeeded
from payments.core import BasicProvider, provider_factory

from players.models import Player
from wallet.models import DeclineReason, Funding, Payment
from wallet.money import MINOR_UNITS

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


class NoProvider(Exception):
    """No provider of this name is configured."""


class OnlyCredit(NoProvider):
    """All configured providers pay by credit, which is forbidden for the player."""


class ProviderFailed(Exception):
    """The provider cannot be reached or refuses the call. The message is for the log."""


@runtime_checkable
class TakesQuestions(Protocol):
    """A provider that supports status queries."""

    def status(self, payment: Payment) -> object:
        """Write the current status onto the payment."""


@dataclass(frozen=True)
class StatusReport:
    """A provider's report about a payment."""

    word: str  # a `PaymentStatus`
    amount: int | None  # minor units; None if not reported
    currency: str
    authorisation: str
    sequence: int  # incremented with every change; 0 if the provider does not number them
    reason: str = ""  # a `DeclineReason`, where the provider gives one
    funding: str = ""  # a `Funding`, where the provider gives one


def first_variant(player: Player) -> str:
    """Return the name of the provider for new deposits of a player.

    Raises NoProvider, and OnlyCredit if all of them pay by credit, which the player's jurisdiction forbids.
    """
    for name in settings.PAYMENT_VARIANTS:
        if name not in settings.PAYMENT_CREDIT_VARIANTS or not player.jurisdiction.credit_forbidden:
            return str(name)
    raise OnlyCredit if settings.PAYMENT_VARIANTS else NoProvider


def provider(variant: str) -> BasicProvider:
    """Return the provider of this name. Raises NoProvider."""
    try:
        return provider_factory(variant)
    except ValueError as error:
        raise NoProvider(variant) from error


def page(payment: Payment) -> str:
    """Return the URL of the provider's page for the payer. Raises ProviderFailed.

    Providers that need a form on our pages are not supported: players never enter card numbers
    here.
    """

    def lead() -> str:
        try:
            payment.get_form()
        except RedirectNeeded as leading:
            return str(leading)
        raise ProviderFailed("the provider leads to no page of its own")

    return guarded(lead)


def cancel(payment: Payment) -> None:
    """Have the provider cancel a payment: its page accepts no money any more.

    Raises NoProvider, ProviderFailed, also where it was paid in the meantime or the provider cannot cancel.
    """
    provider(payment.variant)
    guarded(payment.cancel)


def send_back(payment: Payment) -> None:
    """Have the provider send the money of a payment back. It is asked first, and not if it says that it has.

    Raises NoProvider, ProviderFailed, also where the provider cannot do this.
    """
    ask(payment)
    if payment.status != PaymentStatus.REFUNDED:
        guarded(payment.refund)


def guarded(call: Callable[[], Result]) -> Result:
    """Call a provider. On any error, roll back what was written and raise ProviderFailed."""
    try:
        with transaction.atomic():
            return call()
    except Exception as error:  # each provider raises errors of its own library
        logger.warning("provider failed: %s", error, exc_info=error)
        raise ProviderFailed(f"{type(error).__name__}: {error}") from error


def ask(payment: Payment) -> StatusReport | None:
    """Query the provider for the status of a payment. Raises NoProvider, ProviderFailed.

    Returns None if the provider does not support queries.
    """
    asked = provider(payment.variant)
    if not isinstance(asked, TakesQuestions):
        return None

    def answer() -> StatusReport:
        asked.status(payment)
        return read_status(payment)

    return guarded(answer)


def read_status(payment: Payment) -> StatusReport:
    """Read what the provider wrote onto the payment.

    Raises ProviderFailed for an impossible amount.
    """
    said = getattr(payment.attrs, "said", None)
    if said is not None:
        amount, currency, sequence, reason = said["amount"], said["currency"], said["sequence"], said["reason"]
    else:
        amount = in_minor_units(payment.captured_amount) if payment.status == PaymentStatus.CONFIRMED else None
        currency, sequence, reason = payment.currency, 0, ""
    funding = "" if said is None else said.get("funding", "")
    if funding not in Funding:
        funding = ""
    if reason not in DeclineReason:
        reason = ""  # one that the player has no sentence for
    return StatusReport(
        payment.status, amount, currency, payment.transaction_id or payment.token, sequence, reason, funding
    )


def in_minor_units(total: Decimal) -> int:
    """Convert decimals to minor units. Raises ProviderFailed for a fraction of a minor unit."""
    minor = Decimal(total) * MINOR_UNITS
    if minor != minor.to_integral_value():
        raise ProviderFailed(f"{total} is no whole number of minor units")
    return int(minor)


def in_decimals(minor: int) -> Decimal:
    """Convert minor units to decimals, exactly."""
    return Decimal(minor).scaleb(-2)
