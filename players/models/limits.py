"""Limits on deposits, losses, stakes and time (``players/sql/functions/limits.sql``), and answered offers."""

from django.db import models
from django.db.models.functions import Now

from players.models.people import Player


class LimitKind(models.TextChoices):
    """What is limited."""

    DEPOSIT = "deposit"
    LOSS = "loss"  # stakes less payouts
    STAKE = "stake"
    TIME = "time"


class Period(models.TextChoices):
    """Calendar period in the time zone of the player's jurisdiction. A week begins on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class LimitSource(models.TextChoices):
    """Who set a limit. Limits of the law have no rows: the jurisdiction holds them."""

    PLAYER = "player"
    HOUSE = "house"


class LimitChange(models.Model):
    """A limit that was set, changed or removed, with the time when it takes effect.

    Only ``players_change_limit`` inserts rows. Amounts are minor units of the player's currency, or
    seconds for limits of time. None means no limit.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    source = models.CharField(max_length=10, choices=LimitSource)
    kind = models.CharField(max_length=10, choices=LimitKind)
    period = models.CharField(max_length=10, choices=Period)
    before = models.BigIntegerField(null=True)  # the limit in force at the request
    amount = models.BigIntegerField(null=True)
    asked_at = models.DateTimeField()
    effective_at = models.DateTimeField()
    asked_by = models.CharField(max_length=40)  # actor, as in the event log
    reason = models.CharField(max_length=500)  # of staff; a player needs none

    class Meta:
        default_permissions = ()
        permissions = [("set_limits", "Can set limits for a player")]
        indexes = [
            models.Index("player", "source", "kind", "period", models.F("id").desc(), name="players_limit_newest")
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(source__in=LimitSource.values), name="players_limit_source"),
            models.CheckConstraint(condition=models.Q(kind__in=LimitKind.values), name="players_limit_kind"),
            models.CheckConstraint(condition=models.Q(period__in=Period.values), name="players_limit_period"),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="players_limit_amount"),
            models.CheckConstraint(
                condition=models.Q(effective_at__gte=models.F("asked_at")), name="players_limit_order"
            ),
        ]


class LimitOffer(models.Model):
    """A player has answered the offer of deposit limits: set some, or declined."""

    player = models.OneToOneField(Player, models.PROTECT, related_name="limit_offer")
    answered_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
