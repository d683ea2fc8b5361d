"""What the ledger moved in each hour, summed up once when the hour is settled (`audit.hours`), and how accounts stood
at its end. Hours begin in UTC; amounts are minor units.
"""

from django.db import models

from wallet.models.ledger import AccountKind, Currency, Mode


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
