"""What keeps a player from playing for a time, and what is known of the time spent playing.

Exclusions, their lifting, register checks and chosen intervals are inserted and never changed (triggers in
``sql/functions/exclusions.sql``); a longer exclusion is another row, and none can be made shorter.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from players.models.people import Player


class ExclusionKind(models.TextChoices):
    """Who keeps a player from playing, and how."""

    PAUSE = "pause", _("Pause")  # the button in view everywhere
    TIME_OUT = "time_out", _("Time-out")  # some days or weeks, by the player
    SELF = "self", _("Self-exclusion")  # months or for good, by the player
    STAFF = "staff", _("Exclusion by the house")


class Exclusion(models.Model):
    """A player may not play from *begun* to *until* (None: for good). The database moves both to the moment of the
    insertion.
    """

    player = models.ForeignKey(Player, models.PROTECT)
    kind = models.CharField(max_length=8, choices=ExclusionKind.choices)
    begun = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, db_default="", default="")  # of staff; players owe none
    by = models.CharField(max_length=40)  # the actor, as the event log has it

    class Meta:
        default_permissions = ()
        permissions = [("exclude_player", "Can exclude players")]
        indexes = [models.Index(fields=["kind", "-id"], name="players_exclusion_kind")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(until__isnull=True, kind__in=["self", "staff"])
                | models.Q(until__gt=models.F("begun")),
                name="players_exclusion_lasts",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind="staff") | ~models.Q(reason=""), name="players_exclusion_reason"
            ),
        ]

    @property
    def is_by_house(self) -> bool:
        """Whether staff began it, and not the player."""
        return self.by.startswith("staff:")


class ExclusionLift(models.Model):
    """An exclusion ended before its time by two members of staff, where that is allowed at all."""

    exclusion = models.OneToOneField(Exclusion, models.PROTECT, related_name="lift")
    at = models.DateTimeField(db_default=Now())
    reason = models.CharField(max_length=500)
    asked_by = models.CharField(max_length=40)
    decided_by = models.CharField(max_length=40)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(asked_by=models.F("decided_by")), name="players_exclusionlift_two_people"
            )
        ]


class Outcome(models.TextChoices):
    """What a register said."""

    CLEAR = "clear"
    EXCLUDED = "excluded"
    UNREACHABLE = "unreachable"
    DROPPED = "dropped"  # it could not be reached, and the house asks it no more


class RegisterCheck(models.Model):
    """What a register of excluded people answered about a player."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    register = models.CharField(max_length=40)
    outcome = models.CharField(max_length=11, choices=Outcome.choices)
    until = models.DateTimeField(null=True)  # of an exclusion; None: not told, or for good
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["player", "register", "-id"], name="players_registercheck_last"),
            # Nearly all are clear, and nobody looks for those.
            models.Index(
                fields=["outcome", "-id"], condition=~models.Q(outcome="clear"), name="players_registercheck_hits"
            ),
        ]


class RealityCheck(models.Model):
    """How often a player wants to be told of the time and money spent; the newest row holds."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    minutes = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="players_realitycheck_last")]


class Sitting(models.Model):
    """What a player has done at tables since logging in. Amounts in minor units of the player's currency."""

    session = models.UUIDField(primary_key=True)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    began = models.DateTimeField(db_default=Now())
    checked_at = models.DateTimeField(null=True)  # when the player last answered a reality check
    rounds = models.PositiveIntegerField(db_default=0, default=0)
    staked_real = models.BigIntegerField(db_default=0, default=0)
    paid_real = models.BigIntegerField(db_default=0, default=0)
    staked_free = models.BigIntegerField(db_default=0, default=0)
    paid_free = models.BigIntegerField(db_default=0, default=0)

    class Meta:
        default_permissions = ()


class PlayTime(models.Model):
    """Seconds played on a calendar day of the player's jurisdiction, any money, any session."""

    pk = models.CompositePrimaryKey("player_id", "day")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    day = models.DateField()
    seconds = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
