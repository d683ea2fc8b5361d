"""Models of the event log and of the tree over it; triggers refuse every change.

Only ``audit_record`` (``sql/functions/log.sql``) inserts events. The table is partitioned by month
(``sql/functions/months.sql``), so references to events have no foreign key: a trigger checks that
the event exists.
"""

from django.db import models

from audit.models.hours import Clock


class Event(models.Model):
    """Something that happened. ``body`` holds the canonical JSON bytes that are proven; the other
    columns repeat parts of it for queries.
    """

    at = models.DateTimeField()
    kind = models.TextField()
    by = models.TextField()
    on = models.TextField()
    body = models.BinaryField()

    class Meta:
        db_table = "audit_event"
        default_permissions = ("view",)
        permissions = [("export_rows", "Can take rows of lists out as files")]
        indexes = [
            models.Index(fields=["kind", "id"], name="audit_event_kind"),
            models.Index(fields=["on", "id"], name="audit_event_on"),
            models.Index(fields=["by", "id"], name="audit_event_by"),
        ]


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
