"""Deposits and withdrawals: payments, notifications, bank accounts, and the sandbox bank's data.

A payment is never deleted. The requested amount never changes, and credited money stays credited.
Notifications are only added. ``wallet/sql/functions/payments.sql`` enforces this in the database.

The house treats it as another company's. It holds no real money.

The requested amount never changes, the status only moves forward, and steps are only added.
``wallet/sql/functions/withdrawals.sql`` enforces this in the database.
"""

import hashlib
from typing import Final
from urllib.parse import urlencode
from uuid import uuid4

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import get_language, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from payments import PaymentStatus
from payments.models import BasePayment

from players.models import Player
from wallet.models.ledger import Currency, Journal

NOTHING = hashlib.sha256(b"").digest()
READ_IN = "language"  # query parameter of the return URL with the player's language


class PaymentState(models.TextChoices):
    """State of a payment. The player can play with the money only in state `CREDITED`."""

    WAITING = "waiting", pgettext_lazy("payment state", "Waiting")  # no decision by the provider yet
    CREDITED = "credited", pgettext_lazy("payment state", "Credited")  # authorised and posted to the account; final
    DECLINED = "declined", pgettext_lazy("payment state", "Declined")  # refused by the provider
    ABANDONED = "abandoned", pgettext_lazy("payment state", "Abandoned")  # cancelled by the player at the provider
    EXPIRED = "expired", pgettext_lazy("payment state", "Expired")  # no decision in time; cancelled at the provider
    ERROR = "error", pgettext_lazy("payment state", "Error")  # the provider reports another amount; staff investigate
    # the money has arrived, but may not be credited; it is to be sent back
    HELD = "held", pgettext_lazy("payment state", "Held")
    RETURNED = "returned", pgettext_lazy("payment state", "Returned")  # sent back to where it came from; final


PAID = (PaymentState.CREDITED, PaymentState.HELD, PaymentState.RETURNED)  # the money has arrived


class HeldReason(models.TextChoices):
    """Reason for which money that has arrived may not be credited, with the sentence for the player."""

    LIMIT = "limit", _("The payment would have exceeded your deposit limit.")
    EXCLUDED = "excluded", _("The payment arrived while you were excluded from play.")
    REGISTER = "register", _("The payment arrived while you were listed in an exclusion register.")
    LOCKED = "locked", _("The payment arrived while your account was locked.")
    OVER = "over", _("The payment arrived after this deposit had ended.")
    BORROWED = "borrowed", _("We have been told that this money is borrowed.")
    CREDIT = "credit", _("The payment was made on credit, which is not allowed for gambling in your country.")


class Funding(models.TextChoices):
    """Source of a payment's money, as the provider knows it from its method or from the card’s BIN."""

    DEBIT = "debit", _("Debit card or bank account")
    CREDIT = "credit", _("Credit card, invoice or deferred payment")
    PREPAID = "prepaid", _("Prepaid card")


class DeclineReason(models.TextChoices):
    """Reason for which a provider declined a payment, with the sentence for the player."""

    FUNDS = "funds", _("Your bank says that there is not enough money in the account.")
    LIMIT = "limit", _("Your bank says that the payment is above your limit there.")
    BLOCKED = "blocked", _("Your bank says that it allows no payments to gambling companies from this account.")
    NOT_CONFIRMED = "not_confirmed", _("Your bank says that the payment was not confirmed there.")
    ACCOUNT = "account", _("Your bank says that the account or card cannot be used.")
    CREDIT = (
        "credit",
        _(
            "Credit cards, invoices and deferred payment are not allowed for gambling in your country. "
            "Pay with a debit card or from a bank account."
        ),
    )


class Payment(BasePayment):
    """A deposit. Its id derives from the form's key, so a form that is sent twice is one payment.

    The inherited django-payments columns hold the provider's data: ``status`` is the provider's
    latest status, ``total`` and ``captured_amount`` are decimals, ``transaction_id`` is the latest
    authorisation number. The columns below are the house's own. Only they decide about money.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    player = models.ForeignKey(Player, models.PROTECT, related_name="payments", db_index=False)
    amount = models.BigIntegerField()  # minor units
    state = models.CharField(max_length=10, choices=PaymentState, default=PaymentState.WAITING)
    decline_reason = models.CharField(max_length=13, choices=DeclineReason, blank=True)  # where the provider gave one
    authorisation = models.CharField(max_length=255, blank=True)  # authorisation number of the credited payment
    journal = models.ForeignKey(Journal, models.PROTECT, null=True, db_constraint=False, db_index=False)
    held_because = models.CharField(max_length=10, choices=HeldReason, blank=True)  # stays after a decision
    held_journal = models.ForeignKey(
        Journal, models.PROTECT, null=True, db_constraint=False, db_index=False, related_name="+"
    )
    funding = models.CharField(max_length=7, choices=Funding, blank=True)  # where the provider says it
    last_sequence = models.BigIntegerField(default=0)  # of the provider's latest notification, if numbered
    is_disputed = models.BooleanField(default=False)  # the provider contradicted itself and has not been queried since
    begun_at = models.DateTimeField(db_default=Now())
    decided_at = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True)  # when the provider was last queried

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_payment_amount"),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[PaymentState.CREDITED, PaymentState.RETURNED],
                    journal__isnull=False,
                    authorisation__gt="",
                )
                | (
                    ~models.Q(state__in=[PaymentState.CREDITED, PaymentState.RETURNED]) & models.Q(journal__isnull=True)
                ),
                name="wallet_payment_credited",
            ),
            models.CheckConstraint(
                condition=models.Q(
                    state__in=PAID, held_journal__isnull=False, held_because__gt="", authorisation__gt=""
                )
                | (
                    ~models.Q(state__in=[PaymentState.HELD, PaymentState.RETURNED])
                    & models.Q(held_journal__isnull=True, held_because="")
                ),
                name="wallet_payment_held",
            ),
            models.UniqueConstraint(fields=["token"], name="wallet_payment_token"),
        ]
        indexes = [
            models.Index(fields=["player", "begun_at", "id"], name="wallet_payment_player"),
            models.Index(fields=["state", "begun_at", "id"], name="wallet_payment_state"),
            models.Index(fields=["amount", "id"], name="wallet_payment_amounts"),  # for staff, who sort by it
            # For the report of deposits and withdrawals.
            models.Index(fields=["begun_at"], name="wallet_payment_begun"),
            models.Index(fields=["decided_at"], name="wallet_payment_decided"),
            models.Index(
                fields=["begun_at"],
                condition=models.Q(state=PaymentState.WAITING) | models.Q(is_disputed=True),
                name="wallet_payment_open",
            ),
            # For staff: payments in state ERROR, and search by the provider's authorisation number.
            models.Index(
                fields=["begun_at"], condition=models.Q(state=PaymentState.ERROR), name="wallet_payment_error"
            ),
            models.Index(
                fields=["authorisation"], condition=~models.Q(authorisation=""), name="wallet_payment_authorised"
            ),
            models.Index(
                fields=["begun_at"], condition=models.Q(state=PaymentState.HELD), name="wallet_payment_to_return"
            ),
            models.Index(
                fields=["held_journal"],
                condition=models.Q(held_journal__isnull=False),
                name="wallet_payment_was_held",
            ),
        ]

    def __str__(self) -> str:
        return f"payment:{self.pk}"

    @property
    def is_open(self) -> bool:
        """True if the provider has not decided yet."""
        return self.state == PaymentState.WAITING

    def get_process_url(self) -> str:
        """Return the URL to which providers redirect the player, in the player's current language.

        Providers with one URL per payment also send their notifications to it.
        """
        return f"{reverse('pay_return', kwargs={'token': self.token})}?{urlencode({READ_IN: get_language() or ''})}"

    def get_success_url(self) -> str:
        """Return the URL of the page with the state of the payment."""
        return reverse("cashier_payment", kwargs={"payment_id": self.pk})

    def get_failure_url(self) -> str:
        """Return the same URL: the page shows what happened to the payment."""
        return self.get_success_url()


class NoticePath(models.TextChoices):
    """Way in which a notification arrived."""

    CALLBACK = "callback", pgettext_lazy("notice path", "Callback")  # sent by the provider
    RETURN = "return", pgettext_lazy("notice path", "Return")  # carried by the player's browser on return
    QUERY = "query", pgettext_lazy("notice path", "Query")  # response to a status query


STATUSES: Final = {
    PaymentStatus.WAITING: pgettext_lazy("provider status", "Waiting for confirmation"),
    PaymentStatus.PREAUTH: pgettext_lazy("provider status", "Pre-authorised"),
    PaymentStatus.CONFIRMED: pgettext_lazy("provider status", "Confirmed"),
    PaymentStatus.REJECTED: pgettext_lazy("provider status", "Rejected"),
    PaymentStatus.REFUNDED: pgettext_lazy("provider status", "Refunded"),
    PaymentStatus.ERROR: pgettext_lazy("provider status", "Error"),
    PaymentStatus.INPUT: pgettext_lazy("provider status", "Waiting for the payer"),
    PaymentStatus.CANCELLED: pgettext_lazy("provider status", "Cancelled"),
}
"""Statuses of django-payments, which has no texts in the languages of the house."""
RESULTS: Final = {
    "credited": pgettext_lazy("processing result", "Credited"),
    "late": pgettext_lazy("processing result", "Arrived after the deposit had ended"),
    "held": pgettext_lazy("processing result", "Held"),
    "returned": pgettext_lazy("processing result", "Sent back"),
    "declined": pgettext_lazy("processing result", "Declined"),
    "abandoned": pgettext_lazy("processing result", "Abandoned"),
    "expired": pgettext_lazy("processing result", "Expired"),
    "not cancelled": pgettext_lazy("processing result", "Not cancelled at the provider"),
    "noted": pgettext_lazy("processing result", "Noted, no decision yet"),
    "repeated": pgettext_lazy("processing result", "Repetition, nothing changed"),
    "outdated": pgettext_lazy("processing result", "Outdated, nothing changed"),
    "contradicted": pgettext_lazy("processing result", "Contradicts an earlier message"),
    "mismatched": pgettext_lazy("processing result", "Other amount or currency"),
    "refused": pgettext_lazy("processing result", "Refused, not authentic"),
    "unknown": pgettext_lazy("processing result", "No such payment"),
}


def status_label(status: str) -> str:
    """Return a status of django-payments in the reader's language."""
    return str(STATUSES.get(status, status))


class PaymentNotice(models.Model):
    """One notification about a payment, genuine or not, and the decision.

    Added once, never changed.
    """

    payment = models.ForeignKey(Payment, models.PROTECT, null=True, related_name="notices", db_index=False)
    variant = models.CharField(max_length=255)
    path = models.CharField(max_length=10, choices=NoticePath)
    raw_hash = models.BinaryField()  # SHA-256 of the raw bytes
    is_authentic = models.BooleanField()  # whether the provider's signature was valid
    word = models.CharField(max_length=10, choices=PaymentStatus.CHOICES, blank=True)  # django-payments status
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
    def said(self) -> str:
        """The provider's status, in the reader's language."""
        return status_label(self.word)

    @property
    def result(self) -> str:
        """The result of the notification, in the reader's language."""
        return str(RESULTS.get(self.decision, self.decision))

    @property
    def digest(self) -> str:
        """SHA-256 of the raw bytes in hex. Empty for a status query without a stored message."""
        return "" if bytes(self.raw_hash) == NOTHING else bytes(self.raw_hash).hex()


class OrderState(models.TextChoices):
    """State of a payment order at the bank."""

    OPEN = "open", pgettext_lazy("order state", "Open")  # the payer opened the page and has not decided
    APPROVED = "approved", pgettext_lazy("order state", "Approved")
    DECLINED = "declined", pgettext_lazy("order state", "Declined")
    CANCELLED = "cancelled", pgettext_lazy("order state", "Cancelled")  # cancelled by the payer or the payee
    REFUNDED = "refunded", pgettext_lazy("order state", "Refunded")  # sent back to the payer


class Behaviour(models.TextChoices):
    """Way in which the bank sends its webhooks, so that each case can be tested."""

    PROMPT = "prompt", pgettext_lazy("behaviour", "Prompt")
    LATE = "late", pgettext_lazy("behaviour", "Late")
    TWICE = "twice", pgettext_lazy("behaviour", "Twice")
    SHUFFLED = "shuffled", pgettext_lazy("behaviour", "Shuffled")  # "received" arrives after the decision
    NEVER = "never", pgettext_lazy("behaviour", "Never")


class BankOrder(models.Model):
    """A payment order at the bank, identified by the payee's reference."""

    reference = models.UUIDField(primary_key=True)
    amount = models.BigIntegerField()  # minor units
    currency = models.CharField(max_length=3)
    callback_url = models.URLField(max_length=500)
    state = models.CharField(max_length=10, choices=OrderState, default=OrderState.OPEN)
    decline_reason = models.CharField(max_length=13, choices=DeclineReason, blank=True)
    sequence = models.PositiveIntegerField(default=1)  # incremented with every change
    authorisation = models.CharField(max_length=20, blank=True)
    decided_at = models.DateTimeField(null=True)
    refunded_at = models.DateTimeField(null=True)
    funding = models.CharField(max_length=7, choices=Funding, blank=True)

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


class WithdrawalStatus(models.TextChoices):
    """Status of a withdrawal. Only the bank's answer ends `SENDING`."""

    REQUESTED = "requested", pgettext_lazy("withdrawal status", "Requested")  # money is pending; waits for staff
    SECONDING = "seconding", pgettext_lazy("withdrawal status", "Awaiting second approval")  # one has approved
    APPROVED = "approved", pgettext_lazy("withdrawal status", "Approved")
    SENDING = "sending", pgettext_lazy("withdrawal status", "Sending")  # the order is with the bank or about to be sent
    PAID = "paid", pgettext_lazy("withdrawal status", "Paid")
    RETURNED = "returned", pgettext_lazy("withdrawal status", "Returned")  # by the bank
    REFUSED = "refused", pgettext_lazy("withdrawal status", "Refused")  # by staff
    CANCELLED = "cancelled", pgettext_lazy("withdrawal status", "Cancelled")  # by the player


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
        indexes = [
            models.Index(fields=["last_four", "player"], name="wallet_payout_account_ending"),
            models.Index(fields=["fingerprint"], name="wallet_payout_account_same"),
        ]

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
            ("release_withdrawal", "Can release withdrawals that are held"),
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
        """True if the money is still pending."""
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
