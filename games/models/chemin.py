"""Chemin de Fer tables: how each stands, who sits there, who holds the bank, and everything that was decided.

No card is stored before its coup is over: which cards lie where follows from the sealed seed of the shoe alone, so
neither a page of the back office nor a dump of the database tells one. A coup is a `LiveRound` while it lasts and a
`Round` when it is over; what guests did to each other in it stands here. Amounts are minor units of the table's one
currency.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from games.models.live import LiveRound, LiveTable
from players.models import Player


class CheminTable(models.Model):
    """A table as it stands (`games.engine.chemin.frozen`); what is asked of whom, and until when."""

    live_table = models.OneToOneField(LiveTable, models.PROTECT, primary_key=True, related_name="chemin")
    state = models.JSONField()
    move = models.PositiveBigIntegerField(default=0)  # number of the latest `CheminMove`
    question = models.PositiveBigIntegerField(default=0)  # counts what was asked: an answer says which one it is to
    asked_at = models.DateTimeField(null=True)
    deadline = models.DateTimeField(null=True)  # of the question; None where nobody is asked
    tenure = models.ForeignKey("CheminTenure", models.PROTECT, null=True, related_name="+", db_index=False)
    sale_id = models.UUIDField(null=True)  # for which bids are held, while a bank is sold

    class Meta:
        default_permissions = ()


class WhyLeft(models.TextChoices):
    """Why a guest is not at the table any more."""

    WISH = "wish", "left"
    REMOVED = "removed", "was away for too long"
    SESSION = "session", "logged out, or was kept from playing"
    CLOSED = "closed", "the table was closed"
    BROKEN_UP = "broken_up", "the table was broken up by staff"
    UNSERVED = "unserved", "the table serves them no more"
    ALONE = "alone", "a house player without a guest to play against"


class CheminSeat(models.Model):
    """Someone at a place, from sitting down to getting up. Without a player it is played by the house, which the
    database allows for free money alone. Rows are kept: who sat with whom is on record.
    """

    live_table = models.ForeignKey(LiveTable, models.PROTECT, related_name="guests", db_index=False)
    number = models.PositiveSmallIntegerField()
    player = models.ForeignKey(Player, models.PROTECT, null=True)
    account_id = models.BigIntegerField()  # whose chips: the player's cash, or the house player's
    session = models.UUIDField(null=True)  # in which the guest acted last
    marks = ArrayField(models.UUIDField(), null=True)  # of the latest clicks: see `games.betting.idempotency`
    is_random = models.BooleanField(default=False)  # the house chose the place
    missed = models.PositiveSmallIntegerField(default=0)  # decisions in a row that the croupier took
    away_since = models.DateTimeField(null=True)
    joined_at = models.DateTimeField(db_default=Now())
    left_at = models.DateTimeField(null=True)
    why_left = models.CharField(max_length=10, choices=WhyLeft, default="", blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["live_table", "number"], condition=models.Q(left_at=None), name="games_cheminseat_place"
            ),
            models.UniqueConstraint(
                fields=["live_table", "player"], condition=models.Q(left_at=None), name="games_cheminseat_guest"
            ),
        ]


class CheminTenure(models.Model):
    """One guest's time as banker. The bank stands on an account of its own (`account_id`), opened for this id."""

    id = models.UUIDField(primary_key=True)
    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    seat = models.ForeignKey(CheminSeat, models.PROTECT)
    account_id = models.BigIntegerField()
    put_up = models.BigIntegerField()
    home = models.BigIntegerField(default=0)  # what went home so far
    began_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()


class CheminCoup(models.Model):
    """A coup that is over, as it was between guests; written once, when it is settled or annulled."""

    round = models.OneToOneField(LiveRound, models.PROTECT, primary_key=True, related_name="coup")
    tenure = models.ForeignKey(CheminTenure, models.PROTECT)
    banker = models.ForeignKey(CheminSeat, models.PROTECT, related_name="+", db_index=False)
    banker_player = models.ForeignKey(Player, models.PROTECT, null=True, related_name="+")
    bank = models.BigIntegerField()  # at its opening
    call = models.CharField(max_length=24, blank=True)  # of `games.engine.chemin.Call`
    at_risk = models.BigIntegerField()
    punter = models.ForeignKey(CheminSeat, models.PROTECT, null=True, related_name="+", db_index=False)
    outcome = models.CharField(max_length=6, blank=True)  # of `games.engine.chemin.Outcome`; "" where it was annulled
    punter_total = models.PositiveSmallIntegerField(null=True)
    banker_total = models.PositiveSmallIntegerField(null=True)
    punter_draws = models.BooleanField(null=True)  # what was declared; None where nothing was to decide
    banker_draws = models.BooleanField(null=True)
    punter_departs = models.BooleanField(default=False)  # from the rule
    banker_departs = models.BooleanField(default=False)
    tax = models.BigIntegerField(default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["-at", "-round"], name="games_chemincoup_newest"),
            models.Index(fields=["outcome", "-at", "-round"], name="games_chemincoup_outcome"),
        ]


class CheminStake(models.Model):
    """One guest's stake in a coup, and what came back of it."""

    coup = models.ForeignKey(CheminCoup, models.PROTECT, related_name="stakes", db_index=False)
    seat = models.ForeignKey(CheminSeat, models.PROTECT, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, null=True)
    stake = models.BigIntegerField()
    returned = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["coup", "seat"], name="games_cheminstake_once")]


class Decider(models.TextChoices):
    """Who decided."""

    GUEST = "guest", "the guest"
    CROUPIER = "croupier", "the croupier, by the rule, for a guest who did not"
    HOUSE_PLAYER = "house_player", "a house player"
    HOUSE = "house", "the house"


class CheminMove(models.Model):
    """Everything that happened at a table, in order: who did what when, asked when, and what came of it. An event tells
    no card that lies face down.
    """

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    number = models.PositiveBigIntegerField()
    round_id = models.UUIDField(null=True)  # the coup that it belongs to
    tenure_id = models.UUIDField(null=True)
    seat = models.ForeignKey(CheminSeat, models.PROTECT, null=True)  # whose decision; None where the house acts
    kind = models.CharField(max_length=16)  # the action of the engine, as "make_call"
    amount = models.BigIntegerField(null=True)
    call = models.CharField(max_length=24, blank=True)
    decider = models.CharField(max_length=12, choices=Decider)
    events = models.JSONField()  # as `games.chemin.event_codec` writes them
    asked_at = models.DateTimeField(null=True)
    at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["live_table", "number"], name="games_cheminmove_number")]
        indexes = [
            models.Index(fields=["round_id"], name="games_cheminmove_coup", condition=models.Q(round_id__isnull=False))
        ]


class PlayReason(models.TextChoices):
    """What a guest reports of another."""

    CHIP_DUMPING = "chip_dumping", "loses to somebody on purpose"
    SOFT_PLAY = "soft_play", "spares somebody"
    SIGNS = "signs", "agrees with somebody during play"
    OTHER = "other", "something else"


class PlayFinding(models.TextChoices):
    """What staff found."""

    NOTHING = "nothing", "nothing against the guest"
    WATCHED = "watched", "to be watched"
    ACTED = "acted", "acted on"


class PlayReport(models.Model):
    """A guest reports how another one plays."""

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    reporter = models.ForeignKey(Player, models.PROTECT, related_name="+")
    seat = models.ForeignKey(CheminSeat, models.PROTECT)
    round_id = models.UUIDField(null=True)  # the latest coup then
    reason = models.CharField(max_length=12, choices=PlayReason)
    words = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(db_default=Now())
    finding = models.CharField(max_length=8, choices=PlayFinding, default="", blank=True)
    note = models.CharField(max_length=500, default="", blank=True)
    decided_by = models.CharField(max_length=40, default="", blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = [("examine_play", "Can see who loses to whom and decide on reports of how guests play")]
        indexes = [models.Index(fields=["at"], condition=models.Q(decided_at=None), name="games_playreport_open")]
