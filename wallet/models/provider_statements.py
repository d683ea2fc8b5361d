"""What a provider says that it paid, beside what the house has: statements that staff read in, their lines, where the
two differ, and what staff made of it. Notes on deposits in doubt, too.

Nothing here is money: no row of these tables moves any. Lines and differences are written when a statement is confirmed
and never change; what staff find out is appended. ``wallet/sql/functions/provider_statements.sql`` has the database
hold to that.
"""

from uuid import uuid4

from django.db import models
from django.db.models.functions import Now

from players.models import Staff
from wallet.models.ledger import Currency
from wallet.models.payments import Payment


class LineKind(models.TextChoices):
    """What a line of a statement is about."""

    DEPOSIT = "deposit"
    PAYOUT = "payout"
    REFUND = "refund"  # of a deposit: the provider gave it back by itself
    CHARGEBACK = "chargeback"  # of a deposit: the payer's bank took it back


class LineStatus(models.TextChoices):
    """How far the provider has come with it. Only what is settled has moved money."""

    SETTLED = "settled"
    PENDING = "pending"
    FAILED = "failed"


class Verdict(models.TextChoices):
    """What came of a line when its statement was confirmed."""

    MATCHED = "matched"  # the house has the same
    DIFFERS = "differs"  # see its differences
    REPEATED = "repeated"  # an earlier statement had the very same line; it is not counted again


class DifferenceKind(models.TextChoices):
    """In what provider and house differ."""

    UNKNOWN = "unknown", "Unknown to the house"
    AMOUNT = "amount", "Another amount"
    CURRENCY = "currency", "Another currency"
    STATUS = "status", "Another status"
    AUTHORISATION = "authorisation", "Another authorisation number"
    DUPLICATE = "duplicate", "Said twice"
    TAKEN_BACK = "taken_back", "Taken back by the provider"
    MISSING = "missing", "Missing from the statement"


class StatementDraft(models.Model):
    """A statement that has been read and not confirmed: what its file came to, for whoever uploaded it, for an hour.

    ``lines`` and ``faults`` hold the columns that are declared, and no other: what else stands in a file is not kept.
    """

    id = models.UUIDField(primary_key=True, default=uuid4)
    staff = models.ForeignKey(Staff, models.PROTECT)
    provider = models.CharField(max_length=255)
    since = models.DateField()  # first day, in UTC
    until = models.DateField()  # last day, included
    name = models.CharField(max_length=100)  # of the file
    digest = models.BinaryField()  # SHA-256 of the file, byte for byte
    lines = models.JSONField()
    faults = models.JSONField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_statement_draft"
        default_permissions = ()


class ProviderStatement(models.Model):
    """A statement that was confirmed. ``totals`` says for each currency and kind what the provider counts and what the
    house counted then, as `wallet.provider_statements.comparison.Total` has it.
    """

    provider = models.CharField(max_length=255)
    since = models.DateField()
    until = models.DateField()
    name = models.CharField(max_length=100)
    digest = models.BinaryField(unique=True)
    totals = models.JSONField()
    by = models.TextField()  # as the event log names them
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_provider_statement"
        default_permissions = ()
        permissions = [
            ("reconcile", "Can read in statements of providers, and settle differences"),
            ("see_statements", "Can see statements of providers, and settle nothing"),
        ]

    def __str__(self) -> str:
        return f"statement:{self.pk}"


class StatementLine(models.Model):
    """One line as the provider wrote it, of *amount* minor units. ``subject`` is what of the house it is about, as the
    event log names it, or what the provider calls it where the house knows nothing of the kind.
    """

    statement = models.ForeignKey(ProviderStatement, models.PROTECT, related_name="lines", db_index=False)
    number = models.PositiveIntegerField()  # of the line in the file, the heading being 1
    kind = models.CharField(max_length=10, choices=LineKind)
    reference = models.CharField(max_length=64, blank=True)  # the house's own name for it
    authorisation = models.CharField(max_length=64, blank=True)  # the provider's
    amount = models.BigIntegerField()
    currency = models.CharField(max_length=3, choices=Currency)
    day = models.DateField()
    status = models.CharField(max_length=10, choices=LineStatus)
    subject = models.TextField()
    verdict = models.CharField(max_length=10, choices=Verdict)

    class Meta:
        db_table = "wallet_statement_line"
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_statement_line_amount"),
            models.UniqueConstraint(fields=["statement", "number"], name="wallet_statement_line_once"),
        ]
        indexes = [
            models.Index(fields=["subject"], name="wallet_statement_line_subject"),
            models.Index(fields=["verdict", "-id"], name="wallet_statement_line_verdict"),
        ]


class Difference(models.Model):
    """Something in which a statement and the house differ. Without *line*: the statement lacks it. ``known`` is what
    the house had then: amount in minor units, currency, state, authorisation; empty where it knew nothing.
    """

    statement = models.ForeignKey(ProviderStatement, models.PROTECT, related_name="differences", db_index=False)
    line = models.ForeignKey(StatementLine, models.PROTECT, null=True, related_name="differences", db_index=False)
    kind = models.CharField(max_length=15, choices=DifferenceKind)
    subject = models.TextField()
    known = models.JSONField()

    class Meta:
        db_table = "wallet_difference"
        default_permissions = ()
        indexes = [
            models.Index(fields=["statement", "id"], name="wallet_difference_of"),
            models.Index(fields=["subject"], condition=models.Q(kind="missing"), name="wallet_difference_missing"),
        ]

    def __str__(self) -> str:
        return f"difference:{self.pk}"

    @property
    def is_settled(self) -> bool:
        """Whether somebody has said the last word."""
        return any(step.settles for step in self.steps.all())


class DifferenceStep(models.Model):
    """What somebody found out about a difference; the one that ``settles`` it is the last word. Appended."""

    difference = models.ForeignKey(Difference, models.PROTECT, related_name="steps", db_index=False)
    by = models.TextField()  # as the event log names them
    settles = models.BooleanField()
    words = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_difference_step"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["difference"], condition=models.Q(settles=True), name="wallet_difference_settled_once"
            )
        ]
        indexes = [models.Index(fields=["difference", "id"], name="wallet_difference_step_of")]


class DepositNote(models.Model):
    """What somebody found out about a deposit in doubt. One that ``settles`` it ends the doubt until the provider says
    something new. Appended; it moves no money.
    """

    payment = models.ForeignKey(Payment, models.PROTECT, related_name="notes", db_index=False)
    by = models.TextField()  # as the event log names them
    settles = models.BooleanField()
    words = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_deposit_note"
        default_permissions = ()
        permissions = [
            ("handle_deposit", "Can look into deposits in doubt, ask providers and note what was found"),
            ("see_deposits", "Can see deposits in doubt"),
        ]
        indexes = [models.Index(fields=["payment", "id"], name="wallet_deposit_note_of")]
