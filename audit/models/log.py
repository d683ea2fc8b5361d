"""Rows of the event log and of the tree over it; triggers refuse every change.

Events are inserted by ``audit_record`` (``sql/functions/log.sql``) alone. They are kept in a table for each month
(``sql/functions/months.sql``). What refers to an event has no foreign key to it: a trigger asks for the event.
"""

from django.db import models

from audit.models.hours import Clock


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
        permissions = [("export_rows", "Can take rows of lists out as files")]
        indexes = [
            models.Index(fields=["kind", "id"], name="audit_event_kind"),
            models.Index(fields=["on", "id"], name="audit_event_on"),
            models.Index(fields=["by", "id"], name="audit_event_by"),
        ]


class Pending(models.Model):
    """An event that awaits its leaf in the tree."""

    event = models.OneToOneField(Event, models.PROTECT, primary_key=True, db_constraint=False)

    class Meta:
        db_table = "audit_pending"
        default_permissions = ()


class Personal(models.Model):
    """The one erasable table: a personal value, of which the event itself holds only the salted SHA-256."""

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
    """Which event is which leaf of the tree, counted from 0 without gaps. ``audit_seal`` alone makes them."""

    leaf = models.BigIntegerField(primary_key=True)
    event = models.OneToOneField(Event, models.PROTECT, db_constraint=False)

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
