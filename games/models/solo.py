"""Models of a player's seats at solo tables, favourites and chips."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower, Now

from games.models.tables import Table
from players.models import Player
from wallet.models import Mode


class FavouriteBet(models.Model):
    """A named layout of bets for one game, placed as a whole. Amounts in minor units of the player's currency."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    variant = models.CharField(max_length=40)  # a slug of games.variants
    name = models.CharField(max_length=40)
    stakes = models.JSONField()  # bet -> minor units
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint("player", "variant", Lower("name"), name="games_favouritebet_once")]


class FavouriteTable(models.Model):
    """A favourite table, shown first in the player's lobby."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "table"], name="games_favouritetable_once")]


class ChipSet(models.Model):
    """The player's chips for the tray; a table that has none of them shows its default tray."""

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    chips = models.JSONField()  # minor units of the player's currency, ascending

    class Meta:
        default_permissions = ()


class SoloSeat(models.Model):
    """A player's seat at a solo table: the next round, already committed to, and its slip.

    One row per player, table and mode, so that every tab shows the same round and the same bets.
    """

    known: Any = None  # a `games.solo.seats.Known`, from the statement that locked the row

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    round_id = models.UUIDField(unique=True)
    commitment = models.CharField(max_length=64)  # in hex, shown before DEAL (`games.engine.commitments`)
    sealed_seed = models.BinaryField()  # encrypted with a key that only the dealer has
    rules_digest = models.CharField(max_length=64, db_default="", default="")  # rules that the commitment names
    slip = models.JSONField(default=dict)  # bet -> minor units
    slip_version = models.PositiveIntegerField(default=0)  # counts changes of the slip
    undo = models.JSONField(default=list)  # earlier slips, latest last
    last_stakes = models.JSONField(default=dict)  # what Rebet places
    last_round = models.UUIDField(null=True)
    unseen = models.UUIDField(null=True)  # the last round, until a browser has confirmed that it received the result
    last_chip = models.PositiveBigIntegerField(null=True)  # the selected chip, minor units
    # idempotency keys of the latest clicks: see `games.betting.idempotency`
    idempotency_keys = ArrayField(models.UUIDField(), null=True)
    used_at = models.DateTimeField(db_default=Now())  # time of the player's last action here; kept for purses only

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "table", "mode"], name="games_soloseat_player_table")]


class OpenTable(models.Model):
    """The table and kind of money whose page a player opened last.

    Kept only where the jurisdiction allows play at one table at a time: the player may play there
    only.
    """

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)

    class Meta:
        default_permissions = ()
