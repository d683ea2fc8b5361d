"""Models of the chat at shared tables: names, messages, blocks, reports and bans.

A stored message never changes, except that staff may remove it. It is deleted only after ninety
days (GLI-19 v3.0, A.4.7): ``games/sql/functions/chat.sql``.

Models for the follow-up of an incident: notes of staff and letters to players.

Rows are inserted and never changed. The text of a letter is stored with the player's messages, and
kept as long as those.
"""

from django.db import models
from django.db.models.functions import Lower, Now
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.models.live import LiveTable
from games.models.rounds import Incident
from players.models import Mail, Player


class Grounds(models.TextChoices):
    """Grounds of a decision about a player's messages or name; the player sees these."""

    ABUSE = "abuse", gettext_lazy("Abuse or threats")
    SPAM = "spam", pgettext_lazy("grounds", "Spam")
    ADVERTISING = "advertising", gettext_lazy("Begging, selling or advertising")
    PRIVATE = "private", pgettext_lazy("grounds", "Private information")
    CHEATING = "cheating", pgettext_lazy("grounds", "Collusion")
    IMPOSTOR = "impostor", pgettext_lazy("grounds", "Impersonation")
    OTHER = "other", pgettext_lazy("grounds", "Other violation")


class ChatName(models.Model):
    """The chat name of a player, the only thing about them that others see, with their bets."""

    player = models.OneToOneField(Player, models.PROTECT, primary_key=True)
    name = models.CharField(max_length=20)
    chosen_at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(Lower("name"), name="games_chatname_once")]


class ChatNameTaken(models.Model):
    """A name that staff took away, which nobody can choose again."""

    # the former owner; None after their account was erased
    player = models.ForeignKey(Player, models.PROTECT, null=True)
    name = models.CharField(max_length=20)
    grounds = models.CharField(max_length=11, choices=Grounds)
    note = models.CharField(max_length=300, blank=True)  # only staff see it
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(Lower("name"), name="games_chatnametaken_once")]


class ChatMessage(models.Model):
    """A message as it was written."""

    live_table = models.ForeignKey(LiveTable, models.PROTECT, db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    name = models.CharField(max_length=20)  # at the time of writing
    language = models.CharField(max_length=2)  # of the page it was written on
    text = models.CharField(max_length=200)
    at = models.DateTimeField(db_default=Now())
    removed_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=40, blank=True)  # the staff member
    removed_for = models.CharField(max_length=11, choices=Grounds, blank=True, default="", db_default="")
    removed_note = models.CharField(max_length=300, blank=True, default="", db_default="")  # only staff see it

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["live_table", "-id"], name="games_chatmessage_table"),
            models.Index(fields=["player", "-id"], name="games_chatmessage_player"),
            models.Index(fields=["at"], name="games_chatmessage_at"),
            models.Index(
                fields=["live_table", "removed_at"],
                condition=models.Q(removed_at__isnull=False),
                name="games_chatmessage_removed",
            ),
            models.Index(Lower("name"), name="games_chatmessage_name"),
        ]

    @property
    def author(self) -> str:
        """The author's identifier in the audit log."""
        return f"player:{self.player_id}"


class ChatBlock(models.Model):
    """A block: the player does not see messages of the blocked player."""

    player = models.ForeignKey(Player, models.PROTECT, related_name="+", db_index=False)
    blocked = models.ForeignKey(Player, models.PROTECT, related_name="+", db_index=False)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["player", "blocked"], name="games_chatblock_once")]


class ReportReason(models.TextChoices):
    """The reason why a player reports a message."""

    ABUSE = "abuse", gettext_lazy("Abuse or threats")
    BEGGING = "begging", gettext_lazy("Begging or selling")
    PRIVATE = "private", pgettext_lazy("report reason", "Private information")
    CHEATING = "cheating", pgettext_lazy("report reason", "Collusion")
    OTHER = "other", pgettext_lazy("report reason", "Other")


class ReportDecision(models.TextChoices):
    """The decision of staff on a report."""

    REMOVED = "removed", pgettext_lazy("report decision", "Message removed")
    KEPT = "kept", pgettext_lazy("report decision", "Message kept")


class ChatReport(models.Model):
    """A player's report of a message, undecided or decided."""

    message = models.ForeignKey(ChatMessage, models.PROTECT, related_name="reports", db_index=False)
    player = models.ForeignKey(Player, models.PROTECT, db_index=False)  # the reporter
    reason = models.CharField(max_length=8, choices=ReportReason)
    at = models.DateTimeField(db_default=Now())
    decision = models.CharField(max_length=7, choices=ReportDecision, blank=True, default="")
    decided_by = models.CharField(max_length=40, blank=True, default="")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        permissions = [("moderate_chat", "Can moderate the chat"), ("read_chat", "Can read the chat log")]
        constraints = [models.UniqueConstraint(fields=["message", "player"], name="games_chatreport_once")]
        indexes = [
            models.Index(fields=["at"], condition=models.Q(decision=""), name="games_chatreport_open"),
            models.Index(fields=["player", "-id"], name="games_chatreport_of"),
        ]


class ChatBan(models.Model):
    """A ban of a player from writing, at one table or at all."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    live_table = models.ForeignKey(LiveTable, models.PROTECT, null=True, db_index=False)  # None: all tables
    until = models.DateTimeField(null=True)  # None: until staff lift it
    grounds = models.CharField(max_length=11, choices=Grounds, default=Grounds.OTHER, db_default=Grounds.OTHER)
    reason = models.CharField(max_length=300)  # only staff see it
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())
    lifted_at = models.DateTimeField(null=True)
    lifted_by = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["player", "-id"], name="games_chatban_player")]


class IncidentNote(models.Model):
    """A note of staff about an incident."""

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="notes")
    text = models.CharField(max_length=1000)
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterKind(models.TextChoices):
    """The kind of a letter to all players of a round."""

    VOIDED = "voided", gettext_lazy("Round voided, stakes returned")
    CONFIRMED = "stands", gettext_lazy("Round reviewed and confirmed")
    COMPLETED = "completed", gettext_lazy("Round interrupted and completed")
    SHORTFALL = "shortfall", gettext_lazy("Shortfall covered by the house")
    APOLOGY = "apology", pgettext_lazy("letter kind", "Apology")


class IncidentLetter(models.Model):
    """A letter to all players of an incident's round, sent by a member of staff.

    A round has one letter of each kind, however many incidents it has. The copies follow in parts
    (`games.incidents.letters`).
    """

    incident = models.ForeignKey(Incident, models.PROTECT, related_name="letters")
    round_id = models.UUIDField()  # of a solo or a shared table
    kind = models.CharField(max_length=9, choices=LetterKind)
    sentences = models.JSONField(default=dict)  # language -> addition of staff
    by = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["round_id", "kind"], name="games_incidentletter_once")]


class LetterEnd(models.Model):
    """Marks a letter whose copies are all written."""

    letter = models.OneToOneField(IncidentLetter, models.PROTECT, primary_key=True, related_name="end")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class LetterCopy(models.Model):
    """A player's copy of a letter: a message from customer service, and a mail."""

    letter = models.ForeignKey(IncidentLetter, models.PROTECT, related_name="copies")
    player = models.ForeignKey(Player, models.PROTECT)
    language = models.CharField(max_length=2)
    conversation = models.BigIntegerField()  # id of the conversation, which may be deleted after its retention time
    mail = models.ForeignKey(Mail, models.PROTECT)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["letter", "player"], name="games_lettercopy_once")]
