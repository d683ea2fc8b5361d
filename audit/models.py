"""Rows of the event log and of approvals; triggers refuse every change.

Events are inserted by ``audit_record`` (``sql/0001_log.sql``) alone.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Func


class Clock(Func):
    """PostgreSQL's clock as it stands when a row is written; `Now` is when its transaction began."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class Event(models.Model):
    """Something that happened. ``body`` holds the canonical JSON bytes that are proven; the other columns repeat parts
    of it for queries.
    """

    at = models.DateTimeField()
    kind = models.TextField()
    by = models.TextField()
    on = models.TextField()
    body = models.BinaryField()

    class Meta:
        db_table = "audit_event"
        default_permissions = ("view",)
        indexes = [
            models.Index(fields=["kind", "id"], name="audit_event_kind"),
            models.Index(fields=["on", "id"], name="audit_event_on"),
            models.Index(fields=["by", "id"], name="audit_event_by"),
        ]


class Pending(models.Model):
    """An event that awaits its leaf in the tree."""

    event = models.OneToOneField(Event, models.PROTECT, primary_key=True)

    class Meta:
        db_table = "audit_pending"
        default_permissions = ()


class Personal(models.Model):
    """The one erasable table: a personal value, of which the event itself holds only the salted SHA-256."""

    pk = models.CompositePrimaryKey("event_id", "field")
    event = models.ForeignKey(Event, models.PROTECT)
    field = models.TextField()
    salt = models.BinaryField()
    value = models.TextField()

    class Meta:
        db_table = "audit_personal"
        default_permissions = ()
        indexes = [models.Index(fields=["field", "event"], name="audit_personal_field")]


class Leaf(models.Model):
    """Which event is which leaf of the tree, counted from 0 without gaps. ``audit_seal`` alone makes them."""

    leaf = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(Event, models.PROTECT)

    class Meta:
        db_table = "audit_leaf"
        default_permissions = ()


class Tile(models.Model):
    """A tile of the tree as C2SP tlog-tiles cuts it: up to 256 hashes of 32 bytes, one after another. Those at the
    right edge of the tree grow; nothing in them ever changes.
    """

    pk = models.CompositePrimaryKey("level", "number")
    level = models.SmallIntegerField()
    number = models.BigIntegerField()
    hashes = models.BinaryField()

    class Meta:
        db_table = "audit_tile"
        default_permissions = ()


class Checkpoint(models.Model):
    """A tree that the signer signed: how many leaves, their root, when by the signer's clock, and the signed note."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    at = models.DateTimeField()
    note = models.TextField()

    class Meta:
        db_table = "audit_checkpoint"
        default_permissions = ()


class Delivery(models.Model):
    """A checkpoint on its way to a place outside the house's reach, or why it did not get there."""

    checkpoint = models.ForeignKey(Checkpoint, models.PROTECT)
    to = models.TextField()
    at = models.DateTimeField(db_default=Clock())
    failure = models.TextField(default="", blank=True)

    class Meta:
        db_table = "audit_delivery"
        default_permissions = ()
        indexes = [models.Index(fields=["to", "-id"], name="audit_delivery_latest")]


class Verdict(models.TextChoices):
    """How an approval ended."""

    APPROVED = "approved"
    REFUSED = "refused"
    EXPIRED = "expired"  # nobody decided in time


class Approval(models.Model):
    """Something that one person asked for and another one has to decide.

    ``request`` holds the canonical JSON that will be executed as it stands, ``sha256`` its hash. ``person`` is the
    human behind ``by``: two accounts of one human have one.
    """

    kind = models.TextField()
    on = models.TextField()  # what it is about, as the event log names it
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
        indexes = [models.Index(fields=["on", "id"], name="audit_approval_on")]


class Decision(models.Model):
    """The end of an approval, of which there is one. ``asker`` repeats the approval's person, so that the database can
    tell the two apart; ``person`` is None where nobody decided.
    """

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True)
    verdict = models.CharField(max_length=8, choices=Verdict)
    by = models.TextField()
    asker = models.UUIDField()
    person = models.UUIDField(null=True)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_decision"
        default_permissions = ()


class Kept(models.TextChoices):
    """What the house keeps for a time, and then no longer."""

    ACCOUNT = "account", "Who somebody was, after their account was closed"
    CONVERSATION = "conversation", "Messages of players and answers to them, after the last one"
    CHAT = "chat", "What was said at tables"
    REFUSED_PAPERS = "refused papers", "Identity documents that were refused, after the refusal"
    MAIL = "mail", "To whom mails went, and what they were about"
    ADDRESS = "address", "From where somebody logged in, played or registered: addresses and browsers"
    WRONG_LOG_IN = "wrong log-in", "E-mail addresses given in log-ins that failed"
    LOOK = "look", "From where staff looked at somebody’s data, and what they asked for"


class Retention(models.Model):
    """For how many days something is kept, at least how many the database allows, and who says so.

    Personal values of events are told by the names of their ``fields``; where there are none, it is rows that go.
    ``approval`` is that of the last change.
    """

    what = models.TextField(primary_key=True, choices=Kept)
    days = models.IntegerField()
    minimum = models.IntegerField()
    fields = ArrayField(models.TextField())
    source = models.TextField()
    approval = models.ForeignKey(Approval, models.PROTECT, null=True)

    class Meta:
        db_table = "audit_retention"
        default_permissions = ("change",)
