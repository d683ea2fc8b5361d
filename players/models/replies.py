"""What staff begin an answer from: each template in every language of the house, a new version each time.

Rows are added and never changed (``sql/functions/support.sql``). What was sent is written out, and knows none of this.
"""

from django.db import models

from audit.models import Clock
from players.models.people import Staff


class ReplyKind(models.TextChoices):
    """What kind of letter a template begins."""

    QUESTION = "question", "Answer to a question"
    COMPLAINT = "complaint", "Answer to a complaint"
    CHAT = "chat", "About the chat"


class ReplyTemplate(models.Model):
    """One version of a template; nobody's (``by``) is what the house ships with."""

    name = models.SlugField(max_length=40, db_index=False)  # the same for all its versions
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=ReplyKind)
    title = models.CharField(max_length=100)  # in English, for staff
    texts = models.JSONField()  # the text in each language of the house
    by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_reply_template"
        default_permissions = ()
        permissions = [("write_replies", "Can write and withdraw templates of replies")]
        constraints = [models.UniqueConstraint(fields=["name", "number"], name="players_reply_template_once")]

    def __str__(self) -> str:
        return f"reply:{self.name}"


class ReplyWithdrawal(models.Model):
    """A version is offered no more, nor are those before it. A later one is."""

    template = models.OneToOneField(ReplyTemplate, models.PROTECT, primary_key=True, related_name="withdrawal")
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_reply_withdrawal"
        default_permissions = ()
