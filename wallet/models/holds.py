"""What is set aside for a round on a shared table (``wallet/sql/functions/holds.sql``). The ledger alone writes it."""

from django.db import models

from wallet.models.ledger import Account


class Hold(models.Model):
    """Part of an account's balance that is set aside for one round: its player's slip there, in minor units.

    A state, not a record: it changes with the slip, and goes when it is given back or becomes a stake.
    """

    pk = models.CompositePrimaryKey("round_id", "account_id")
    round_id = models.UUIDField()
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_hold_something")]
