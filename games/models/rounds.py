"""Played rounds, each inserted once, whole, and never changed: the login role may not update or delete these rows."""

from django.db import models
from django.db.models.functions import Now, Sign

from games.models.live import Shoe
from games.models.tables import Table, TableVersion
from players.models import Player
from wallet.models import Mode


class Round(models.Model):
    """One deal with its cards and everything needed to deal it again."""

    id = models.UUIDField(primary_key=True)
    code = models.CharField(max_length=14)  # what people say to each other: "7Q4K-0193-BD2M"
    table_version = models.ForeignKey(TableVersion, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    commitment = models.CharField(max_length=64)
    seed = models.BinaryField(null=True)  # of the round; at a shared table the shoe has it
    shoe = models.ForeignKey(Shoe, models.PROTECT, null=True, db_index=False)
    first_card = models.PositiveSmallIntegerField(null=True)  # how many cards had left the shoe before its deal
    player_value = models.CharField(max_length=64)  # mixed into the shuffle by the player's wish; usually empty
    cards = models.CharField(max_length=40)  # in dealing order: "9H 4D KS 2C"; none where it was annulled before
    outcome = models.CharField(max_length=6)  # player, banker, tie; none where there are no cards
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        # Not by unique=True, which would add an index for searches by the beginning of a code.
        constraints = [
            models.UniqueConstraint(fields=["code"], name="games_round_code"),
            models.CheckConstraint(
                condition=models.Q(seed__isnull=True, shoe__isnull=False)
                | models.Q(seed__isnull=False, shoe__isnull=True),
                name="games_round_one_seed",
            ),
        ]


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
            models.Index(fields=["player", "mode", "table", "result", "-at", "-id"], name="games_participation_search"),
            # What staff find rounds by, whoever played them.
            models.Index(fields=["table", "mode", "-at", "-id"], name="games_participation_recall"),
            models.Index(fields=["currency", "staked"], name="games_participation_staked"),
            models.Index(fields=["currency", "paid"], name="games_participation_paid"),
        ]


class Wager(models.Model):
    """One bet of one player in one round, with what became of it. Amounts in minor units; payout includes the stake."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="wagers", db_index=False)
    bet = models.CharField(max_length=20)
    stake = models.BigIntegerField()
    payout = models.BigIntegerField()
    commission = models.BigIntegerField()
    result = models.CharField(max_length=4)  # win, push, lose; void where the round was annulled before it was settled

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["participation", "bet"], name="games_wager_once"),
            models.CheckConstraint(condition=models.Q(stake__gt=0, payout__gte=0), name="games_wager_amounts"),
        ]
