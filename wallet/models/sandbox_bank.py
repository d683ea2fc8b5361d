"""Data of the embedded sandbox bank.

The house treats it as another company's. It holds no real money.
"""

from django.db import models
from django.db.models.functions import Now


class OrderState(models.TextChoices):
    """State of a payment order at the bank."""

    OPEN = "open"  # the payer opened the page and has not decided
    APPROVED = "approved"
    DECLINED = "declined"
    CANCELLED = "cancelled"  # cancelled by the payer


class Behaviour(models.TextChoices):
    """How the bank sends its webhooks, so that each case can be tested."""

    PROMPT = "prompt"
    LATE = "late"
    TWICE = "twice"
    SHUFFLED = "shuffled"  # "received" arrives after the decision
    NEVER = "never"


class BankOrder(models.Model):
    """A payment order at the bank, identified by the payee's reference."""

    reference = models.UUIDField(primary_key=True)
    amount = models.BigIntegerField()  # minor units
    currency = models.CharField(max_length=3)
    callback_url = models.URLField(max_length=500)
    state = models.CharField(max_length=10, choices=OrderState, default=OrderState.OPEN)
    sequence = models.PositiveIntegerField(default=1)  # incremented with every change
    authorisation = models.CharField(max_length=20, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "wallet_bank_order"
        default_permissions = ()


class BankNotice(models.Model):
    """A webhook to the payee. The bank sends it until it is accepted or the retries are used up."""

    order = models.ForeignKey(BankOrder, models.PROTECT)
    body = models.TextField()
    due_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "wallet_bank_notice"
        default_permissions = ()
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(sent_at__isnull=True), name="wallet_bank_notice_due")
        ]
