"""Models of the ledger, of totals by day and hour, and of deposit reservations.

Only the functions in ``sql/functions/ledger.sql`` write the ledger; rows never change. Amounts are
whole minor units of their currency. The SQL files contain the foreign keys, triggers and other
constraints that Django cannot declare.

An hour is totalled once, when it is settled (`audit.hours`). Hours begin in UTC.
"""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.models import Approval, Clock
from players.models import Player, Staff


class HouseStop(models.Model):
    """A house stop: from *at* until *ended_at* no stake and no deposit begins. At most one is open.

    Rows are only added. A row changes once, when the stop ends.
    """

    at = models.DateTimeField(db_default=Clock())
    by = models.ForeignKey(Staff, models.PROTECT, related_name="+", db_index=False)
    reason = models.CharField(max_length=500)
    ended_at = models.DateTimeField(null=True)
    ended_by = models.ForeignKey(Staff, models.PROTECT, related_name="+", db_index=False, null=True)
    ended_reason = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        default_permissions = ()
        permissions = [("stop_house", "Can start and end the house stop")]
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
    """Supported currencies. Each has two decimals."""

    SEK = "SEK"
    DKK = "DKK"
    RON = "RON"
    EUR = "EUR"
    GBP = "GBP"


class Mode(models.TextChoices):
    """Real money or free money. No journal mixes the two."""

    REAL = "R", pgettext_lazy("kind of money", "Real")
    FREE = "F", pgettext_lazy("kind of money", "Free")


class AccountKind(models.TextChoices):
    """Kind of an account.

    Cash, purse, pending, refund and bank accounts belong to a player. The other kinds belong to the house,
    one account per currency and mode. Banks, stakes and seats have one account for each tenure,
    coup or house player, which `subject_id` names. These always carry a balance.
    """

    CASH = "cash", pgettext_lazy("account kind", "Cash")
    # separate balance of a game, filled from cash and returned to it
    PURSE = "purse", pgettext_lazy("account kind", "Purse")
    PENDING = "pending", pgettext_lazy("account kind", "Pending")  # requested for payout, not yet paid or returned
    REFUND = "refund", pgettext_lazy("account kind", "Refund")  # deposited although it was not allowed; to be sent back
    ESCROW = "escrow", pgettext_lazy("account kind", "Escrow")  # stakes of unsettled rounds
    HOUSE = "house", pgettext_lazy("account kind", "House")  # results of games
    CASHIER = "cashier", pgettext_lazy("account kind", "Cashier")  # counterpart of real deposits
    MINT = "mint", pgettext_lazy("account kind", "Mint")  # counterpart of free money
    STUDIO = "studio", pgettext_lazy("account kind", "Studio")  # counterpart of bets and wins in studios' games
    # counterpart of the money that operators' players play with here
    OPERATOR = "operator", pgettext_lazy("account kind", "Operator")
    ADJUSTED = "adjusted", pgettext_lazy("account kind", "Adjusted")  # counterpart of balance adjustments
    # what a banker at Chemin de Fer put up and won in one tenure; a house player's bank has no owner
    BANK = "bank", pgettext_lazy("account kind", "Bank")
    STAKES = "stakes", pgettext_lazy("account kind", "Stakes")  # stakes against a bank in one coup
    SEAT = "seat", pgettext_lazy("account kind", "Seat")  # chips of a house player; free money only


class Account(models.Model):
    """An account of one currency and mode.

    A player's account carries its balance. A house account has none, so that no posting waits for a
    lock on its row. Its balance is the sum of its entries.
    """

    owner = models.ForeignKey(Player, models.PROTECT, null=True, related_name="accounts", db_index=False)
    kind = models.CharField(max_length=10, choices=AccountKind)
    currency = models.CharField(max_length=3, choices=Currency)
    mode = models.CharField(max_length=1, choices=Mode)
    balance = models.BigIntegerField(null=True)
    held = models.BigIntegerField(default=0)  # part of the balance that is on hold
    version = models.BigIntegerField(default=0)  # number of entries so far; always 0 on a house account
    subject_id = models.UUIDField(null=True)  # tenure, coup or house player of a bank, stakes or seat account
    lock_only = models.BooleanField(default=False)  # unused value: the UPDATE privilege on it allows row locks

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=models.Q(balance__gte=models.F("held"), held__gte=0), name="wallet_account_covered"
            ),
            models.UniqueConstraint(
                fields=["owner", "kind", "currency", "mode", "subject_id"],
                name="wallet_account_once",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=["subject_id"], name="wallet_account_subject", condition=models.Q(subject_id__isnull=False)
            ),
            models.UniqueConstraint(fields=["id", "currency", "mode"], name="wallet_account_money"),
        ]
        # None on the balance: such an index would be written by every posting.
        indexes = [
            models.Index(fields=["owner"], condition=models.Q(kind="purse"), name="wallet_account_purses"),
            models.Index(fields=["kind", "-id"], name="wallet_account_kind"),
        ]


class PostingKey(models.Model):
    """The idempotency key of a journal.

    It is a separate table, so that keys stay unique although journals are partitioned by month.
    """

    key = models.UUIDField(primary_key=True)
    request_hash = models.BinaryField()  # SHA-256 of the request, see wallet_request_hash
    journal_id = models.BigIntegerField()

    class Meta:
        db_table = "wallet_posting_key"
        default_permissions = ()


class Journal(models.Model):
    """One movement of money: entries that sum to zero in every currency and mode.

    Journals and entries are partitioned by month (``audit/sql/functions/months.sql``).
    """

    # NULL for the journals of a solo round: the round's id is their idempotency key.
    key = models.ForeignKey(PostingKey, models.PROTECT, db_column="key", db_constraint=False, db_index=False, null=True)
    request_hash = models.BinaryField(null=True)
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
            # Without stakes and settlements, which are half of all journals. Queries do not need
            # them here, and play writes to one index less.
            models.Index(
                fields=["kind", "id"], name="wallet_journal_kinds", condition=~models.Q(kind__in=["stake", "settle"])
            ),
        ]


class Reversal(models.Model):
    """Records that a journal was reversed. A journal can be reversed once, even from another month."""

    journal = models.OneToOneField(Journal, models.PROTECT, primary_key=True, db_constraint=False, related_name="+")
    by = models.ForeignKey(Journal, models.PROTECT, db_constraint=False, db_index=False, related_name="+")

    class Meta:
        default_permissions = ()


class Entry(models.Model):
    """One line of a journal: *amount* into an account, negative for out of it.

    On an account with a balance, it also has the balance afterwards and the sequence number of the
    entry.
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
        # A unique index on each month covers `version` within the month. Across months, the
        # account's row does: every entry increments its version.
        constraints = [models.CheckConstraint(condition=~models.Q(amount=0), name="wallet_entry_moves")]


class Why(models.TextChoices):
    """Reason of an adjustment, as the player reads it."""

    DEPOSIT = "deposit", _("One of your deposits was not recorded correctly.")
    WITHDRAWAL = "withdrawal", _("One of your withdrawals was not recorded correctly.")
    ROUND = "round", _("A round was not recorded correctly.")
    TWICE = "twice", _("An amount was recorded twice.")
    GOODWILL = "goodwill", _("We are correcting a mistake of ours.")
    RULING = "ruling", _("This is the outcome of your complaint.")


class Adjustment(models.Model):
    """An executed approval: the change of a player's cash in minor units.

    Negative for a debit. Its journal has the same key. Only the function ``wallet_adjust`` inserts
    rows.
    """

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True, related_name="adjustment")
    key = models.UUIDField(unique=True)
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.BigIntegerField()
    why = models.CharField(max_length=10, choices=Why)

    class Meta:
        default_permissions = ()
        permissions = [
            ("ask_adjustment", "Can request balance adjustments"),
            ("decide_adjustment", "Can decide balance adjustments"),
        ]
        constraints = [models.CheckConstraint(condition=~models.Q(amount=0), name="wallet_adjustment_something")]


class Hold(models.Model):
    """Part of an account's balance reserved for the player's bets in one round, in minor units.

    A hold is current state, not a record. It changes with the bets, and is deleted when it is
    released or becomes a stake. What it was at a full hour is kept in `PastHold`.
    """

    pk = models.CompositePrimaryKey("round_id", "account_id")
    round_id = models.UUIDField()
    account = models.ForeignKey(Account, models.PROTECT)
    amount = models.BigIntegerField()
    at = models.DateTimeField(db_default=Clock())  # of its last change

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(amount__gt=0), name="wallet_hold_something")]


class PastHold(models.Model):
    """A hold as it was at a full hour (UTC), stored when it changed afterwards: so holds of the past are known exactly.

    Rows are inserted by the functions that change holds, and never changed.
    """

    pk = models.CompositePrimaryKey("hour", "round_id", "account_id")
    hour = models.DateTimeField()
    round_id = models.UUIDField()
    account = models.ForeignKey(Account, models.PROTECT, db_index=False)
    amount = models.BigIntegerField()

    class Meta:
        default_permissions = ()


class Day(models.Model):
    """A player's real-money totals of one local calendar day, in minor units.

    The day is in the time zone of the player's jurisdiction. A reversed journal does not count. The
    reversal is booked on the day of the original.
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
    """Amount that a pending deposit reserves under the deposit limits.

    It ends when the deposit is authorised or given up.
    """

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


class LedgerHourlyTotal(models.Model):
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


class Verification(models.Model):
    """A verification of the ledger: the journals with ids from *next* to below *beyond*.

    Only ``wallet_begin_verification`` and ``wallet_verify_next`` write it, so *beyond* proves what
    was read. A new verification begins at the *beyond* of the last one that found nothing.
    """

    next = models.BigIntegerField()  # the first journal that is not verified yet
    beyond = models.BigIntegerField()
    participation = models.BigIntegerField()  # id beyond all participations at the beginning
    transaction = models.BigIntegerField()  # id of the transaction that began it
    broken = models.BigIntegerField()  # number of findings
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "ledger_verification"
        default_permissions = ()


class Checkpoint(models.Model):
    """Fingerprints of the verified rows; at most one row.

    Only ``wallet_verify_totals`` writes it. A fingerprint is the XOR of the hashes of all rows.
    """

    beyond = models.BigIntegerField()  # journals below this id, with their entries
    participation = models.BigIntegerField()  # participations below this id, with their bets
    before = models.DateTimeField()  # rounds before this time
    seed = models.BigIntegerField()
    entries = models.BigIntegerField()
    journals = models.BigIntegerField()
    rounds = models.BigIntegerField()
    participations = models.BigIntegerField()
    days = models.DecimalField(max_digits=60, decimal_places=0)  # weighed sum of what the journals add to daily totals
    made_at = models.DateTimeField()

    class Meta:
        db_table = "ledger_checkpoint"
        default_permissions = ()


class ExchangeRate(models.Model):
    """Value of one unit of *base* in *currency* on a day, as central banks publish it.

    Rates convert figures that staff read, never money. The newest row of a day counts; a correction is a new row. Only
    ``wallet_store_exchange_rates`` writes them.
    """

    day = models.DateField()  # in the time zone of the operator
    base = models.CharField(max_length=3, choices=Currency)  # the reporting currency of that time
    currency = models.CharField(max_length=3, choices=Currency)
    rate = models.DecimalField(max_digits=18, decimal_places=8)
    is_imported = models.BooleanField()  # from a file; otherwise typed in
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False, related_name="+")
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "wallet_exchange_rate"
        default_permissions = ()
        permissions = [("enter_exchange_rates", "Can enter and import exchange rates")]
        indexes = [models.Index(fields=["base", "currency", "-day", "-id"], name="wallet_exchange_rate_newest")]
        constraints = [
            models.CheckConstraint(condition=models.Q(rate__gt=0), name="wallet_exchange_rate_above_zero"),
            models.CheckConstraint(
                condition=models.Q(base__in=Currency.values, currency__in=Currency.values)
                & ~models.Q(base=models.F("currency")),
                name="wallet_exchange_rate_pair",
            ),
        ]

    def __str__(self) -> str:
        return f"exchange-rate:{self.pk}"
