"""What has gone to an archive. Rows are written by `manage.py archive_month` as the owner of the tables; triggers
refuse every change, and every month that is not the next one.
"""

from django.db import models

from audit.models.clock import Clock


class ArchivedMonth(models.Model):
    """A month whose events, journals and entries are no longer here but in a file.

    Its rows are those with ids from *first* up to *beyond*, which is the first of the month after it. ``said`` are the
    bytes of the event that says so, with the SHA-256 of the file and of what is carried forward: the tree proves them
    even when that event has gone to an archive itself.
    """

    month = models.TextField(primary_key=True)  # "2026-11", or "before": all that was there before there were months
    first = models.BigIntegerField()
    beyond = models.BigIntegerField(unique=True)
    since = models.DateTimeField()  # when the first of it happened
    until = models.DateTimeField()  # when the last of it happened
    events = models.BigIntegerField()
    journals = models.BigIntegerField()
    file = models.TextField()  # its name, wherever somebody keeps it
    sha256 = models.TextField()  # of the file, in hexadecimal
    event_id = models.BigIntegerField()
    said = models.BinaryField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_archived"
        default_permissions = ()


class ArchivedEvent(models.Model):
    """What is still needed here of an event that has gone to an archive: while personal values of it are here, whose
    they are and how old, or nobody could erase them; and its bytes where it shares a tile of the tree with events that
    have not gone, or nobody could export those.
    """

    event_id = models.BigIntegerField(primary_key=True)
    at = models.DateTimeField()
    by = models.TextField()
    on = models.TextField()
    body = models.BinaryField(null=True)

    class Meta:
        db_table = "audit_archived_event"
        default_permissions = ()
        indexes = [
            models.Index(fields=["on"], name="audit_archived_event_on"),
            models.Index(fields=["by"], name="audit_archived_event_by"),
        ]
