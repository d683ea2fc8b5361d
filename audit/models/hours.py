"""Marks, and the hours that have hourly totals."""

from django.db import models
from django.db.models import Func


class Clock(Func):
    """PostgreSQL's clock at the time a row is written; `Now` is the start of the transaction."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class Mark(models.Model):
    """A time and the transaction that wrote it. Once all earlier transactions have ended,
    everything written before that time is visible.
    """

    at = models.DateTimeField(primary_key=True, db_default=Clock())
    transaction = models.BigIntegerField()  # a PostgreSQL xid8

    class Meta:
        db_table = "audit_mark"
        default_permissions = ()


class Rolled(models.Model):
    """An hour that has been summed up, by the name of the totals (`audit.hours.register`)."""

    pk = models.CompositePrimaryKey("sums", "hour")
    sums = models.TextField()
    hour = models.DateTimeField()  # its beginning
    rows = models.BigIntegerField()  # how many were read
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_rolled"
        default_permissions = ()
