"""What the ledger moved in each hour, summed up once when the hour is settled (`audit.hours`), and how accounts stood
at its end. Hours begin in UTC; amounts are minor units.
"""

from django.db import models

from players.models import Player
from wallet.models.ledger import AccountKind, Currency, Mode


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


class Moved(models.Model):
    """The entries of one kind of journal on one kind of account."""

    pk = models.CompositePrimaryKey("hour", "journal_kind", "account_kind", "currency", "mode")
    hour = models.DateTimeField()
    journal_kind = models.CharField(max_length=40)  # of what it reverses, with "void_" before it, where it reverses
    account_kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    entries = models.BigIntegerField()
    amount = models.BigIntegerField()  # into the accounts, or out of them where negative
    into = models.BigIntegerField()  # the positive ones alone

    class Meta:
        default_permissions = ()


class Standing(models.Model):
    """What lay on the players' accounts of one kind at a moment, and how much of it was held."""

    pk = models.CompositePrimaryKey("at", "account_kind", "currency", "mode")
    at = models.DateTimeField()
    account_kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    balance = models.BigIntegerField()
    held = models.BigIntegerField()

    class Meta:
        default_permissions = ()
