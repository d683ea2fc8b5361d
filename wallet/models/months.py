"""What journals that have gone to an archive came to, so that what is still here can be held to it (`wallet.carried`).
Rows are written when a month is archived, and never changed.
"""

from django.db import models


class ArchivedAccount(models.Model):
    """What the entries of one archived month moved on one account, and how many there were."""

    pk = models.CompositePrimaryKey("month", "account_id")
    month = models.TextField()
    account_id = models.BigIntegerField()
    amount = models.BigIntegerField()
    entries = models.BigIntegerField()

    class Meta:
        db_table = "wallet_archived_account"
        default_permissions = ()


class ArchivedJournal(models.Model):
    """A journal of an archived month to which later ones belong, as it was (`wallet.models.Journal`): of a round that
    went on in another month, or of a withdrawal. What is still here of these is held to it.
    """

    id = models.BigIntegerField(primary_key=True)
    month = models.TextField()
    key = models.UUIDField()
    request_hash = models.BinaryField()
    kind = models.TextField()
    round_id = models.UUIDField(null=True)
    reverses_id = models.BigIntegerField(null=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "wallet_archived_journal"
        default_permissions = ()
        indexes = [
            models.Index(fields=["month"], name="wallet_archived_journal_month"),
            models.Index(fields=["round_id"], name="wallet_archived_journal_round"),
        ]


class ArchivedEntry(models.Model):
    """A line of such a journal, as it was (`wallet.models.Entry`)."""

    pk = models.CompositePrimaryKey("journal_id", "line")
    journal_id = models.BigIntegerField()
    line = models.IntegerField()
    account_id = models.BigIntegerField()
    currency = models.CharField(max_length=3)
    mode = models.CharField(max_length=1)
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField(null=True)
    version = models.BigIntegerField(null=True)

    class Meta:
        db_table = "wallet_archived_entry"
        default_permissions = ()


class ArchivedDay(models.Model):
    """What the journals of one archived month count for on a day of a player's (`wallet.models.Day`)."""

    pk = models.CompositePrimaryKey("month", "player_id", "day")
    month = models.TextField()
    player_id = models.BigIntegerField()
    day = models.DateField()
    deposited = models.BigIntegerField()
    withdrawn = models.BigIntegerField()
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()

    class Meta:
        db_table = "wallet_archived_day"
        default_permissions = ()
