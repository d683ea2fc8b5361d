"""Outbox of mail: filled in the transaction of its cause, emptied by a task."""

from django.db import models
from django.db.models.functions import Now

from players.models.people import User


class Mail(models.Model):
    """One mail. In production, ``body`` is erased after sending, because it may hold a code."""

    user = models.ForeignKey(User, models.PROTECT, null=True)  # None: to an address without a user
    address = models.EmailField()
    language = models.CharField(max_length=2)
    template = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    written_at = models.DateTimeField(db_default=Now())
    next_try_at = models.DateTimeField(null=True, db_default=Now())  # None: sent, or given up
    attempts = models.PositiveSmallIntegerField(default=0)
    last_error = models.CharField(max_length=200, blank=True)
    sent_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "players_mail"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["next_try_at"], condition=models.Q(next_try_at__isnull=False), name="players_mail_due"
            ),
            models.Index(fields=["address", "id"], name="players_mail_address"),
            models.Index(
                fields=["-id"], condition=models.Q(sent_at=None, next_try_at=None), name="players_mail_given_up"
            ),
        ]

    def __str__(self) -> str:
        return f"mail:{self.pk}"
