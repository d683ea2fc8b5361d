"""What was played in each hour, summed up once when the hour is settled (`audit.hours`), and what follows from it for
returns and randomness. Hours begin in UTC; amounts are minor units.
"""

from django.db import models
from django.db.models.functions import Now

from games.models.tables import TableVersion
from wallet.models import Mode


class Tally(models.Model):
    """Rounds under one table version in one currency, annulled ones included: which were annulled, `Void` says."""

    pk = models.CompositePrimaryKey("hour", "version_id", "mode", "currency")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    currency = models.CharField(max_length=3)
    rounds = models.BigIntegerField()  # in which somebody staked this currency
    parts = models.BigIntegerField()  # players in them, each round counted
    staked = models.BigIntegerField()
    paid = models.BigIntegerField()
    commission = models.BigIntegerField()  # or tax

    class Meta:
        default_permissions = ()


class BetTally(models.Model):
    """One bet in them."""

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
    # The sum over rounds of the square of what lay on the bet: all of it wins or loses together. In units squared.
    squares = models.DecimalField(max_digits=40, decimal_places=0)

    class Meta:
        default_permissions = ()


class Evidence(models.Model):
    """How often a bet that somebody had placed ended in which way, each round counted once, whoever staked how much
    (`games.fairness.returns.hourly_counts`).
    """

    pk = models.CompositePrimaryKey("hour", "version_id", "mode", "bet", "gain")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    bet = models.CharField(max_length=20)
    gain = models.CharField(max_length=12)  # "19:20" won for it, "0:1" pushed, "lost"; "other": none of the bet's
    rounds = models.BigIntegerField()

    class Meta:
        default_permissions = ()
        permissions = [("view_returns", "Can view returns and randomness")]


class ReturnsAlarm(models.Model):
    """The evidence against the returns of a game under a version of its rules, for one kind of money, has reached what
    at most one fair one in a hundred ever reaches. Raised once in its life; written once.
    """

    rules_digest = models.CharField(max_length=64)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    variant = models.CharField(max_length=40)
    rounds = models.BigIntegerField()  # of the bet that was placed most often
    evidence = models.TextField()  # a number in words
    bets = models.JSONField()  # bet -> [rounds, return of equal stakes in %, exact return in %, evidence], as text
    stopped = models.JSONField(default=list)  # slugs of the tables that were closed
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["variant", "rules_digest", "mode"], name="games_returnsalarm_once")
        ]


class StopPolicy(models.Model):
    """Whether an alarm closes the tables of a game by itself; without a row it does not."""

    variant = models.CharField(max_length=40, primary_key=True)
    stops = models.BooleanField()
    by = models.CharField(max_length=40)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("change",)


class CardTally(models.Model):
    """Cards as they were dealt in an hour under one table version, and in which order rounds ended how, as far as tests
    of randomness ask (`games.fairness.randomness`). Each round counts once.
    """

    pk = models.CompositePrimaryKey("hour", "version_id", "mode")
    hour = models.DateTimeField()
    version = models.ForeignKey(TableVersion, models.PROTECT)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    rounds = models.BigIntegerField()
    counts = models.JSONField()  # as `games.fairness.randomness` reads it

    class Meta:
        default_permissions = ()


class ShuffleTally(models.Model):
    """Whole shuffles that were made public in an hour: shoes that ended, and the shoes of solo rounds."""

    pk = models.CompositePrimaryKey("hour", "decks", "mode")
    hour = models.DateTimeField()
    decks = models.PositiveSmallIntegerField()
    mode = models.CharField(max_length=1, choices=Mode.choices)
    shuffles = models.BigIntegerField()
    counts = models.JSONField()  # as `games.fairness.randomness` reads it

    class Meta:
        default_permissions = ()
