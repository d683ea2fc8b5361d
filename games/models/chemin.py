"""Models of Chemin de Fer: table state, seats, tenures, coups, stakes and moves.

No card is stored before its coup is over: the cards follow only from the sealed seed of the shoe,
so neither the back office nor a database dump reveals one. A coup in progress is a `LiveRound`, a
finished one a `Round`; these models add what is specific to Chemin de Fer. Amounts are minor units
of the table's only currency.
"""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.models.live import LiveRound, LiveTable
from players.models import Player


class CheminTable(models.Model):
    """The table state (`games.engine.chemin.frozen`), and the pending question with its deadline."""

    live_table = models.OneToOneField(LiveTable, models.PROTECT, primary_key=True, related_name="chemin")
    state = models.JSONField()
    move = models.PositiveBigIntegerField(default=0)  # number of the latest `CheminMove`
    question = models.PositiveBigIntegerField(default=0)  # counts the questions; an answer names its question
    asked_at = models.DateTimeField(null=True)
    deadline = models.DateTimeField(null=True)  # of the question; None where nobody is asked
    tenure = models.ForeignKey("CheminTenure", models.PROTECT, null=True, related_name="+", db_index=False)
    sale_id = models.UUIDField(null=True)  # id under which bids are held while a bank is for sale

    class Meta:
        default_permissions = ()


class WhyLeft(models.TextChoices):
    """Reason for which a player left the table."""

    WISH = "wish", pgettext_lazy("why left", "left")
    REMOVED = "removed", gettext_lazy("was away too long")
    SESSION = "session", gettext_lazy("logged out, or may not play")
    CLOSED = "closed", gettext_lazy("the table was closed")
    BROKEN_UP = "broken_up", gettext_lazy("the table was broken up by staff")
    NOT_ELIGIBLE = "unserved", gettext_lazy("may no longer play at this table")
    ALONE = "alone", gettext_lazy("house player without an opponent")


class CheminSeat(models.Model):
    """A player at a seat, from sitting down to leaving; kept as a record of who played together.

    Without a player it is a house player, which the database allows for free money only.
    """

    live_table = models.ForeignKey(LiveTable, models.PROTECT, related_name="chemin_seats", db_index=False)
    number = models.PositiveSmallIntegerField()
    player = models.ForeignKey(Player, models.PROTECT, null=True)
    account_id = models.BigIntegerField()  # the player's cash account, or the house player's account
    session = models.UUIDField(null=True)  # session of the player's last action
    # idempotency keys of the latest clicks: see `games.betting.idempotency`
    idempotency_keys = ArrayField(models.UUIDField(), null=True)
    is_random = models.BooleanField(default=False)  # the seat was chosen at random
    missed = models.PositiveSmallIntegerField(default=0)  # decisions in a row that the croupier took
    away_since = models.DateTimeField(null=True)
    joined_at = models.DateTimeField(db_default=Now())
    left_at = models.DateTimeField(null=True)
    why_left = models.CharField(max_length=10, choices=WhyLeft, default="", blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["live_table", "number"], condition=models.Q(left_at=None), name="games_cheminseat_number"
            ),
            models.UniqueConstraint(
                fields=["live_table", "player"], condition=models.Q(left_at=None), name="games_cheminseat_player"
            ),
        ]


class CheminTenure(models.Model):
    """One player's time as banker. The bank is on an account of its own (`account_id`), opened for this id."""

    id = models.UUIDField(primary_key=True)
    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    seat = models.ForeignKey(CheminSeat, models.PROTECT)
    account_id = models.BigIntegerField()
    put_up = models.BigIntegerField()
    home = models.BigIntegerField(default=0)  # paid back to the banker so far
    began_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()


class CheminCoup(models.Model):
    """A finished coup with its Chemin de Fer details; inserted once, when it is settled or voided."""

    round = models.OneToOneField(LiveRound, models.PROTECT, primary_key=True, related_name="coup")
    tenure = models.ForeignKey(CheminTenure, models.PROTECT)
    banker = models.ForeignKey(CheminSeat, models.PROTECT, related_name="+", db_index=False)
    banker_player = models.ForeignKey(Player, models.PROTECT, null=True, related_name="+")
    bank = models.BigIntegerField()  # at the opening of the coup
    call = models.CharField(max_length=24, blank=True)  # of `games.engine.chemin.Call`
    at_risk = models.BigIntegerField()
    punter = models.ForeignKey(CheminSeat, models.PROTECT, null=True, related_name="+", db_index=False)
    outcome = models.CharField(max_length=6, blank=True)  # of `games.engine.chemin.Outcome`; "" for a void coup
    punter_total = models.PositiveSmallIntegerField(null=True)
    banker_total = models.PositiveSmallIntegerField(null=True)
    punter_draws = models.BooleanField(null=True)  # the declaration; None where there was no choice
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
    """One player's stake in a coup and what was returned."""

    coup = models.ForeignKey(CheminCoup, models.PROTECT, related_name="stakes", db_index=False)
    seat = models.ForeignKey(CheminSeat, models.PROTECT, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, null=True)
    stake = models.BigIntegerField()
    returned = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["coup", "seat"], name="games_cheminstake_once")]


class Decider(models.TextChoices):
    """Party that took a decision."""

    PLAYER = "player", pgettext_lazy("decider", "the player")
    CROUPIER = "croupier", gettext_lazy("the croupier, by the rule, after a timeout")
    HOUSE_PLAYER = "house_player", gettext_lazy("a house player")
    HOUSE = "house", pgettext_lazy("decider", "the house")


class CheminMove(models.Model):
    """A move at a table: action, time, question time and events. Events contain no face-down card."""

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    number = models.PositiveBigIntegerField()
    round_id = models.UUIDField(null=True)  # the coup it belongs to
    tenure_id = models.UUIDField(null=True)
    seat = models.ForeignKey(CheminSeat, models.PROTECT, null=True)  # of the decision; None where the house acts
    kind = models.CharField(max_length=16)  # name of the engine's action, such as "make_call"
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
    """The reason why a player reports another."""

    CHIP_DUMPING = "chip_dumping", pgettext_lazy("play reason", "chip dumping")
    SOFT_PLAY = "soft_play", pgettext_lazy("play reason", "soft play")
    SIGNS = "signs", gettext_lazy("communication during play")
    OTHER = "other", pgettext_lazy("play reason", "other")


class PlayFinding(models.TextChoices):
    """The finding of staff."""

    NOTHING = "nothing", pgettext_lazy("play finding", "no violation")
    WATCHED = "watched", pgettext_lazy("play finding", "under observation")
    ACTED = "acted", pgettext_lazy("play finding", "action taken")


class PlayReport(models.Model):
    """A player's report of how another one plays."""

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    reporter = models.ForeignKey(Player, models.PROTECT, related_name="+")
    seat = models.ForeignKey(CheminSeat, models.PROTECT)
    round_id = models.UUIDField(null=True)  # the latest coup at that time
    reason = models.CharField(max_length=12, choices=PlayReason)
    text = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(db_default=Now())
    finding = models.CharField(max_length=8, choices=PlayFinding, default="", blank=True)
    note = models.CharField(max_length=500, default="", blank=True)
    decided_by = models.CharField(max_length=40, default="", blank=True)
    decided_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = [("examine_play", "Can see signs of collusion and decide collusion reports")]
        indexes = [models.Index(fields=["at"], condition=models.Q(decided_at=None), name="games_playreport_open")]
