"""What a player's real money did on each day, and deposits begun (``wallet/sql/functions/limits.sql``). The ledger
alone writes either.
"""

from django.db import models

from players.models import Player


class Day(models.Model):
    """Real money of one player on one calendar day in the time zone of the player's jurisdiction, in minor units.

    What is reversed counts as if it had never been, on the day of what it reverses.
    """

    pk = models.CompositePrimaryKey("player_id", "day")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    day = models.DateField()
    deposited = models.BigIntegerField(default=0)
    withdrawn = models.BigIntegerField(default=0)  # paid out; what is only asked for or held does not count
    staked = models.BigIntegerField(default=0)
    paid = models.BigIntegerField(default=0)

    class Meta:
        default_permissions = ()


class Reserved(models.Model):
    """Room under the deposit limits that a deposit has taken which has been begun and not been authorised yet."""

    key = models.UUIDField(primary_key=True)  # under which the deposit's journal will be posted
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    amount = models.BigIntegerField()
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)  # posted or given up

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["player"], condition=models.Q(ended_at__isnull=True), name="wallet_reserved_open")
        ]
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_reserved_something")]
