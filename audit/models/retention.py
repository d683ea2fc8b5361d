"""Retention periods."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from audit.models.approvals import Approval


class Kept(models.TextChoices):
    """Data that is kept for a limited time."""

    ACCOUNT = "account", "Who somebody was, after their account was closed"
    CONVERSATION = "conversation", "Messages of players and answers to them, after the last one"
    CHAT = "chat", "What was said at tables"
    REFUSED_PAPERS = "refused papers", "Identity documents that were refused, after the refusal"
    MAIL = "mail", "To whom mails went, and what they were about"
    ADDRESS = "address", "From where somebody logged in, played or registered: addresses and browsers"
    WRONG_LOG_IN = "wrong log-in", "E-mail addresses given in log-ins that failed"
    LOOK = "look", "From where staff looked at somebody’s data, and what they asked for"


class Retention(models.Model):
    """The retention period of a kind of data in days, its minimum, and the source of the
    requirement.

    ``fields`` names personal values of events; where it is empty, the kind consists of rows.
    ``approval`` is that of the last change.
    """

    what = models.TextField(primary_key=True, choices=Kept)
    days = models.IntegerField()
    minimum = models.IntegerField()
    fields = ArrayField(models.TextField())
    source = models.TextField()
    approval = models.ForeignKey(Approval, models.PROTECT, null=True)

    class Meta:
        db_table = "audit_retention"
        default_permissions = ("change",)
