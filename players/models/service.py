"""Customer service: conversations between a player and the house, complaints among them (GLI-19 v3.0, A.4.4).

Messages are inserted and never changed. The database lets nobody delete a conversation before its time is over after
its last message: ``sql/0007_service.sql``, ``sql/0012_keeping.sql``.
"""

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from players.models.people import Player, Staff


class Topic(models.TextChoices):
    """What a conversation is about."""

    QUESTION = "question", _("A question")
    COMPLAINT = "complaint", _("A complaint")
    MONEY = "money", _("Deposits and withdrawals")
    PROTECTION = "protection", _("Responsible play")
    OTHER = "other", _("Something else")


class ConversationState(models.TextChoices):
    """Whose turn it is."""

    RECEIVED = "received", pgettext_lazy("a message", "Received")
    ANSWERED = "answered", pgettext_lazy("a message", "Answered")
    CLOSED = "closed", pgettext_lazy("a message", "Closed")


class Verdict(models.TextChoices):
    """How a complaint ended."""

    UPHELD = "upheld", _("We agree with the complaint")
    PARTLY = "partly", _("We agree with part of the complaint")
    REJECTED = "rejected", _("We do not agree with the complaint")
    BY_PLAYER = "by_player", _("Closed by the player")


class Conversation(models.Model):
    """What a player wrote about, and how it stands."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    topic = models.CharField(max_length=10, choices=Topic)
    round_id = models.UUIDField(null=True)  # the round it is about, one of the player's
    round_code = models.CharField(max_length=14, blank=True)
    state = models.CharField(max_length=8, choices=ConversationState, default=ConversationState.RECEIVED)
    verdict = models.CharField(max_length=10, choices=Verdict, blank=True)
    is_unread = models.BooleanField(default=False)  # the house has said something the player has not seen
    began_at = models.DateTimeField(db_default=Now())
    due_at = models.DateTimeField(null=True)  # complaints only: when the answer is due
    moved_at = models.DateTimeField(db_default=Now())  # when somebody last wrote or closed

    class Meta:
        default_permissions = ()
        permissions = [("answer_service", "Can answer players")]
        indexes = [
            models.Index(fields=["player", "-id"], name="players_conversation_mine"),
            models.Index(fields=["moved_at"], condition=~models.Q(state="closed"), name="players_conversation_open"),
        ]


class ServiceMessage(models.Model):
    """What one side wrote; the player where there is no *staff*."""

    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="messages")
    staff = models.ForeignKey(Staff, models.PROTECT, null=True)
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
