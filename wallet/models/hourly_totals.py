"""Totals of the ledger by day and hour, deposit reservations, and hourly account snapshots.

An hour is totalled once, when it is settled (`audit.hours`). Hours begin in UTC. Amounts are minor
units.
"""

from django.db import models

from players.models import Player
from wallet.models.ledger import AccountKind, Currency, Mode


class Day(models.Model):
    """A player's real-money totals of one calendar day in the time zone of their jurisdiction, in minor units.

    A reversed journal does not count. The reversal is booked on the day of the original.
    """

    pk = models.CompositePrimaryKey("player_id", "day")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    day = models.DateField()
    deposited = models.BigIntegerField(default=0)
    withdrawn = models.BigIntegerField(default=0)  # paid out; requested or held amounts do not count
    staked = models.BigIntegerField(default=0)
    paid = models.BigIntegerField(default=0)

    class Meta:
        default_permissions = ()


class Reserved(models.Model):
    """Amount that a pending deposit reserves under the deposit limits until it is authorised or given up."""

    key = models.UUIDField(primary_key=True)  # idempotency key of the deposit's future journal
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    amount = models.BigIntegerField()
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)  # when it was posted or given up

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["player"], condition=models.Q(ended_at__isnull=True), name="wallet_reserved_open")
        ]
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_reserved_something")]


class Moved(models.Model):
    """Hourly total of the entries of one journal kind on one account kind."""

    pk = models.CompositePrimaryKey("hour", "journal_kind", "account_kind", "currency", "mode")
    hour = models.DateTimeField()
    journal_kind = models.CharField(max_length=40)  # for a reversal: "void_" and the reversed journal's kind
    account_kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    entries = models.BigIntegerField()
    amount = models.BigIntegerField()  # net: into the accounts, negative for out of them
    into = models.BigIntegerField()  # sum of the positive entries only

    class Meta:
        default_permissions = ()


class Standing(models.Model):
    """Account snapshot: total balance and held amount of the players' accounts of one kind at a moment."""

    pk = models.CompositePrimaryKey("at", "account_kind", "currency", "mode")
    at = models.DateTimeField()
    account_kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    balance = models.BigIntegerField()
    held = models.BigIntegerField()

    class Meta:
        default_permissions = ()
