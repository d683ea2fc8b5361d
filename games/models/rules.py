"""Rules of games as this house has had them, and versions of tables that wait for their time; triggers refuse every
change.
"""

from django.db import models
from django.db.models.functions import Now

from audit.models import Approval, Clock


class RulesVersion(models.Model):
    """The rules of a game from a moment on, until the next row of the game: whatever decides about money, as data."""

    variant = models.CharField(max_length=40)  # a slug of games.variants
    version = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)  # hex SHA-256 of everything that decides money
    body = models.JSONField()  # as `games.change_requests.rules` writes and reads it
    available_from = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = [
            ("change_table", "Can ask for tables and for other limits of theirs"),
            ("decide_table", "Can decide on tables and on other limits of theirs"),
        ]
        indexes = [models.Index(fields=["variant", "-id"], name="games_rulesversion_variant")]


class ScheduledVersion(models.Model):
    """An approved version of a table, or an approved table, that goes live at a moment to come."""

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True, related_name="+")
    due_at = models.DateTimeField()  # by the database's clock
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()


class HowEnded(models.TextChoices):
    """What became of a version that waited for its time."""

    LIVE = "live", "went live"
    WITHDRAWN = "withdrawn", "withdrawn"
    FAILED = "failed", "could not go live"


class ScheduleEnding(models.Model):
    """The end of a wait, of which there is one."""

    schedule = models.OneToOneField(
        ScheduledVersion, models.PROTECT, primary_key=True, db_column="approval_id", related_name="ending"
    )
    how = models.CharField(max_length=9, choices=HowEnded)
    by = models.TextField()
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()
