"""Providers of django-payments as the house uses them. Which there are is configuration (``PAYMENT_VARIANTS``).

A provider writes what it has heard onto the payment, in django-payments' columns: ``status``, ``captured_amount``,
``transaction_id``. `news_of` reads it there, exactly, and nothing else in the house looks at those columns. A provider
that knows more leaves it in ``payment.attrs.said``: amount in minor units, currency, number of the message.
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

from wallet.models import Payment
from wallet.money import MINOR_UNITS

logger = logging.getLogger(__name__)
Result = TypeVar("Result")


class NoProvider(Exception):
    """No such provider is configured."""


class ProviderFailed(Exception):
    """The provider cannot be reached, or refuses what it is given; the message is for the log."""


@runtime_checkable
class TakesQuestions(Protocol):
    """A provider that can be asked, as some of django-payments can."""

    def status(self, payment: Payment) -> object:
        """Write onto the payment how it stands."""


@dataclass(frozen=True)
class News:
    """What a provider says of a payment."""

    word: str  # a `PaymentStatus`
    amount: int | None  # minor units; None: it does not say
    currency: str
    authorisation: str
    sequence: int  # rises with every change at the provider; 0: it does not count


def first_variant() -> str:
    """Return the name of the provider that new deposits go through. Raises NoProvider."""
    for name in settings.PAYMENT_VARIANTS:
        return str(name)
    raise NoProvider


def provider(variant: str) -> BasicProvider:
    """Return the provider of this name. Raises NoProvider."""
    try:
        return provider_factory(variant)
    except ValueError as error:
        raise NoProvider(variant) from error


def page(payment: Payment) -> str:
    """Return the address of the page where the payer decides. Raises ProviderFailed.

    Providers that want a form on a page of the house are not supported: nobody types card numbers here.
    """

    def lead() -> str:
        try:
            payment.get_form()
        except RedirectNeeded as leading:
            return str(leading)
        raise ProviderFailed("the provider leads to no page of its own")

    return guarded(lead)


def guarded(call: Callable[[], Result]) -> Result:
    """Call a provider. Raises ProviderFailed whatever goes wrong, and undoes what was written by then."""
    try:
        with transaction.atomic():
            return call()
    except Exception as error:  # each provider raises its own library's errors
        logger.warning("provider failed: %s", error, exc_info=error)
        raise ProviderFailed(f"{type(error).__name__}: {error}") from error


def ask(payment: Payment) -> News | None:
    """Ask the provider how a payment stands; None where it takes no questions. Raises NoProvider, ProviderFailed."""
    asked = provider(payment.variant)
    if not isinstance(asked, TakesQuestions):
        return None

    def answer() -> News:
        asked.status(payment)
        return news_of(payment)

    return guarded(answer)


def news_of(payment: Payment) -> News:
    """Read what the provider has written onto the payment. Raises ProviderFailed for an amount that cannot be."""
    said = getattr(payment.attrs, "said", None)
    if said is not None:
        amount, currency, sequence = said["amount"], said["currency"], said["sequence"]
    else:
        amount = in_minor_units(payment.captured_amount) if payment.status == PaymentStatus.CONFIRMED else None
        currency, sequence = payment.currency, 0
    return News(payment.status, amount, currency, payment.transaction_id or payment.token, sequence)


def in_minor_units(total: Decimal) -> int:
    """Convert exactly. Raises ProviderFailed for a fraction of a minor unit."""
    minor = Decimal(total) * MINOR_UNITS
    if minor != minor.to_integral_value():
        raise ProviderFailed(f"{total} is no whole number of minor units")
    return int(minor)


def in_decimals(minor: int) -> Decimal:
    """Convert exactly."""
    return Decimal(minor).scaleb(-2)
