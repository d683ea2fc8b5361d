"""The books of the embedded sandbox bank: another firm's, as far as the house is concerned. No money lies here."""

from django.db import models
from django.db.models.functions import Now


class OrderState(models.TextChoices):
    """What became of a payment at the bank."""

    OPEN = "open"  # the payer has been there and not answered
    APPROVED = "approved"
    DECLINED = "declined"
    CANCELLED = "cancelled"  # the payer left without paying


class Behaviour(models.TextChoices):
    """How the bank tells the payee, so that each way can be tried out."""

    PROMPT = "prompt"
    LATE = "late"
    TWICE = "twice"
    SHUFFLED = "shuffled"  # "received" comes after the answer
    NEVER = "never"


class BankOrder(models.Model):
    """A payment as the bank knows it, under the payee's own reference."""

    reference = models.UUIDField(primary_key=True)
    amount = models.BigIntegerField()  # minor units
    currency = models.CharField(max_length=3)
    callback_url = models.URLField(max_length=500)
    state = models.CharField(max_length=10, choices=OrderState, default=OrderState.OPEN)
    sequence = models.PositiveIntegerField(default=1)  # rises with every change
    authorisation = models.CharField(max_length=20, blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "wallet_bank_order"
        default_permissions = ()


class BankNotice(models.Model):
    """A message that the bank owes a payee. It is sent until it is taken, or often enough in vain."""

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
