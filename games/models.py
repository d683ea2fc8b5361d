"""What the house stores about its games: tables and their versions, the round that comes next, and the rounds that
were played.

A played round is inserted once, whole, and never changed: the login role has no right to update or delete these rows.
Foreign keys have no index of their own where a constraint's begins with them or nothing looks that way: what a round
writes to, it pays for.
"""

from django.db import models
from django.db.models.functions import Now, Sign

from players.models import Player
from wallet.models import Mode


class Table(models.Model):
    """A place to play one variant. What decides money (rules, limits, chips) stands in its current version."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    variant = models.CharField(max_length=40)  # a slug of games.variants
    is_open = models.BooleanField(default=False)
    version = models.ForeignKey("TableVersion", models.PROTECT, null=True, related_name="+")

    class Meta:
        default_permissions = ("view",)
        permissions = [("operate_table", "Can open and close tables")]

    def __str__(self) -> str:
        return self.name


class TableVersion(models.Model):
    """Rules and limits of a table from a moment on (GLI-19 v3.0, A.6.1: a change is a new version)."""

    table = models.ForeignKey(Table, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    rules_version = models.CharField(max_length=20)
    rules_digest = models.CharField(max_length=64)  # hex SHA-256 of everything in the rules that decides money
    limits = models.JSONField()  # shape: games.limits
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["table", "number"], name="games_tableversion_number")]


class NextRound(models.Model):
    """A player's place at a solo table: the round that DEAL will play, committed to already, and the slip composed for
    it.

    One row per player, table and mode, so that every tab shows the same round and the same bets.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    round_id = models.UUIDField(unique=True)
    commitment = models.CharField(max_length=64)  # hex SHA-256 of the seed, shown before DEAL
    sealed_seed = models.BinaryField()  # encrypted with a key the database never sees
    slip = models.JSONField(default=dict)  # bet -> minor units
    slip_version = models.PositiveIntegerField(default=0)  # counts changes of the slip
    undo = models.JSONField(default=list)  # earlier slips, latest last
    last_stakes = models.JSONField(default=dict)  # what Rebet places
    last_round = models.UUIDField(null=True)
    unseen = models.UUIDField(null=True)  # the last round, until a browser is known to have its result
    last_chip = models.PositiveBigIntegerField(null=True)  # the tray's chosen chip, minor units
    player_value = models.CharField(max_length=64, db_default="", default="")  # what the page's own field says
    used_at = models.DateTimeField(db_default=Now())  # when the player last did something here; kept for purses only

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "table", "mode"], name="games_nextround_place")]


class OpenTable(models.Model):
    """The table, and the kind of money, whose page a player opened last; kept for those only whose jurisdiction has
    them play at one table at a time. They play there, and every other table waits.
    """

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)

    class Meta:
        default_permissions = ()


class Round(models.Model):
    """One deal with its cards and everything needed to deal it again."""

    id = models.UUIDField(primary_key=True)
    code = models.CharField(max_length=14)  # what people say to each other: "7Q4K-0193-BD2M"
    table_version = models.ForeignKey(TableVersion, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    commitment = models.CharField(max_length=64)
    seed = models.BinaryField()
    player_value = models.CharField(max_length=64)  # mixed into the shuffle by the player's wish; usually empty
    cards = models.CharField(max_length=40)  # in dealing order: "9H 4D KS 2C"
    outcome = models.CharField(max_length=6)  # player, banker, tie
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        # Not by unique=True, which would add an index for searches by the beginning of a code.
        constraints = [models.UniqueConstraint(fields=["code"], name="games_round_code")]


class ReplayDue(models.Model):
    """A finished round that nobody has dealt again yet; written with the round, gone once that is done.

    A queue and not a mark reached: rounds commit in another order than they began.
    """

    round = models.OneToOneField(Round, models.PROTECT, primary_key=True, db_constraint=False)

    class Meta:
        default_permissions = ()


class Result(models.IntegerChoices):
    """What a round did to a player's balance."""

    LOST = -1
    EVEN = 0
    WON = 1


class Participation(models.Model):
    """One player's part in one round (GLI-19 v3.0, 2.8.2: kept per round and per player). Amounts in minor units."""

    round = models.ForeignKey(Round, models.PROTECT, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    balance_before = models.BigIntegerField()
    balance_after = models.BigIntegerField()
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()
    commission = models.BigIntegerField()
    session = models.UUIDField(null=True)
    # What Game logs are searched by; table and time are the round's.
    at = models.DateTimeField(db_default=Now())
    table = models.ForeignKey(Table, models.PROTECT, db_constraint=False, db_index=False)
    result = models.GeneratedField(
        expression=Sign(models.F("paid") - models.F("staked")),
        output_field=models.SmallIntegerField(choices=Result),
        db_persist=True,
    )

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round", "player"], name="games_participation_once")]
        indexes = [
            models.Index(fields=["player", "mode", "table", "result", "-at", "-id"], name="games_participation_search")
        ]


class Wager(models.Model):
    """One bet of one player in one round, with what became of it. Amounts in minor units; payout includes the stake."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="wagers", db_index=False)
    bet = models.CharField(max_length=20)
    stake = models.BigIntegerField()
    payout = models.BigIntegerField()
    commission = models.BigIntegerField()
    result = models.CharField(max_length=4)  # win, push, lose

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["participation", "bet"], name="games_wager_once"),
            models.CheckConstraint(condition=models.Q(stake__gt=0, payout__gte=0), name="games_wager_amounts"),
        ]


class VoidReason(models.TextChoices):
    """Why a round was annulled. There is one reason, and no person can give it."""

    NOT_REPRODUCED = "not_reproduced", "its seed does not reproduce it"


class Void(models.Model):
    """A round annulled: what it moved has been moved back. A row of its own, since a finished round never changes."""

    round = models.OneToOneField(Round, models.PROTECT, primary_key=True)
    reason = models.CharField(max_length=20, choices=VoidReason)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class VoidPart(models.Model):
    """What a void did to one player, in minor units of *currency*."""

    void = models.ForeignKey(Void, models.PROTECT, related_name="parts")
    player = models.ForeignKey(Player, models.PROTECT)
    currency = models.CharField(max_length=3)
    returned = models.BigIntegerField()  # stakes given back less payouts taken back; negative where the round had won
    shortfall = models.BigIntegerField()  # what the house added, because the winnings had been spent

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["void", "player"], name="games_voidpart_once")]


class VoidTold(models.Model):
    """The player has been told of a void, on the page of its table."""

    part = models.OneToOneField(VoidPart, models.PROTECT, primary_key=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class IncidentKind(models.TextChoices):
    """What is the matter with a finished round."""

    NOT_REPRODUCED = "not_reproduced", "Its seed does not reproduce it"
    RULES_UNKNOWN = "rules_unknown", "The rules it was played under are not known any more"
    LEDGER_REFUSES = "ledger_refuses", "Its seed does not reproduce it, and the ledger refuses to reverse it"


class Incident(models.Model):
    """Something that should not have happened at a table, and what was done about it at once."""

    kind = models.CharField(max_length=20, choices=IncidentKind)
    table = models.ForeignKey(Table, models.PROTECT)
    round = models.ForeignKey(Round, models.PROTECT)
    findings = models.JSONField()  # [{"what": …, "stored": …, "recomputed": …}, …]
    done = models.JSONField()  # sentences for staff
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["round", "kind"], name="games_incident_once")]
