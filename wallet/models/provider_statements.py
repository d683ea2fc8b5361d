"""Provider statements for reconciliation: uploads, lines, differences and staff notes.

Also notes on deposits in doubt. No row of these tables moves money. Lines and differences are
written when a statement is confirmed and never change. Staff notes are only added.
``wallet/sql/functions/provider_statements.sql`` enforces this in the database.
"""

from uuid import uuid4

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy, pgettext_lazy

from players.models import Staff
from wallet.models.ledger import Currency
from wallet.models.payments import Payment


class LineKind(models.TextChoices):
    """Kind of transaction of a statement line."""

    DEPOSIT = "deposit", pgettext_lazy("line kind", "Deposit")
    PAYOUT = "payout", pgettext_lazy("line kind", "Payout")
    REFUND = "refund", pgettext_lazy("line kind", "Refund")  # of a deposit, by the provider itself
    CHARGEBACK = "chargeback", pgettext_lazy("line kind", "Chargeback")  # of a deposit, by the payer's bank


class LineStatus(models.TextChoices):
    """Status of a line at the provider. Only settled lines have moved money."""

    SETTLED = "settled", pgettext_lazy("line status", "Settled")
    PENDING = "pending", pgettext_lazy("line status", "Pending")
    FAILED = "failed", pgettext_lazy("line status", "Failed")


class Verdict(models.TextChoices):
    """Result of a line when its statement was confirmed."""

    MATCHED = "matched", pgettext_lazy("statement line", "Matched")  # same as the house's record
    DIFFERS = "differs", pgettext_lazy("statement line", "Differs")  # has one or more differences
    # identical to a line of an earlier statement; not counted again
    REPEATED = "repeated", pgettext_lazy("statement line", "Repeated")


class DifferenceKind(models.TextChoices):
    """Kind of difference between a statement and the house's records."""

    UNKNOWN = "unknown", pgettext_lazy("difference kind", "Unknown payment")
    AMOUNT = "amount", pgettext_lazy("difference kind", "Amount differs")
    CURRENCY = "currency", pgettext_lazy("difference kind", "Currency differs")
    STATUS = "status", pgettext_lazy("difference kind", "Status differs")
    AUTHORISATION = "authorisation", gettext_lazy("Authorisation number differs")
    DUPLICATE = "duplicate", pgettext_lazy("difference kind", "Duplicate line")
    TAKEN_BACK = "taken_back", gettext_lazy("Reversed by the provider")
    MISSING = "missing", gettext_lazy("Missing from the statement")


class StatementDraft(models.Model):
    """An uploaded statement that is not confirmed yet. Only the uploader sees it, for one hour.

    ``lines`` and ``faults`` contain only the declared columns. Other columns of the file are not
    stored.
    """

    id = models.UUIDField(primary_key=True, default=uuid4)
    staff = models.ForeignKey(Staff, models.PROTECT)
    provider = models.CharField(max_length=255)
    since = models.DateField()  # first day, in UTC
    until = models.DateField()  # last day, included
    name = models.CharField(max_length=100)  # file name
    digest = models.BinaryField()  # SHA-256 of the file's bytes
    lines = models.JSONField()
    faults = models.JSONField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_statement_draft"
        default_permissions = ()


class ProviderStatement(models.Model):
    """A confirmed statement.

    ``totals`` has the provider's and the house's total for each currency and kind at that time
    (`wallet.provider_statements.comparison.Total`).
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
            ("reconcile", "Can import provider statements and settle differences"),
            ("see_statements", "Can view provider statements"),
        ]

    def __str__(self) -> str:
        return f"statement:{self.pk}"


class StatementLine(models.Model):
    """One line as the provider wrote it, of *amount* minor units.

    ``subject`` is the name of the matching payment or withdrawal in the event log, or the
    provider's reference if there is none.
    """

    statement = models.ForeignKey(ProviderStatement, models.PROTECT, related_name="lines", db_index=False)
    number = models.PositiveIntegerField()  # line number in the file; the header is line 1
    kind = models.CharField(max_length=10, choices=LineKind)
    reference = models.CharField(max_length=64, blank=True)  # the house's reference
    authorisation = models.CharField(max_length=64, blank=True)  # the provider's number
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
    """A difference between a statement and the house's records.

    Without *line*, the statement lacks it.

    ``known`` is the house's record at that time: amount in minor units, currency, state and
    authorisation. It is empty if the house had no record.
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
        """True if a step has settled the difference."""
        return any(step.settles for step in self.steps.all())


class DifferenceStep(models.Model):
    """A staff note on a difference. The step with ``settles`` closes it. Only added, never changed."""

    difference = models.ForeignKey(Difference, models.PROTECT, related_name="steps", db_index=False)
    by = models.TextField()  # as the event log names them
    settles = models.BooleanField()
    text = models.TextField()
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
    """A staff note on a deposit in doubt. Only added, never changed. It moves no money.

    A note with ``settles`` ends the doubt until the provider sends something new.
    """

    payment = models.ForeignKey(Payment, models.PROTECT, related_name="notes", db_index=False)
    by = models.TextField()  # as the event log names them
    settles = models.BooleanField()
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "wallet_deposit_note"
        default_permissions = ()
        permissions = [
            ("handle_deposit", "Can handle deposit exceptions"),
            ("see_deposits", "Can view deposit exceptions"),
            ("decide_deposit", "Can decide about held deposits"),
        ]
        indexes = [models.Index(fields=["payment", "id"], name="wallet_deposit_note_of")]
