"""Exclusions, register checks, reality checks, and time played.

Exclusions, lifts, register checks and chosen intervals are inserted and never changed (triggers in
``sql/functions/exclusions.sql``). A longer exclusion is another row; none can be shortened.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from players.models.people import Player


class ExclusionKind(models.TextChoices):
    """Kinds of exclusion."""

    PAUSE = "pause", _("Pause")  # by the pause button, which is always visible
    TIME_OUT = "time_out", _("Time-out")  # days or weeks, by the player
    SELF = "self", _("Self-exclusion")  # months or permanent, by the player
    STAFF = "staff", _("Exclusion by the house")


class Exclusion(models.Model):
    """The player may not play from *begun* to *until* (None: permanently).

    The database shifts both by the time that the insert had to wait.
    """

    player = models.ForeignKey(Player, models.PROTECT)
    kind = models.CharField(max_length=8, choices=ExclusionKind.choices)
    begun = models.DateTimeField(db_default=Now())
    until = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, db_default="", default="")  # of staff; players need none
    by = models.CharField(max_length=40)  # the actor, as in the event log

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
        """Return whether staff began it, and not the player."""
        return self.by.startswith("staff:")


class ExclusionLift(models.Model):
    """An exclusion ended early by two members of staff, if that is allowed."""

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
    """Answers of a register."""

    CLEAR = "clear"
    EXCLUDED = "excluded"
    UNREACHABLE = "unreachable"
    DROPPED = "dropped"  # it could not be reached, and is no longer configured


class RegisterCheck(models.Model):
    """Answer of an exclusion register about a player."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    register = models.CharField(max_length=40)
    outcome = models.CharField(max_length=11, choices=Outcome.choices)
    until = models.DateTimeField(null=True)  # end of the exclusion; None: unknown, or permanent
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["player", "register", "-id"], name="players_registercheck_last"),
            # Nearly all are clear, and nobody searches for those.
            models.Index(
                fields=["outcome", "-id"], condition=~models.Q(outcome="clear"), name="players_registercheck_hits"
            ),
        ]


class RealityCheck(models.Model):
    """Interval of the reality check that a player chose. The newest row holds."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    minutes = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="players_realitycheck_last")]


class Sitting(models.Model):
    """Totals of one player's play since a log-in. Amounts in minor units of the player's currency."""

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
    """Seconds played per calendar day in the player's jurisdiction, in any mode and session."""

    pk = models.CompositePrimaryKey("player_id", "day")
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    day = models.DateField()
    seconds = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
