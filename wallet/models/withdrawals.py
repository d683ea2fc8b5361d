"""Withdrawals, their steps, the players' bank accounts, and the sandbox bank's payout orders.

The requested amount never changes, the status only moves forward, and steps are only added.
``wallet/sql/functions/withdrawals.sql`` enforces this in the database.
"""

from uuid import uuid4

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models.functions import Now

from players.models import Player
from wallet.models.ledger import Currency, Journal


class WithdrawalStatus(models.TextChoices):
    """Status of a withdrawal. Only the bank's answer ends `SENDING`."""

    REQUESTED = "requested"  # money is pending; waits for staff
    SECONDING = "seconding"  # approved by the first of two people
    APPROVED = "approved"
    SENDING = "sending"  # the order is with the bank or about to be sent
    PAID = "paid"
    RETURNED = "returned"  # by the bank
    REFUSED = "refused"  # by staff
    CANCELLED = "cancelled"  # by the player


OPEN = (
    WithdrawalStatus.REQUESTED,
    WithdrawalStatus.SECONDING,
    WithdrawalStatus.APPROVED,
    WithdrawalStatus.SENDING,
)


class PayoutAccount(models.Model):
    """A player's own bank account.

    The IBAN is encrypted with a key that the database does not have, and bound to this id. A keyed
    hash detects the same IBAN. The player recognises the account by the last four characters.
    """

    id = models.UUIDField(primary_key=True, default=uuid4)
    player = models.ForeignKey(Player, models.PROTECT, related_name="payout_accounts", db_index=False)
    country = models.CharField(max_length=2)
    last_four = models.CharField(max_length=4)
    sealed = models.BinaryField()
    fingerprint = models.BinaryField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_payout_account"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["player", "fingerprint"], name="wallet_payout_account_once"),
        ]
        indexes = [models.Index(fields=["last_four", "player"], name="wallet_payout_account_ending")]

    def __str__(self) -> str:
        return f"{self.country}\u00a0…\u00a0{self.last_four}"


class Withdrawal(models.Model):
    """A player's request to pay out *amount* minor units to *account*.

    ``reference`` identifies it at the bank. The idempotency keys of its journals derive from it.
    """

    player = models.ForeignKey(Player, models.PROTECT, related_name="withdrawals", db_index=False)
    account = models.ForeignKey(PayoutAccount, models.PROTECT, db_index=False)
    key = models.UUIDField(unique=True)  # idempotency key of the form
    reference = models.UUIDField(unique=True, db_default=RandomUUID())
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=Currency)
    takes_two = models.BooleanField()  # whether two people must approve it
    status = models.CharField(max_length=10, choices=WithdrawalStatus, default=WithdrawalStatus.REQUESTED)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = [
            ("approve_withdrawal", "Can approve withdrawals"),
            ("see_withdrawals", "Can view withdrawals"),
        ]
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_withdrawal_amount")]
        indexes = [
            models.Index(fields=["player", "-id"], name="wallet_withdrawal_of"),
            models.Index(fields=["at"], name="wallet_withdrawal_at"),  # for the report of withdrawals
            models.Index(
                fields=["id"],
                condition=models.Q(status__in=["requested", "seconding", "approved", "sending"]),
                name="wallet_withdrawal_open",
            ),
            models.Index(fields=["status", "currency", "id"], name="wallet_withdrawal_queue"),
            models.Index(fields=["status", "-id"], name="wallet_withdrawal_status"),
        ]

    def __str__(self) -> str:
        return f"withdrawal:{self.pk}"

    @property
    def is_open(self) -> bool:
        """Whether the money is still pending."""
        return self.status in OPEN


class WithdrawalStep(models.Model):
    """A step of a withdrawal: who, from which status to which, why, and the journal if money moved.

    Source: GLI-19 v3.0, 2.8.5 (handler, method, status).
    """

    withdrawal = models.ForeignKey(Withdrawal, models.PROTECT, related_name="steps", db_index=False)
    before = models.CharField(max_length=10, choices=WithdrawalStatus, blank=True)  # empty for the first step
    after = models.CharField(max_length=10, choices=WithdrawalStatus)
    by = models.TextField()  # as the event log names them
    handler = models.TextField()  # who carried it out: "house", a staff member or the provider's name
    method = models.TextField()  # such as "bank transfer" or "approval 12"
    reason = models.TextField(blank=True)
    journal = models.ForeignKey(Journal, models.PROTECT, null=True, db_constraint=False, db_index=False)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_withdrawal_step"
        default_permissions = ()
        indexes = [
            models.Index(fields=["withdrawal", "id"], name="wallet_withdrawal_step_of"),
            models.Index(fields=["at"], name="wallet_withdrawal_step_at"),
            # For search by the bank's payment number.
            models.Index(fields=["reason"], condition=models.Q(after="paid"), name="wallet_withdrawal_step_paid"),
        ]


class PayoutNotice(models.Model):
    """One message about a payout, genuine or not, and its outcome. Added once, never changed."""

    withdrawal = models.ForeignKey(Withdrawal, models.PROTECT, null=True, related_name="notices", db_index=False)
    provider = models.TextField()
    path = models.CharField(max_length=10, choices=[("callback", "Callback"), ("query", "Query")])
    raw_hash = models.BinaryField()  # SHA-256 of the raw bytes
    outcome = models.TextField()  # an `Outcome` of wallet.payouts
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_payout_notice"
        default_permissions = ()


class BankPayout(models.Model):
    """A payout order at the sandbox bank, identified by the payer's reference."""

    reference = models.UUIDField(primary_key=True)
    iban = models.TextField()
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    callback_url = models.URLField(max_length=500)
    number = models.TextField(blank=True)  # the bank's payment number
    refusal = models.TextField(blank=True)  # the bank's reason for a refusal
    state = models.CharField(max_length=10, default="accepted")  # then "paid" or "refused"
    sequence = models.PositiveIntegerField(default=1)  # incremented with every change
    due_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_bank_payout"
        default_permissions = ()


class BankPayoutNotice(models.Model):
    """A webhook to the payer. The bank sends it until it is accepted or the retries are used up."""

    payout = models.ForeignKey(BankPayout, models.PROTECT)
    body = models.TextField()
    due_at = models.DateTimeField(db_default=Now())
    sent_at = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)

    class Meta:
        db_table = "wallet_bank_payout_notice"
        default_permissions = ()
        indexes = [
            models.Index(fields=["due_at"], condition=models.Q(sent_at__isnull=True), name="wallet_payout_notice_due")
        ]
