"""Rows of the event log. They are inserted by ``audit_record`` (``sql/0001_log.sql``) alone; triggers refuse every
change.
"""

from django.db import models


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
    """An event that awaits its leaf in the tree, with the transaction that wrote it, so that the order of commits can
    be told.
    """

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
