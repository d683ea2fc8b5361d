"""Models of tables, their versions, and seats of solo tables."""

from functools import lru_cache
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import connection, models
from django.db.models.functions import Lower, Now
from django.utils.translation import get_language, gettext_lazy, pgettext_lazy

from audit.models import Approval, Clock
from games.variants import GAMES
from players.models import Player
from wallet.models import Mode


class Shape(models.TextChoices):
    """The kind of table. The shape belongs to the table, the rules to the variant."""

    SOLO = "solo", gettext_lazy("solo, on demand")
    SHARED = "shared", gettext_lazy("shared, in timed rounds")
    CHEMIN = "chemin", gettext_lazy("players against each other")


class Status(models.TextChoices):
    """The status of a table: rounds begin only while it is open."""

    OPEN = "open", pgettext_lazy("table", "open")
    PAUSED = "paused", pgettext_lazy("table", "paused")
    CLOSED = "closed", pgettext_lazy("table", "closed")


class Table(models.Model):
    """A table for one variant. Everything that decides money (rules, limits, chips) is in its version in force."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=80)
    variant = models.CharField(max_length=40)  # a slug of games.variants
    shape = models.CharField(max_length=6, choices=Shape.choices, default=Shape.SOLO, db_default=Shape.SOLO)
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.CLOSED, db_default=Status.CLOSED)
    first_opened_at = models.DateTimeField(null=True, editable=False)  # set by a trigger
    # language of the chat; "": any
    chat_language = models.CharField(max_length=2, blank=True, default="", db_default="")
    version = models.ForeignKey("TableVersion", models.PROTECT, null=True, related_name="+")

    class Meta:
        default_permissions = ("view",)
        permissions = [("operate_table", "Can open and close tables")]
        constraints = [
            models.CheckConstraint(condition=models.Q(status__in=Status.values), name="games_table_status"),
            models.UniqueConstraint(Lower("name"), name="games_table_name_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def title(self) -> str:
        """The name that players read, in the active language if the table is called like its game."""
        game = GAMES.get(self.variant)
        if game is None or self.name != game.label("en", "name"):
            return self.name
        return game.label(get_language() or "en", "name")

    @property
    def is_open(self) -> bool:
        """True if rounds begin at the table."""
        return self.status == Status.OPEN


class TableVersion(models.Model):
    """Rules and limits of a table from a moment on (GLI-19 v3.0, A.6.1: a change is a new version)."""

    table = models.ForeignKey(Table, models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    rules_version = models.CharField(max_length=20)
    rules_digest = models.CharField(max_length=64)  # hex SHA-256 of everything in the rules that decides money
    limits = models.JSONField()  # in the format of games.betting.limits
    clock = models.JSONField(null=True)  # in the format of games.tables.clock; shared tables only
    jurisdictions = ArrayField(models.CharField(max_length=2))  # whose players the table serves
    modes = ArrayField(models.CharField(max_length=1))  # the kinds of money the table is played for
    created_at = models.DateTimeField(db_default=Now())
    # None for versions before the first opening, and for rules that come with a new version of the
    # software.
    approval = models.OneToOneField(Approval, models.PROTECT, null=True, related_name="+")

    class Meta:
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["table", "number"], name="games_tableversion_number"),
            models.CheckConstraint(
                condition=~models.Q(jurisdictions=[]) & ~models.Q(modes=[]) & models.Q(modes__contained_by=["F", "R"]),
                name="games_tableversion_for_somebody",
            ),
        ]

    @classmethod
    def stored(cls, pk: int) -> "TableVersion":
        """Return a version, from memory after the first time: versions never change. Change nothing on it.

        Raises DoesNotExist.
        """
        return _stored_version(connection.settings_dict["NAME"], pk)


@lru_cache(maxsize=1024)
def _stored_version(database: str, pk: int) -> TableVersion:
    return TableVersion.objects.get(pk=pk)


class RulesVersion(models.Model):
    """The rules of a game from a moment until the next row of the game: everything that decides money, as data."""

    variant = models.CharField(max_length=40)  # a slug of games.variants
    version = models.CharField(max_length=20)
    digest = models.CharField(max_length=64)  # hex SHA-256 of everything that decides money
    body = models.JSONField()  # in the format of `games.change_requests.rules`
    available_from = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        permissions = [
            ("change_table", "Can request tables and table versions"),
            ("decide_table", "Can decide requests for tables and table versions"),
        ]
        indexes = [models.Index(fields=["variant", "-id"], name="games_rulesversion_variant")]


class ScheduledVersion(models.Model):
    """An approved table version, or an approved new table, that goes live at a later time."""

    approval = models.OneToOneField(Approval, models.PROTECT, primary_key=True, related_name="+")
    due_at = models.DateTimeField()  # by the database's clock
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()


class HowEnded(models.TextChoices):
    """End of a schedule."""

    LIVE = "live", pgettext_lazy("how ended", "went live")
    WITHDRAWN = "withdrawn", pgettext_lazy("how ended", "withdrawn")
    FAILED = "failed", gettext_lazy("could not go live")


class ScheduleEnding(models.Model):
    """The end of a schedule, at most one each."""

    schedule = models.OneToOneField(
        ScheduledVersion, models.PROTECT, primary_key=True, db_column="approval_id", related_name="ending"
    )
    how = models.CharField(max_length=9, choices=HowEnded)
    by = models.TextField()
    reason = models.TextField()
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()


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
    wait: float = 0  # seconds until another game may begin there

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    table = models.ForeignKey(Table, models.PROTECT, db_index=False)
    mode = models.CharField(max_length=1, choices=Mode.choices)
    round_id = models.UUIDField(unique=True)
    commitment = models.CharField(max_length=64)  # in hex, shown before DEAL (`games.engine.commitments`)
    sealed_seed = models.BinaryField()  # encrypted with a key that only the dealer has
    rules_digest = models.CharField(max_length=64, db_default="", default="")  # rules that the commitment names
    slip = models.JSONField(default=dict)  # bet -> minor units
    slip_version = models.IntegerField(default=0)  # counts changes of the slip
    undo = models.JSONField(default=list)  # earlier slips, latest last
    last_stakes = models.JSONField(default=dict)  # what Rebet places
    last_round = models.UUIDField(null=True)
    unseen = models.UUIDField(null=True)  # the last round, until a browser has confirmed that it received the result
    last_chip = models.BigIntegerField(null=True)  # the selected chip, minor units
    # idempotency keys of the latest clicks: see `games.betting.idempotency`
    idempotency_keys = ArrayField(models.UUIDField(), null=True)
    used_at = models.DateTimeField(db_default=Now())  # time of the player's last action here; kept for purses only

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "table", "mode"], name="games_soloseat_player_table")]


class OpenTable(models.Model):
    """The table and kind of money whose page a player opened last, or the game of a studio.

    Kept only where the jurisdiction allows play at one table at a time: the player may play there
    only.
    """

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    table = models.ForeignKey(Table, models.PROTECT, null=True, db_index=False)  # None for a studio
    mode = models.CharField(max_length=1, choices=Mode.choices)
    game_session_id = models.BigIntegerField(null=True)  # of the studio's game

    class Meta:
        default_permissions = ()


class LastGame(models.Model):
    """The game for real money that a player began last.

    Kept only where the jurisdiction sets a time between two games.
    """

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    game = models.UUIDField()  # id of a round or coup; of a sale or tenure while no coup has begun
    began_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
