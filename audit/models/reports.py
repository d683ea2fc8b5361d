"""Reports as they were made: asked for, then written once and never changed (``sql/functions/reports.sql``)."""

from django.db import models

from audit.models.hours import Clock


class ReportState(models.TextChoices):
    """How far a report has come."""

    WAITING = "waiting", "waiting to be made"
    MAKING = "making", "being made"
    READY = "ready", "ready"
    FAILED = "failed", "could not be made"


class Report(models.Model):
    """One report of a kind (`audit.reports.kinds`) for one interval. What it says stands in its pages and files."""

    kind = models.TextField()
    since = models.DateTimeField()
    until = models.DateTimeField()  # the first moment that does not belong to it
    choices = models.JSONField(
        default=dict
    )  # what else was asked for: "zone", "period" and what the kind has to choose
    by = models.TextField()  # as the event log names who asked; "system" for the daily ones
    asked_at = models.DateTimeField(db_default=Clock())
    state = models.TextField(choices=ReportState, default=ReportState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)  # how often it was begun
    done = models.BigIntegerField(default=0)  # rows so far
    of = models.BigIntegerField(null=True)  # rows in all, where that is known beforehand
    moved_at = models.DateTimeField(db_default=Clock())  # when `state` or `done` changed last
    made_at = models.DateTimeField(null=True)  # the figures are those of this moment
    head = models.JSONField(null=True)  # all that is shown but for the rows (`audit.reports.heading.Head`)
    failure = models.TextField(blank=True, default="")  # a sentence for staff
    digests = models.JSONField(default=dict)  # "csv", "xlsx", "screen" -> hex SHA-256, as the event log has it

    class Meta:
        db_table = "audit_report"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["kind", "-id"], name="audit_report_kind"),
            models.Index(
                fields=["asked_at"],
                condition=models.Q(state__in=(ReportState.WAITING, ReportState.MAKING)),
                name="audit_report_open",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(since__lt=models.F("until")), name="audit_report_interval"),
            models.CheckConstraint(condition=models.Q(state__in=ReportState.values), name="audit_report_state"),
            # One of each kind for each day, however many beats there are.
            models.UniqueConstraint(
                fields=["kind", "since"], condition=models.Q(by="system"), name="audit_report_daily"
            ),
        ]


class ReportPage(models.Model):
    """So many rows of a report as the screen shows them."""

    pk = models.CompositePrimaryKey("report_id", "number")
    report = models.ForeignKey(Report, models.PROTECT, related_name="pages", db_index=False)
    number = models.PositiveIntegerField()  # from 1
    rows = models.JSONField()

    class Meta:
        db_table = "audit_report_page"
        default_permissions = ()


class ReportPart(models.Model):
    """A piece of a file of a report; one after another they are its bytes."""

    pk = models.CompositePrimaryKey("report_id", "format", "number")
    report = models.ForeignKey(Report, models.PROTECT, related_name="parts", db_index=False)
    format = models.TextField()  # "csv" or "xlsx"
    number = models.PositiveIntegerField()  # from 1
    content = models.BinaryField()

    class Meta:
        db_table = "audit_report_part"
        default_permissions = ()
