"""Rows of the ledger. They are written by the functions in ``sql/functions/ledger.sql`` alone, and never changed
afterwards.

Amounts are whole minor units of their currency everywhere. Foreign keys, triggers and what Django cannot say are in the
SQL file.
"""

from django.db import models
from django.db.models import Q

from audit.models import Clock
from players.models import Player, Staff


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


class Currency(models.TextChoices):
    """What the house takes. Each has two decimals."""

    SEK = "SEK"
    DKK = "DKK"
    RON = "RON"
    EUR = "EUR"
    GBP = "GBP"


class Mode(models.TextChoices):
    """Real money or free money. No journal mixes the two."""

    REAL = "R"
    FREE = "F"


class AccountKind(models.TextChoices):
    """Whose money lies there. Cash, purse, pending and bank belong to a player; the others are the house's, one per
    currency and mode. Of banks, stakes and seats there is one for each tenure, coup and house player, which
    `stands_for` names; they carry a balance, whoever owns them.
    """

    CASH = "cash"
    PURSE = "purse"  # the balance of a game that has one of its own, filled from cash and given back to it
    PENDING = "pending"  # asked to be paid out, and neither paid nor returned yet
    ESCROW = "escrow"  # stakes of rounds not yet settled
    HOUSE = "house"  # results of games
    CASHIER = "cashier"  # counterpart of real deposits
    MINT = "mint"  # counterpart of free money
    STUDIO = "studio"  # counterpart of what players bet and win in games of studios
    OPERATOR = "operator"  # counterpart of what operators' players play with here
    ADJUSTED = "adjusted"  # counterpart of what two people put right on balances
    BANK = "bank"  # what a banker at Chemin de Fer has put up and won in one tenure; a house player's is nobody's
    STAKES = "stakes"  # what lies against a bank in one coup
    SEAT = "seat"  # what a house player plays with; free money alone


class Account(models.Model):
    """Money of one currency and mode.

    A player's account carries its balance. An account of the house has none, so that no posting ever waits for its row:
    what it holds is the sum of its entries.
    """

    owner = models.ForeignKey(Player, models.PROTECT, null=True, related_name="accounts", db_index=False)
    kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    balance = models.BigIntegerField(null=True)
    held = models.BigIntegerField(default=0)  # part of the balance that is set aside
    version = models.BigIntegerField(default=0)  # number of entries so far; 0 for ever on an account of the house
    stands_for = models.UUIDField(null=True)  # the tenure, coup or house player that a bank, stakes or a seat are of
    lock_only = models.BooleanField(default=False)  # means nothing: the right to update it is the right to lock the row

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=models.Q(balance__gte=models.F("held"), held__gte=0), name="wallet_account_covered"
            ),
            models.UniqueConstraint(
                fields=["owner", "kind", "currency", "mode", "stands_for"],
                name="wallet_account_once",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=["stands_for"], name="wallet_account_stands", condition=models.Q(stands_for__isnull=False)
            ),
            models.UniqueConstraint(fields=["id", "currency", "mode"], name="wallet_account_money"),
        ]
        # Not on the balance: an index on it would have every movement of money write to the index.
        indexes = [
            models.Index(fields=["owner"], condition=models.Q(kind="purse"), name="wallet_account_purses"),
            models.Index(fields=["kind", "-id"], name="wallet_account_kind"),
        ]


class PostingKey(models.Model):
    """The key under which a journal was asked for. It stands apart from the journal so that keys stay unique for ever
    even when journals are partitioned by month.
    """

    key = models.UUIDField(primary_key=True)
    request_hash = models.BinaryField()  # SHA-256 of what was asked for, see wallet_request_hash
    journal_id = models.BigIntegerField()

    class Meta:
        db_table = "wallet_posting_key"
        default_permissions = ()


class Journal(models.Model):
    """One movement of money: entries that sum to zero in every currency and mode.

    Journals and entries are kept in tables of a month each (``audit/sql/functions/months.sql``).
    """

    key = models.ForeignKey(PostingKey, models.PROTECT, db_column="key", db_constraint=False, db_index=False)
    request_hash = models.BinaryField()
    kind = models.CharField(max_length=40)
    round_id = models.UUIDField(null=True)
    reverses = models.ForeignKey("self", models.PROTECT, null=True, db_constraint=False, db_index=False)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        permissions = [("view_ledger", "Can view the ledger")]
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__regex=r"^[a-z_]+$"), name="wallet_journal_kind"),
        ]
        indexes = [
            models.Index(
                fields=["reverses"], name="wallet_journal_reversed", condition=models.Q(reverses__isnull=False)
            ),
            models.Index(fields=["round_id"], name="wallet_journal_round", condition=models.Q(round_id__isnull=False)),
            # Stakes and settlements are every second journal: they are found without, and play writes to no index more.
            models.Index(
                fields=["kind", "id"], name="wallet_journal_kinds", condition=~models.Q(kind__in=["stake", "settle"])
            ),
        ]


class Reversal(models.Model):
    """That a journal was reversed, which happens once, whatever months the two lie in."""

    journal = models.OneToOneField(Journal, models.PROTECT, primary_key=True, db_constraint=False, related_name="+")
    by = models.ForeignKey(Journal, models.PROTECT, db_constraint=False, db_index=False, related_name="+")

    class Meta:
        default_permissions = ()


class Entry(models.Model):
    """One line of a journal: *amount* into an account, or out of it where negative.

    On a player's account it also says what the balance was afterwards, and the how-manieth entry there it is.
    """

    pk = models.CompositePrimaryKey("journal_id", "line")
    journal = models.ForeignKey(Journal, models.PROTECT, db_constraint=False, db_index=False)
    line = models.IntegerField()
    account = models.ForeignKey(Account, models.PROTECT, db_constraint=False, db_index=False)
    currency = models.CharField(max_length=3)
    mode = models.CharField(max_length=1)
    amount = models.BigIntegerField()
    balance_after = models.BigIntegerField(null=True)
    version = models.BigIntegerField(null=True)

    class Meta:
        default_permissions = ()
        # An account's numbers are unique in each month, by an index of its own, and over all of them by the account's
        # row, which every entry moves on by one.
        constraints = [models.CheckConstraint(condition=~models.Q(amount=0), name="wallet_entry_moves")]
