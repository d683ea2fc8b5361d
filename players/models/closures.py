"""Closing an account for good: what was asked for, and when it was done."""

from django.db import models
from django.db.models.functions import Now

from players.models.people import Player


class ClosureState(models.TextChoices):
    """How far it has come. An account without a row is open."""

    CLOSING = "closing"  # no play, no deposits; the balance is on its way to its owner
    CLOSED = "closed"  # nothing is left, nobody can log in, but for money that comes late
    ERASED = "erased"  # whose it was is forgotten


class Closure(models.Model):
    """A step to the end of an account. The last one holds; rows are inserted and never changed."""

    player = models.ForeignKey(Player, models.PROTECT)
    state = models.CharField(max_length=10, choices=ClosureState)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ("view",)
        constraints = [models.UniqueConstraint(fields=["player", "state"], name="players_closure_once")]
        indexes = [
            models.Index(fields=["state", "-id"], name="players_closure_state"),
            models.Index(fields=["state", "-player"], name="players_closure_whose"),
        ]
