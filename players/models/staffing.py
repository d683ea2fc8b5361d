"""What became of accounts of staff: every change that two people made, and by whom the house was founded.

Rows are written by the functions of ``sql/functions/staff.sql`` alone, in the transaction of the change itself, and
never changed. Triggers there refuse every change of an account of staff that has no row here.
"""

from django.db import models

from audit.models import Approval, Clock
from players.models.people import User


class StaffDeed(models.TextChoices):
    """What two people may do to an account of staff; the value is also the kind of the approval."""

    MAKE = "staff.make", "account made"
    ROLES = "staff.roles", "roles changed"
    DISABLE = "staff.disable", "account disabled"
    ENABLE = "staff.enable", "account enabled"
    FACTORS = "staff.factors", "second factors reset"


class StaffChange(models.Model):
    """A change of one account of staff. ``before`` and ``after`` say whether it was active, in which roles, and with
    how many second factors; ``approval`` is None where whoever owns the database founded the house.
    """

    user = models.ForeignKey(User, models.PROTECT)
    approval = models.OneToOneField(Approval, models.PROTECT, null=True)
    kind = models.CharField(max_length=20, choices=StaffDeed)
    before = models.JSONField()
    after = models.JSONField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_staff_change"
        default_permissions = ()
