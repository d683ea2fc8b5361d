"""Limits on deposits, losses, stakes and time (``players/sql/functions/limits.sql``), and the answer of whoever was
offered some.
"""

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
    """A calendar period in the time zone of the player's jurisdiction; a week begins on Monday."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class LimitSource(models.TextChoices):
    """Who has set a limit. What the law sets is no row: it stands with the jurisdiction."""

    PLAYER = "player"
    HOUSE = "house"


class LimitChange(models.Model):
    """A limit set, changed or removed, at once or later; written by ``players_change_limit`` alone.

    Amounts are minor units of the player's currency, or seconds where the kind is time; None: no limit.
    """

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    source = models.CharField(max_length=10, choices=LimitSource)
    kind = models.CharField(max_length=10, choices=LimitKind)
    period = models.CharField(max_length=10, choices=Period)
    before = models.BigIntegerField(null=True)  # what held when it was asked for
    amount = models.BigIntegerField(null=True)
    asked_at = models.DateTimeField()
    effective_at = models.DateTimeField()
    asked_by = models.CharField(max_length=40)  # as the event log names them
    reason = models.CharField(max_length=500)  # of the house; a player needs none

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
    """A player who was offered deposit limits has answered: set some, or not now."""

    player = models.OneToOneField(Player, models.PROTECT, related_name="limit_offer")
    answered_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
