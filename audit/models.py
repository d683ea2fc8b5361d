"""Models of the audit app: event log, tree, approvals, hourly totals, reports, significant events.

Triggers refuse changes of stored rows. Only ``audit_record`` (``sql/functions/log.sql``) inserts
events. Their table is partitioned by month (``sql/functions/months.sql``), so references to events
have no foreign key: a trigger checks that the event exists.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Func
from django.utils.translation import gettext_lazy, pgettext_lazy


class Salt(Func):
    """A salt of 16 bytes, 122 bits of them random."""

    template = "uuid_send(gen_random_uuid())"
    output_field = models.BinaryField()


class Event(models.Model):
    """Something that happened. ``body`` holds the canonical JSON bytes that are proven; the other
    columns repeat parts of it for queries. The public log shows the body only where there is no
    ``salt``, and else the hash of salt and body (``audit_entry``).
    """

    at = models.DateTimeField()
    kind = models.TextField()
    by = models.TextField()
    on = models.TextField()
    body = models.BinaryField()
    salt = models.BinaryField(null=True, db_default=Salt())

    class Meta:
        db_table = "audit_event"
        default_permissions = ("view",)
        permissions = [("export_rows", "Can export lists")]
        indexes = [
            models.Index(fields=["kind", "id"], name="audit_event_kind"),
            models.Index(fields=["on", "id"], name="audit_event_on"),
            models.Index(fields=["by", "id"], name="audit_event_by"),
        ]


class Clock(Func):
    """PostgreSQL's clock at the time a row is written; `Now` is the start of the transaction."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class Watermark(models.Model):
    """A time and the transaction that wrote it. Once all earlier transactions have ended,
    everything written before that time is visible.
    """

    at = models.DateTimeField(primary_key=True, db_default=Clock())
    transaction = models.BigIntegerField()  # a PostgreSQL xid8

    class Meta:
        db_table = "audit_watermark"
        default_permissions = ()


class Rolled(models.Model):
    """An hour that has been summed up, by the name of the totals (`audit.hours.register`)."""

    pk = models.CompositePrimaryKey("totals", "hour")
    totals = models.TextField()
    hour = models.DateTimeField()  # its beginning
    rows = models.BigIntegerField()  # how many were read
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_rolled"
        default_permissions = ()


__all__ = [
    "Approval",
    "Category",
    "Checkpoint",
    "Clock",
    "Cursor",
    "Decision",
    "Delivery",
    "Event",
    "Leaf",
    "Muted",
    "Pending",
    "Personal",
    "Pulse",
    "Report",
    "ReportPage",
    "ReportPart",
    "ReportState",
    "RetainedData",
    "Retention",
    "Rolled",
    "Significant",
    "SignificantStep",
    "Step",
    "Threshold",
    "Tile",
    "Verdict",
    "VerificationFinding",
    "VerificationRun",
    "Watermark",
    "Weight",
    "Work",
]


class Verdict(models.TextChoices):
    """Outcome of an approval."""

    APPROVED = "approved", pgettext_lazy("approval", "Approved")
    REFUSED = "refused", pgettext_lazy("approval", "Refused")
    EXPIRED = "expired", pgettext_lazy("approval", "Expired")  # nobody decided in time
    WITHDRAWN = "withdrawn", pgettext_lazy("approval", "Withdrawn")  # by the person who asked


class Approval(models.Model):
    """A request by one person that another person has to decide.

    ``request`` holds the canonical JSON that will be executed unchanged, ``sha256`` its hash.
    ``person`` is the human behind ``by``: two accounts of one human share it.
    """

    kind = models.TextField()
    on = models.TextField()  # the subject, as in the event log
    request = models.TextField()
    sha256 = models.BinaryField()
    by = models.TextField()
    person = models.UUIDField()
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "audit_approval"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["on", "id"], name="audit_approval_on"),
            models.Index(fields=["kind", "-id"], name="audit_approval_kind"),
        ]


class Decision(models.Model):
    """The end of an approval. ``asker`` repeats the approval's person, so that a constraint can
    compare the two: they are equal if and only if the request was withdrawn. ``person`` is None
    where it expired.
    """

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True)
    verdict = models.CharField(max_length=9, choices=Verdict)
    by = models.TextField()
    asker = models.UUIDField()
    person = models.UUIDField(null=True)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_decision"
        default_permissions = ()
        indexes = [models.Index(fields=["verdict", "-approval"], name="audit_decision_verdict")]


class ReportState(models.TextChoices):
    """State of a report."""

    WAITING = "waiting", pgettext_lazy("report state", "queued")
    MAKING = "making", pgettext_lazy("report state", "in progress")
    READY = "ready", pgettext_lazy("report state", "ready")
    FAILED = "failed", pgettext_lazy("report state", "failed")


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
    changed_at = models.DateTimeField(db_default=Clock())  # last change of `state` or `done`
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


class RetainedData(models.TextChoices):
    """Data that is kept for a limited time."""

    ACCOUNT = "account", gettext_lazy("Personal data, after the account is closed")
    CONVERSATION = "conversation", gettext_lazy("Messages with players, after the last message")
    CHAT = "chat", pgettext_lazy("retained data", "Chat messages")
    REFUSED_PAPERS = "refused papers", gettext_lazy("Refused documents, after the refusal")
    MAIL = "mail", gettext_lazy("Recipients and subjects of e-mails")
    ADDRESS = "address", gettext_lazy("IP addresses and browsers of log-ins, play and registrations")
    WRONG_LOG_IN = "wrong log-in", gettext_lazy("E-mail addresses entered in failed log-ins")
    ACCESS = "look", gettext_lazy("IP addresses and requests in the access log")


class Retention(models.Model):
    """The retention period of a kind of data in days, its minimum, and the source of the
    requirement.

    ``fields`` names personal values of events; where it is empty, the kind consists of rows.
    ``approval`` is that of the last change.
    """

    what = models.TextField(primary_key=True, choices=RetainedData)
    days = models.IntegerField()
    minimum = models.IntegerField()
    fields = ArrayField(models.TextField())
    source = models.TextField()
    approval = models.ForeignKey(Approval, models.PROTECT, null=True)

    class Meta:
        db_table = "audit_retention"
        default_permissions = ("change",)


class Category(models.TextChoices):
    """Category of a significant event; GLI-19 v3.0, 2.8.8 names all but the last two."""

    LOG_IN = "log_in", pgettext_lazy("category", "Failed log-ins")
    ERROR = "error", gettext_lazy("Errors and mismatches")
    STANDSTILL = "standstill", pgettext_lazy("category", "Play interruptions")
    LARGE_WIN = "large_win", pgettext_lazy("category", "Large wins")
    LARGE_WAGER = "large_wager", pgettext_lazy("category", "Large wagers")
    LARGE_PAYMENT = "large_payment", pgettext_lazy("category", "Large payments")
    CORRECTION = "correction", gettext_lazy("Voids, overrides and corrections")
    PARAMETER = "parameter", gettext_lazy("Parameter, rule and paytable changes")
    ADJUSTMENT = "adjustment", pgettext_lazy("category", "Balance adjustments")
    PERSONAL = "personal", gettext_lazy("Personal data changes")
    DEACTIVATION = "deactivation", pgettext_lazy("category", "Deactivations")
    NEGATIVE = "negative", pgettext_lazy("category", "Negative balances")
    LAUNDERING = "laundering", pgettext_lazy("category", "AML alerts")
    RETURNS = "returns", gettext_lazy("RTP and randomness")


class Weight(models.IntegerChoices):
    """Importance of a significant event."""

    NOTICE = 1, pgettext_lazy("weight", "notice")
    ALERT = 2, gettext_lazy("alert, e-mailed at once")


class Work(models.TextChoices):
    """State of the work on a significant event."""

    NEW = "new", pgettext_lazy("significant event", "new")
    SEEN = "seen", pgettext_lazy("significant event", "acknowledged")
    CLOSED = "closed", pgettext_lazy("significant event", "closed")
    CASE = "case", gettext_lazy("handled as a case")  # of AML alerts, from the beginning


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
    because = models.JSONField(default=list)  # why it was found: a sentence of `audit.staff_text`
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
            models.Index(fields=["category", "id"], name="audit_significant_category"),
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
        """The event that it follows from; None if there is none."""
        return Event.objects.filter(pk=self.event_id).first() if self.event_id else None


class Step(models.TextChoices):
    """A kind of step in handling a significant event."""

    ACKNOWLEDGED = "acknowledged", pgettext_lazy("significant event", "acknowledged")
    COMMENTED = "commented", pgettext_lazy("significant event", "commented")
    ASSIGNED = "assigned", pgettext_lazy("significant event", "assigned")
    CLOSED = "closed", pgettext_lazy("significant event", "closed")
    REOPENED = "reopened", pgettext_lazy("significant event", "reopened")


class SignificantStep(models.Model):
    """A step in handling a significant event; never changed."""

    significant = models.ForeignKey(Significant, models.PROTECT, related_name="steps")
    step = models.TextField(choices=Step)
    by = models.TextField()
    to = models.TextField(blank=True, default="")  # the assigned staff member
    text = models.TextField(blank=True, default="")
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


class Pending(models.Model):
    """An event that has no leaf in the tree yet."""

    event = models.OneToOneField(Event, models.PROTECT, primary_key=True, db_constraint=False)

    class Meta:
        db_table = "audit_pending"
        default_permissions = ()


class Personal(models.Model):
    """The only erasable table: a personal value, of which the event contains only the salted SHA-256."""

    pk = models.CompositePrimaryKey("event_id", "field")
    event = models.ForeignKey(Event, models.PROTECT, db_constraint=False)
    field = models.TextField()
    salt = models.BinaryField()
    value = models.TextField()

    class Meta:
        db_table = "audit_personal"
        default_permissions = ()
        indexes = [models.Index(fields=["field", "event"], name="audit_personal_field")]


class Leaf(models.Model):
    """The event of each leaf of the tree, counted from 0 without gaps. Only ``audit_seal`` inserts them."""

    leaf = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(Event, models.PROTECT, db_constraint=False)

    class Meta:
        db_table = "audit_leaf"
        default_permissions = ()


class Tile(models.Model):
    """A tile of the tree (C2SP tlog-tiles): up to 256 hashes of 32 bytes, concatenated. Tiles at
    the right edge of the tree grow; hashes never change.
    """

    pk = models.CompositePrimaryKey("level", "number")
    level = models.SmallIntegerField()
    number = models.BigIntegerField()
    hashes = models.BinaryField()

    class Meta:
        db_table = "audit_tile"
        default_permissions = ()


class Checkpoint(models.Model):
    """A tree that the signer signed: number of leaves, root, time by the signer's clock, and the signed note."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    at = models.DateTimeField()
    note = models.TextField()

    class Meta:
        db_table = "audit_checkpoint"
        default_permissions = ()


class Cosignature(models.Model):
    """An answer of a witness to a checkpoint: its signature line, or why there is none."""

    checkpoint = models.ForeignKey(Checkpoint, models.PROTECT)
    witness = models.TextField()  # name and hash of its key, as in a vkey
    line = models.TextField(default="", blank=True)
    failure = models.TextField(default="", blank=True)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_cosignature"
        default_permissions = ()
        indexes = [models.Index(fields=["witness", "-id"], name="audit_cosignature_latest")]


class Delivery(models.Model):
    """An attempt to deliver a checkpoint to an external destination, with the reason if it failed."""

    checkpoint = models.ForeignKey(Checkpoint, models.PROTECT)
    to = models.TextField()
    at = models.DateTimeField(db_default=Clock())
    failure = models.TextField(default="", blank=True)

    class Meta:
        db_table = "audit_delivery"
        default_permissions = ()
        indexes = [models.Index(fields=["to", "-id"], name="audit_delivery_latest")]


class VerificationRun(models.Model):
    """A verification of the house (`audit.verification.house`): leaves *first* to below *beyond*, and the rows.

    ``marks`` has, for each table, an id below which all rows were there when the run began.
    """

    is_whole = models.BooleanField()  # everything, not only what is new
    parts = ArrayField(models.TextField())
    began_at = models.DateTimeField(db_default=Clock())
    ended_at = models.DateTimeField(null=True)
    first = models.BigIntegerField()
    next = models.BigIntegerField()  # the first leaf that is not verified yet
    beyond = models.BigIntegerField()
    marks = models.JSONField()
    findings = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "verification_run"
        default_permissions = ()
        indexes = [models.Index(fields=["is_whole", "-id"], name="verification_run_newest")]


class VerificationFinding(models.Model):
    """A difference between the signed log and the house, in the words of the moment it was found; once for each *key*.

    The event and the significant event about it stay, even if this row is changed or deleted.
    """

    key = models.TextField(unique=True)  # SHA-256 of part and text, in hex
    part = models.TextField()
    verified = models.TextField()  # what does not hold
    on = models.TextField()  # the subject, as in the event log
    text = models.TextField()  # a sentence for staff that names the rows
    first_at = models.DateTimeField(db_default=Clock())
    last_at = models.DateTimeField(db_default=Clock())
    cleared_at = models.DateTimeField(null=True)  # when a whole verification did not find it any more

    class Meta:
        db_table = "verification_finding"
        default_permissions = ()
        indexes = [models.Index(fields=["cleared_at", "-id"], name="verification_finding_open")]
