"""What players arrange for themselves: bets and tables they come back to, and the chips in their tray."""

from django.db import models
from django.db.models.functions import Lower, Now

from games.models.tables import Table
from players.models import Player


class FavouriteBet(models.Model):
    """A named layout of bets at one game, placed as a whole. Amounts in minor units of the player's currency."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    variant = models.CharField(max_length=40)  # a slug of games.variants
    name = models.CharField(max_length=40)
    stakes = models.JSONField()  # bet -> minor units
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint("player", "variant", Lower("name"), name="games_favouritebet_once")]


class FavouriteTable(models.Model):
    """A table that stands first in a player's lobby."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "table"], name="games_favouritetable_once")]


class ChipSet(models.Model):
    """The chips that a player wants in the tray, of those a table has; a table that has none of them shows its own."""

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    chips = models.JSONField()  # minor units of the player's currency, ascending

    class Meta:
        default_permissions = ()
