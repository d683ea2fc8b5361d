"""Payments: a deposit on its way through a provider, and everything a provider has said of it.

A payment is never deleted, what was asked for never changes, and money that has been credited stays credited; what the
providers said is appended. ``wallet/sql/functions/payments.sql`` has the database hold to that.
"""

import hashlib
from urllib.parse import urlencode

from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import get_language
from payments import PaymentStatus
from payments.models import BasePayment

from players.models import Player
from wallet.models.ledger import Journal

NOTHING = hashlib.sha256(b"").digest()
READ_IN = "language"  # what says, in the address that leads back, which language the player reads


class PaymentState(models.TextChoices):
    """What a payment is to the house. Money can be played with from `CREDITED` on, and not before."""

    WAITING = "waiting"  # the provider has not decided
    CREDITED = "credited"  # authorised: the money is on the account. Never left again
    DECLINED = "declined"  # refused by the provider
    ABANDONED = "abandoned"  # the player told the provider that they do not want it
    EXPIRED = "expired"  # nobody decided, and the house gave up asking
    ERROR = "error"  # the provider speaks of another amount: someone has to look into it


class Payment(BasePayment):
    """A deposit. Its id follows from the form it was asked for with, so a form sent twice is one payment.

    What django-payments' columns hold is the provider's side: ``status`` is the provider's last word, ``total`` and
    ``captured_amount`` are decimals as providers count, ``transaction_id`` is the authorisation number as last heard.
    The columns below are the house's, and they alone decide about money.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    player = models.ForeignKey(Player, models.PROTECT, related_name="payments", db_index=False)
    amount = models.BigIntegerField()  # minor units
    state = models.CharField(max_length=10, choices=PaymentState, default=PaymentState.WAITING)
    authorisation = models.CharField(max_length=255, blank=True)  # the number under which the money was authorised
    journal = models.ForeignKey(Journal, models.PROTECT, null=True, db_constraint=False, db_index=False)
    last_sequence = models.BigIntegerField(default=0)  # of the provider's notices, where it numbers them
    is_disputed = models.BooleanField(default=False)  # the provider contradicted itself and has not been asked since
    begun_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)  # when the provider was last asked how it stands

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_payment_amount"),
            models.CheckConstraint(
                condition=models.Q(state=PaymentState.CREDITED, journal__isnull=False, authorisation__gt="")
                | (~models.Q(state=PaymentState.CREDITED) & models.Q(journal__isnull=True)),
                name="wallet_payment_credited",
            ),
            models.UniqueConstraint(fields=["token"], name="wallet_payment_token"),
        ]
        indexes = [
            models.Index(fields=["player", "-begun_at"], name="wallet_payment_player"),
            models.Index(fields=["state", "-begun_at", "-id"], name="wallet_payment_state"),
            # What the report of deposits and withdrawals finds them by.
            models.Index(fields=["begun_at"], name="wallet_payment_begun"),
            models.Index(fields=["decided_at"], name="wallet_payment_decided"),
            models.Index(
                fields=["begun_at"],
                condition=models.Q(state=PaymentState.WAITING) | models.Q(is_disputed=True),
                name="wallet_payment_open",
            ),
            # What staff find them by: those that ended in doubt, and the provider's own number.
            models.Index(
                fields=["begun_at"], condition=models.Q(state=PaymentState.ERROR), name="wallet_payment_error"
            ),
            models.Index(
                fields=["authorisation"], condition=~models.Q(authorisation=""), name="wallet_payment_authorised"
            ),
        ]

    def __str__(self) -> str:
        return f"payment:{self.pk}"

    @property
    def is_open(self) -> bool:
        """Whether the provider may still decide."""
        return self.state == PaymentState.WAITING

    def get_process_url(self) -> str:
        """Where providers send the player back to, in the language the player reads now, and those with an address per
        payment their notices.
        """
        return f"{reverse('pay_return', kwargs={'token': self.token})}?{urlencode({READ_IN: get_language() or ''})}"

    def get_success_url(self) -> str:
        """Where the player learns how the payment stands."""
        return reverse("cashier_payment", kwargs={"payment_id": self.pk})

    def get_failure_url(self) -> str:
        """Return the same page: it says what became of the payment."""
        return self.get_success_url()


class NoticePath(models.TextChoices):
    """How the house heard."""

    CALLBACK = "callback"  # the provider told it
    RETURN = "return"  # the player came back with it
    QUERY = "query"  # the house asked


class PaymentNotice(models.Model):
    """One thing a provider said, or somebody in its name, and what was decided. Appended, never changed."""

    payment = models.ForeignKey(Payment, models.PROTECT, null=True, related_name="notices", db_index=False)
    variant = models.CharField(max_length=255)
    path = models.CharField(max_length=10, choices=NoticePath)
    raw_hash = models.BinaryField()  # SHA-256 of what came, byte for byte
    is_authentic = models.BooleanField()  # whether the provider's signature held
    word = models.CharField(max_length=10, choices=PaymentStatus.CHOICES, blank=True)  # as django-payments has it
    sequence = models.BigIntegerField(default=0)
    decision = models.CharField(max_length=20)  # a `Decision` of wallet.payments.notifications
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_payment_notice"
        default_permissions = ()
        indexes = [
            models.Index(fields=["payment", "id"], name="wallet_payment_notice_of"),
            models.Index(
                fields=["-id"],
                condition=models.Q(decision__in=["contradicted", "mismatched"]),
                name="wallet_payment_notice_doubt",
            ),
        ]

    @property
    def digest(self) -> str:
        """SHA-256 of what came, as hex; empty where the house asked and no message carried the answer."""
        return "" if bytes(self.raw_hash) == NOTHING else bytes(self.raw_hash).hex()
