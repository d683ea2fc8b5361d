"""The whole house stopped, and going on again (``wallet/sql/functions/house_stop.sql``)."""

from django.db import models
from django.db.models import Q

from audit.models import Clock
from players.models import Staff


class HouseStop(models.Model):
    """From *at* until *ended_at* nobody stakes and no deposit begins. One at a time stands, which has not ended.

    Rows are added; a row is changed once, when it ends.
    """

    at = models.DateTimeField(db_default=Clock())
    by = models.ForeignKey(Staff, models.PROTECT, related_name="+", db_index=False)
    reason = models.CharField(max_length=500)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(Staff, models.PROTECT, related_name="+", db_index=False, null=True)
    ended_reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        default_permissions = ()
        permissions = [("stop_house", "Can stop the whole house, and let it go on")]
        constraints = [
            models.UniqueConstraint(
                fields=["ended_at"], condition=Q(ended_at=None), nulls_distinct=False, name="wallet_housestop_one"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="wallet_housestop_reason"),
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_by=None, ended_reason="")
                | Q(ended_at__gte=models.F("at"), ended_by__isnull=False) & ~Q(ended_reason=""),
                name="wallet_housestop_ended",
            ),
        ]
