"""Accounts that staff lock and open again (``players/sql/functions/account_locks.sql``)."""

from django.db import models

from audit.models import Clock
from players.models.people import Player, Staff


class AccountLock(models.Model):
    """A member of staff locked an account, or opened it again: the newest row of a player says which holds.

    Rows are added and never changed.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    at = models.DateTimeField(db_default=Clock())
    locks = models.BooleanField()
    reason = models.CharField(max_length=500)
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)

    class Meta:
        default_permissions = ()
        permissions = [("lock_player", "Can lock accounts of players, and open them")]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""), name="players_accountlock_reason")]
        indexes = [models.Index(fields=["player", "-id"], name="players_accountlock_of")]
