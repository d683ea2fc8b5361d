"""Reports: requested, then written once and never changed (``sql/functions/reports.sql``)."""

from django.db import models

from audit.models.hours import Clock


class ReportState(models.TextChoices):
    """State of a report."""

    WAITING = "waiting", "waiting to be made"
    MAKING = "making", "being made"
    READY = "ready", "ready"
    FAILED = "failed", "could not be made"


class Report(models.Model):
    """A report of a kind (`audit.reports.kinds`) for an interval. Its content is in its pages and files."""

    kind = models.TextField()
    since = models.DateTimeField()
    until = models.DateTimeField()  # exclusive
    choices = models.JSONField(
        default=dict
    )  # what else was asked for: "zone", "period" and what the kind has to choose
    by = models.TextField()  # the requester as in the event log; "system" for the daily ones
    asked_at = models.DateTimeField(db_default=Clock())
    state = models.TextField(choices=ReportState, default=ReportState.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)  # number of attempts
    done = models.BigIntegerField(default=0)  # rows written
    of = models.BigIntegerField(null=True)  # rows in total, where known in advance
    moved_at = models.DateTimeField(db_default=Clock())  # last change of `state` or `done`
    made_at = models.DateTimeField(null=True)  # time as of which the figures are true
    head = models.JSONField(null=True)  # everything shown except the rows (`audit.reports.heading.Head`)
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
            # One of each kind per day, however often the scheduler runs.
            models.UniqueConstraint(
                fields=["kind", "since"], condition=models.Q(by="system"), name="audit_report_daily"
            ),
        ]


class ReportPage(models.Model):
    """A page of rows of a report, as shown on screen."""

    pk = models.CompositePrimaryKey("report_id", "number")
    report = models.ForeignKey(Report, models.PROTECT, related_name="pages", db_index=False)
    number = models.PositiveIntegerField()  # from 1
    rows = models.JSONField()

    class Meta:
        db_table = "audit_report_page"
        default_permissions = ()


class ReportPart(models.Model):
    """A chunk of a report's file; concatenated, the chunks are the file."""

    pk = models.CompositePrimaryKey("report_id", "format", "number")
    report = models.ForeignKey(Report, models.PROTECT, related_name="parts", db_index=False)
    format = models.TextField()  # "csv" or "xlsx"
    number = models.PositiveIntegerField()  # from 1
    content = models.BinaryField()

    class Meta:
        db_table = "audit_report_part"
        default_permissions = ()
