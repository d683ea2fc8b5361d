"""Significant events (GLI-19 v3.0, 2.8.8): what compliance staff must look at, and what they did about it."""

from django.db import models

from audit.models.hours import Clock
from audit.models.log import Event


class Category(models.TextChoices):
    """Category of a significant event; GLI-19 v3.0, 2.8.8 names all but the last two."""

    LOG_IN = "log_in", "Failed log-ins"
    ERROR = "error", "Errors and mismatches"
    STANDSTILL = "standstill", "Play stood still"
    LARGE_WIN = "large_win", "Large wins"
    LARGE_WAGER = "large_wager", "Large wagers"
    LARGE_PAYMENT = "large_payment", "Large payments"
    CORRECTION = "correction", "Voids, overrides and corrections"
    PARAMETER = "parameter", "Changed parameters, rules and paytables"
    ADJUSTMENT = "adjustment", "Adjusted balances"
    PERSONAL = "personal", "Changed personal data"
    DEACTIVATION = "deactivation", "Deactivations"
    NEGATIVE = "negative", "Negative balances"
    LAUNDERING = "laundering", "Signs of money laundering"
    RETURNS = "returns", "Returns and randomness"


class Weight(models.IntegerChoices):
    """Importance of a significant event."""

    NOTICE = 1, "to be seen"
    ALERT = 2, "to be looked into; e-mailed at once"


class Work(models.TextChoices):
    """State of the work on a significant event."""

    NEW = "new", "new"
    SEEN = "seen", "acknowledged"
    CLOSED = "closed", "closed"


class Significant(models.Model):
    """A significant event, described as it was found; found once per *key*."""

    key = models.TextField(unique=True)
    category = models.TextField(choices=Category)
    weight = models.IntegerField(choices=Weight)
    event = models.ForeignKey(
        Event, models.PROTECT, null=True, db_constraint=False
    )  # what it follows from, where it is one event
    on = models.TextField()  # the subject, as in the event log
    currency = models.CharField(max_length=3, blank=True, default="")
    amount = models.BigIntegerField(null=True)  # minor units
    title = models.TextField()  # a line for staff
    because = models.TextField(blank=True, default="")  # why it was found, in sentences for staff
    rows = models.JSONField(default=list)  # the evidence, row by row: {"heading": "value", …}
    happened_at = models.DateTimeField()
    at = models.DateTimeField(db_default=Clock())
    # The following columns change during handling, each time with a `SignificantStep`.
    state = models.TextField(choices=Work, default=Work.NEW)
    assigned_to = models.TextField(blank=True, default="")  # "staff:3"
    mailed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "audit_significant"
        default_permissions = ()
        permissions = [("handle_significant", "Can work on significant events")]
        indexes = [
            models.Index(fields=["state", "-id"], name="audit_significant_work"),
            models.Index(fields=["category", "-id"], name="audit_significant_category"),
            models.Index(fields=["category", "state", "-id"], name="audit_significant_both"),
            models.Index(fields=["on", "-id"], name="audit_significant_on"),
            models.Index(
                fields=["assigned_to", "-id"], name="audit_significant_whose", condition=~models.Q(assigned_to="")
            ),
            models.Index(
                fields=["mailed_at", "id"], name="audit_significant_mailed", condition=models.Q(weight=Weight.ALERT)
            ),
        ]

    @property
    def its_event(self) -> Event | None:
        """The event that it follows from; None where there is none."""
        return Event.objects.filter(pk=self.event_id).first() if self.event_id else None


class Step(models.TextChoices):
    """A kind of step in handling a significant event."""

    ACKNOWLEDGED = "acknowledged", "acknowledged"
    COMMENTED = "commented", "commented"
    ASSIGNED = "assigned", "assigned"
    CLOSED = "closed", "closed"
    REOPENED = "reopened", "reopened"


class SignificantStep(models.Model):
    """A step in handling a significant event; never changed."""

    significant = models.ForeignKey(Significant, models.PROTECT, related_name="steps")
    step = models.TextField(choices=Step)
    by = models.TextField()
    to = models.TextField(blank=True, default="")  # to whom it was assigned
    words = models.TextField(blank=True, default="")
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_significant_step"
        default_permissions = ()


class Muted(models.Model):
    """A category that a staff member gets no mail about. Without rows, all categories are mailed."""

    pk = models.CompositePrimaryKey("who", "category")
    who = models.TextField()  # "staff:3"
    category = models.TextField(choices=Category)

    class Meta:
        db_table = "audit_significant_muted"
        default_permissions = ()


class Threshold(models.Model):
    """Amounts from which on something is significant, in one currency: a single amount, and the sum
    over some days.
    """

    pk = models.CompositePrimaryKey("what", "currency")
    what = models.TextField()  # "win", "wager", "deposit", "withdrawal", and what AML alerts register
    currency = models.CharField(max_length=3)
    single = models.BigIntegerField()  # minor units
    summed = models.BigIntegerField()
    days = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "audit_threshold"
        default_permissions = ("change",)


class Cursor(models.Model):
    """Position of a reader of the event log: the number of leaves it has read, each once and in order."""

    name = models.TextField(primary_key=True)
    leaves = models.BigIntegerField(default=0)

    class Meta:
        db_table = "audit_cursor"
        default_permissions = ()


class Pulse(models.Model):
    """The last time a process such as the workers reported that it is running."""

    who = models.TextField(primary_key=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "audit_pulse"
        default_permissions = ()
