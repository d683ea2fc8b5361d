"""Holds for rounds on shared tables (``wallet/sql/functions/holds.sql``). Only the ledger writes them."""

from django.db import models

from wallet.models.ledger import Account


class Hold(models.Model):
    """Part of an account's balance reserved for the player's bets in one round, in minor units.

    A hold is current state, not a record. It changes with the bets, and is deleted when it is
    released or becomes a stake.
    """

    pk = models.CompositePrimaryKey("round_id", "account_id")
    round_id = models.UUIDField()
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_hold_something")]
