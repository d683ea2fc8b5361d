"""Significant events (GLI-19 v3.0, 2.8.8): what compliance staff have to look at, and what they did about it."""

from django.db import models

from audit.models.hours import Clock
from audit.models.log import Event


class Category(models.TextChoices):
    """What kind of thing a significant event is; GLI-19 v3.0, 2.8.8 names all but the last two."""

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
    """How much a significant event matters."""

    NOTICE = 1, "to be seen"
    ALERT = 2, "to be looked into; e-mailed at once"


class Work(models.TextChoices):
    """What has become of a significant event."""

    NEW = "new", "new"
    SEEN = "seen", "acknowledged"
    CLOSED = "closed", "closed"


class Significant(models.Model):
    """One of them, in the words of the moment it was found; found once, by its *key*."""

    key = models.TextField(unique=True)
    category = models.TextField(choices=Category)
    weight = models.IntegerField(choices=Weight)
    event = models.ForeignKey(
        Event, models.PROTECT, null=True, db_constraint=False
    )  # what it follows from, where it is one event
    on = models.TextField()  # whom or what it is about, as the event log names it
    currency = models.CharField(max_length=3, blank=True, default="")
    amount = models.BigIntegerField(null=True)  # minor units
    title = models.TextField()  # a line for staff
    because = models.TextField(blank=True, default="")  # why it was found, in sentences for staff
    rows = models.JSONField(default=list)  # what it follows from, row by row: {"heading": "value", …}
    happened_at = models.DateTimeField()
    at = models.DateTimeField(db_default=Clock())
    # What follows changes with the work on it, each time with a `SignificantStep`.
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
    """What somebody did about a significant event."""

    ACKNOWLEDGED = "acknowledged", "acknowledged"
    COMMENTED = "commented", "commented"
    ASSIGNED = "assigned", "assigned"
    CLOSED = "closed", "closed"
    REOPENED = "reopened", "reopened"


class SignificantStep(models.Model):
    """One step of the work on a significant event; never changed."""

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
    """A category of which a member of staff wants no mail. Nobody has said so of any at first."""

    pk = models.CompositePrimaryKey("who", "category")
    who = models.TextField()  # "staff:3"
    category = models.TextField(choices=Category)

    class Meta:
        db_table = "audit_significant_muted"
        default_permissions = ()


class Threshold(models.Model):
    """From which amount on something is significant, in one currency: a single one, and the sum over some days."""

    pk = models.CompositePrimaryKey("what", "currency")
    what = models.TextField()  # "win", "wager", "deposit", "withdrawal"; what watches register besides
    currency = models.CharField(max_length=3)
    single = models.BigIntegerField()  # minor units
    summed = models.BigIntegerField()
    days = models.PositiveSmallIntegerField()

    class Meta:
        db_table = "audit_threshold"
        default_permissions = ("change",)


class Cursor(models.Model):
    """How many leaves of the event log a reader has read, which reads them in order and each once."""

    name = models.TextField(primary_key=True)
    leaves = models.BigIntegerField(default=0)

    class Meta:
        db_table = "audit_cursor"
        default_permissions = ()


class Pulse(models.Model):
    """When the house's workers last said that they are alive."""

    who = models.TextField(primary_key=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "audit_pulse"
        default_permissions = ()
