"""What happened in each hour is summed up once, when nothing more can come; these rows say which hours those are."""

from django.db import models
from django.db.models import Func


class Clock(Func):
    """PostgreSQL's clock as it stands when a row is written; `Now` is when its transaction began."""

    function = "clock_timestamp"
    output_field = models.DateTimeField()


class Mark(models.Model):
    """A moment, and the transaction that set it: once all before it have ended, nothing that was written before that
    moment is still out of sight.
    """

    at = models.DateTimeField(primary_key=True, db_default=Clock())
    transaction = models.BigIntegerField()  # a PostgreSQL xid8

    class Meta:
        db_table = "audit_mark"
        default_permissions = ()


class Rolled(models.Model):
    """An hour that has been summed up, by the name of the sums (`audit.hours.register`)."""

    pk = models.CompositePrimaryKey("sums", "hour")
    sums = models.TextField()
    hour = models.DateTimeField()  # its beginning
    rows = models.BigIntegerField()  # how many were read
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "audit_rolled"
        default_permissions = ()
