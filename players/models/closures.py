"""Account closures."""

from django.db import models
from django.db.models.functions import Now

from players.models.people import Player


class ClosureState(models.TextChoices):
    """State of a closure. An account without a row is open."""

    CLOSING = "closing"  # no play, no deposits; the balance is being paid out
    CLOSED = "closed"  # paid out, except for late payments; nobody can log in
    ERASED = "erased"  # the personal data is erased


class Closure(models.Model):
    """One step of closing an account. The newest row holds; rows are inserted and never changed."""

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
