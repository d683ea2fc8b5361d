"""How long what is kept."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from audit.models.approvals import Approval


class Kept(models.TextChoices):
    """What the house keeps for a time, and then no longer."""

    ACCOUNT = "account", "Who somebody was, after their account was closed"
    CONVERSATION = "conversation", "Messages of players and answers to them, after the last one"
    CHAT = "chat", "What was said at tables"
    REFUSED_PAPERS = "refused papers", "Identity documents that were refused, after the refusal"
    MAIL = "mail", "To whom mails went, and what they were about"
    ADDRESS = "address", "From where somebody logged in, played or registered: addresses and browsers"
    WRONG_LOG_IN = "wrong log-in", "E-mail addresses given in log-ins that failed"
    LOOK = "look", "From where staff looked at somebody’s data, and what they asked for"


class Retention(models.Model):
    """For how many days something is kept, at least how many the database allows, and who says so.

    Personal values of events are told by the names of their ``fields``; where there are none, it is rows that go.
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
