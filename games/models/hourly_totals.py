"""Hourly totals of play, computed once when an hour is settled (`audit.hours`), and alarms based on them.

Hours begin in UTC; amounts are minor units.
"""

from django.db import models
from django.db.models.functions import Now

from games.models.tables import TableVersion
from players.models import Player
from wallet.models import Mode


class GameHourlyTotal(models.Model):
    """Totals of one table version in one currency, including void rounds (see `Void`)."""

    pk = models.CompositePrimaryKey("hour", "version_id", "mode", "currency")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    currency = models.CharField(max_length=3)
    rounds = models.BigIntegerField()  # in which this currency was staked
    parts = models.BigIntegerField()  # participations: a player counts once a round
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()
    commission = models.BigIntegerField()  # or tax

    class Meta:
        default_permissions = ()


class BetHourlyTotal(models.Model):
    """The totals of one bet."""

    pk = models.CompositePrimaryKey("hour", "version_id", "mode", "currency", "bet")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    currency = models.CharField(max_length=3)
    bet = models.CharField(max_length=20)
    rounds = models.BigIntegerField()
    wagers = models.BigIntegerField()
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()
    commission = models.BigIntegerField()
    # Sum over rounds of the squared stakes on the bet, because they win or lose together. Minor
    # units squared.
    squares = models.DecimalField(max_digits=40, decimal_places=0)

    class Meta:
        default_permissions = ()


class PlayerHourlyTotal(models.Model):
    """A player's play for real money with one table version in one hour, including void rounds (see `Void`).

    Answers who played, who won and who lost in a period without a scan of rounds.
    """

    pk = models.CompositePrimaryKey("hour", "player_id", "version_id", "currency")
    hour = models.DateTimeField()
    player = models.ForeignKey(Player, models.PROTECT, db_constraint=False, db_index=False)
    version = models.ForeignKey(TableVersion, models.PROTECT, db_index=False)
    currency = models.CharField(max_length=3)
    rounds = models.BigIntegerField()
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()

    class Meta:
        default_permissions = ()


class Evidence(models.Model):
    """Frequency of each result of a bet, each round counted once, whatever the stakes.

    See `games.fairness.returns.monitor`.
    """

    pk = models.CompositePrimaryKey("hour", "version_id", "mode", "bet", "gain")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    bet = models.CharField(max_length=20)
    # "19:20" won for it, "0:1" pushed, "lost"; "other": not a result of the bet
    gain = models.CharField(max_length=12)
    rounds = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        permissions = [("view_returns", "Can view RTP and randomness")]


class ReturnsAlarm(models.Model):
    """An alarm about the returns of a game under one version of its rules, for one kind of money.

    It is raised when the evidence reaches a level that at most one fair game in a hundred ever
    reaches. It is raised once and never changes.
    """

    rules_digest = models.CharField(max_length=64)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    variant = models.CharField(max_length=40)
    rounds = models.BigIntegerField()  # of the bet placed most often
    evidence = models.TextField()  # a number as text
    bets = models.JSONField()  # bet -> [rounds, return of equal stakes in %, exact return in %, evidence], as text
    stopped = models.JSONField(default=list)  # slugs of the tables that were closed
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["variant", "rules_digest", "mode"], name="games_returnsalarm_once")
        ]


class StopPolicy(models.Model):
    """Setting of a game: an alarm closes its tables automatically, or not. Without a row it does not."""

    variant = models.CharField(max_length=40, primary_key=True)
    stops = models.BooleanField()
    by = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("change",)


class CardHourlyTotal(models.Model):
    """Counts of dealt cards and result sequences of one table version for randomness tests.

    See `games.fairness.randomness`. Each round counts once.
    """

    pk = models.CompositePrimaryKey("hour", "version_id", "mode")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    rounds = models.BigIntegerField()
    counts = models.JSONField()  # in the format of `games.fairness.randomness`

    class Meta:
        default_permissions = ()


class ShuffleHourlyTotal(models.Model):
    """Counts of whole shuffles published in an hour: ended shoes, and the shoes of solo rounds."""

    pk = models.CompositePrimaryKey("hour", "decks", "mode")
    hour = models.DateTimeField()
    decks = models.PositiveSmallIntegerField()
    mode = models.CharField(max_length=1, choices=Mode.choices)
    shuffles = models.BigIntegerField()
    counts = models.JSONField()  # in the format of `games.fairness.randomness`

    class Meta:
        default_permissions = ()
