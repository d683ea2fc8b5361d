"""Models of game rules in use over time, and of scheduled table versions. Triggers refuse every change."""

from django.db import models
from django.db.models.functions import Now

from audit.models import Approval, Clock


class RulesVersion(models.Model):
    """The rules of a game from a moment until the next row of the game: everything that decides money, as data."""

    variant = models.CharField(max_length=40)  # a slug of games.variants
    version = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)  # hex SHA-256 of everything that decides money
    body = models.JSONField()  # in the format of `games.change_requests.rules`
    available_from = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = [
            ("change_table", "Can ask for tables and for other limits of theirs"),
            ("decide_table", "Can decide on tables and on other limits of theirs"),
        ]
        indexes = [models.Index(fields=["variant", "-id"], name="games_rulesversion_variant")]


class ScheduledVersion(models.Model):
    """An approved table version, or an approved new table, that goes live at a later time."""

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True, related_name="+")
    due_at = models.DateTimeField()  # by the database's clock
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()


class HowEnded(models.TextChoices):
    """How a schedule ended."""

    LIVE = "live", "went live"
    WITHDRAWN = "withdrawn", "withdrawn"
    FAILED = "failed", "could not go live"


class ScheduleEnding(models.Model):
    """The end of a schedule, at most one each."""

    schedule = models.OneToOneField(
        ScheduledVersion, models.PROTECT, primary_key=True, db_column="approval_id", related_name="ending"
    )
    how = models.CharField(max_length=9, choices=HowEnded)
    by = models.TextField()
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()
