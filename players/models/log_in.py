"""What is counted around a log-in."""

from django.contrib.postgres.fields import ArrayField
from django.db import models


class LogInLock(models.Model):
    """The passwords tried for one name that were not right, whether or not anybody has it (GLI-19 v3.0, 2.5.3).

    ``name`` is a keyed hash of the e-mail address, so that the table is no list of addresses. All times are the
    database's.
    """

    name = models.CharField(max_length=64, primary_key=True)
    tries = ArrayField(models.DateTimeField())  # a try counts from before the password is looked at
    locked_at = models.DateTimeField(null=True)
    code_hash = models.CharField(max_length=64, blank=True, db_default="")  # of the code that was mailed last
    code_ends_at = models.DateTimeField(null=True)
    code_tries = models.PositiveSmallIntegerField(db_default=0)
    codes_sent = ArrayField(models.DateTimeField(), db_default=[])

    class Meta:
        db_table = "players_log_in_lock"
        default_permissions = ()
