"""Customer service: conversations with players, complaints (GLI-19 v3.0, A.4.4), and cases about players.

Messages and complaint steps are inserted and never changed. The database refuses to delete a
conversation before its retention period after the last message: ``sql/functions/support.sql``.
"""

from typing import Final

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.models import Clock
from players.models.people import Player, Staff


class ReplyKind(models.TextChoices):
    """Kinds of reply templates."""

    QUESTION = "question", _("Answer to a question")
    COMPLAINT = "complaint", _("Answer to a complaint")
    CHAT = "chat", _("About the chat")


class ReplyTemplate(models.Model):
    """One version of a reply template. Versions without ``by`` are the built-in ones."""

    name = models.SlugField(max_length=40, db_index=False)  # the same for all its versions
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=10, choices=ReplyKind)
    title = models.CharField(max_length=100)  # for staff, in the language of its author; built-in ones in English
    texts = models.JSONField()  # the text in each language
    by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_reply_template"
        default_permissions = ()
        permissions = [("write_replies", "Can write and withdraw reply templates")]
        constraints = [models.UniqueConstraint(fields=["name", "number"], name="players_reply_template_once")]

    def __str__(self) -> str:
        return f"reply:{self.name}"


class ReplyWithdrawal(models.Model):
    """Withdraws a version and all earlier ones. Later versions are offered."""

    template = models.OneToOneField(ReplyTemplate, models.PROTECT, primary_key=True, related_name="withdrawal")
    by = models.ForeignKey(Staff, models.PROTECT, db_index=False)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        db_table = "players_reply_withdrawal"
        default_permissions = ()


class Topic(models.TextChoices):
    """Topic of a conversation."""

    QUESTION = "question", _("A question")
    COMPLAINT = "complaint", _("A complaint")
    MONEY = "money", _("Deposits and withdrawals")
    PROTECTION = "protection", _("Responsible gambling")
    OTHER = "other", _("Something else")


class ConversationState(models.TextChoices):
    """State of a conversation. Only complaints are "looking" and "reopened"."""

    RECEIVED = "received", pgettext_lazy("a message", "Received")
    IN_REVIEW = "looking", pgettext_lazy("a message", "Under review")
    ANSWERED = "answered", pgettext_lazy("a message", "Answered")
    CLOSED = "closed", pgettext_lazy("a message", "Closed")
    REOPENED = "reopened", pgettext_lazy("a message", "Reopened")


HOUSES_TURN: Final = (ConversationState.RECEIVED, ConversationState.IN_REVIEW, ConversationState.REOPENED)
"""The states that wait for staff."""


class Conversation(models.Model):
    """A conversation with a player. That of a complaint belongs to a case, whose subject names it."""

    player = models.ForeignKey(Player, models.PROTECT, db_index=False)
    topic = models.CharField(max_length=10, choices=Topic)
    round_id = models.UUIDField(null=True)  # the player's round that it is about
    round_code = models.CharField(max_length=14, blank=True)
    state = models.CharField(max_length=8, choices=ConversationState, default=ConversationState.RECEIVED)
    is_unread = models.BooleanField(default=False)  # staff wrote something that the player has not seen
    began_at = models.DateTimeField(db_default=Now())
    changed_at = models.DateTimeField(db_default=Now())  # last message or closing
    reopen_until = models.DateTimeField(null=True)  # until then the player may have a decided complaint reopened

    class Meta:
        default_permissions = ()
        permissions = [
            ("answer_service", "Can answer players"),
            ("decide_complaint", "Can decide and reopen complaints"),
        ]
        indexes = [
            models.Index(fields=["player", "-id"], name="players_conversation_mine"),
            models.Index(
                fields=["changed_at", "id"],
                condition=models.Q(state__in=HOUSES_TURN),
                name="players_conversation_waits",
            ),
            models.Index(
                fields=["changed_at", "id"], condition=models.Q(state="answered"), name="players_conversation_said"
            ),
            models.Index(
                fields=["-changed_at", "-id"], condition=models.Q(state="closed"), name="players_conversation_over"
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="players_complaint_alone",
                condition=models.Q(topic="complaint")
                | (models.Q(reopen_until=None) & ~models.Q(state__in=["looking", "reopened"])),
            ),
        ]


class ServiceMessage(models.Model):
    """A message, from the player if *staff* is None."""

    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="messages")
    staff = models.ForeignKey(Staff, models.PROTECT, null=True)
    text = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        default_permissions = ()


class CaseKind(models.TextChoices):
    """Kind of a case. It decides who of the staff may see it (`players_case_permission`)."""

    MARKER = "marker", _("Marker of harm")
    AML = "aml", pgettext_lazy("case kind", "AML alert")
    FUNDS = "funds", _("Source of funds")
    SCREENING = "screening", _("Sanctions and PEP")
    DUPLICATE = "duplicate", _("Possible duplicate")
    COMPLAINT = "complaint", pgettext_lazy("case kind", "Complaint")


class CaseOutcome(models.TextChoices):
    """Closing reason. `players_case_outcomes` lists those of each kind."""

    NO_CONCERN = "no_concern", _("No reason for concern")
    TALKED = "talked", _("Discussed with the player")
    LIMITED = "limited", pgettext_lazy("case outcome", "Limit set")
    EXCLUDED = "excluded", _("Player excluded or paused")
    EXPLAINED = "explained", _("Explained and documented")
    REPORTED = "reported", _("Reported to the authority")
    ENDED = "ended", _("Business relationship ended")
    OTHER_PERSON = "other_person", _("Another person: false match")
    SAME = "same", _("One person")
    DIFFERENT = "different", _("Different people")
    UPHELD = "upheld", _("Complaint upheld")
    PARTLY = "partly", _("Complaint partly upheld")
    REJECTED = "rejected", _("Complaint not upheld")
    BY_PLAYER = "by_player", _("Closed by the player")


DECIDED: Final = (CaseOutcome.UPHELD, CaseOutcome.PARTLY, CaseOutcome.REJECTED)
"""The outcomes of a complaint that staff give."""


class CaseAction(models.TextChoices):
    """Action on a case. Each is an entry of its history and an event of the log."""

    OPENED = "opened", pgettext_lazy("case action", "Opened")
    ASSIGNED = "assigned", pgettext_lazy("case action", "Assigned")
    DUE = "due", pgettext_lazy("case action", "Deadline set")
    NOTED = "noted", pgettext_lazy("case action", "Note")
    LINKED = "linked", pgettext_lazy("case action", "Linked")
    HELD = "held", pgettext_lazy("case action", "Payouts held")
    CLOSED = "closed", pgettext_lazy("case action", "Closed")
    REOPENED = "reopened", pgettext_lazy("case action", "Reopened")
    OVERDUE = "overdue", pgettext_lazy("case action", "Became overdue")
    ASKED = "asked", pgettext_lazy("case action", "Document requested")
    RECEIVED = "received", pgettext_lazy("case action", "Document received")
    ACCEPTED = "accepted", pgettext_lazy("case action", "Document accepted")
    REFUSED = "refused", pgettext_lazy("case action", "Document refused")
    REMINDED = "reminded", pgettext_lazy("case action", "Player reminded")


class Case(models.Model):
    """A case. At most one of a kind and a subject is open for a player. Only functions of the database write it."""

    player = models.ForeignKey(Player, models.PROTECT)
    kind = models.CharField(max_length=12, choices=CaseKind)
    subject = models.CharField(max_length=60, blank=True)  # a marker's name, "conversation:5"; empty: the player
    opened_at = models.DateTimeField(db_default=Clock())
    opened_by = models.TextField()  # "system", "staff:3", "player:4"
    due_at = models.DateTimeField()
    owner = models.ForeignKey(Staff, models.PROTECT, null=True, related_name="cases")
    holds = models.BooleanField(default=False)  # while it is open, payouts wait until two people release them
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(Staff, models.PROTECT, null=True, db_index=False, related_name="+")  # None: player
    outcome = models.CharField(max_length=12, choices=CaseOutcome, blank=True)

    class Meta:
        default_permissions = ()
        permissions = [("see_flags", "Can see and handle markers of harm")]
        indexes = [
            models.Index(fields=["due_at", "id"], name="players_case_due", condition=models.Q(closed_at=None)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["player", "kind", "subject"], condition=models.Q(closed_at=None), name="players_case_open"
            ),
            models.CheckConstraint(
                condition=models.Q(closed_at=None, closed_by=None, outcome="")
                | (
                    models.Q(closed_at__isnull=False, closed_by__isnull=False)
                    & ~models.Q(outcome__in=["", "by_player"])
                )
                | models.Q(closed_at__isnull=False, closed_by=None, kind="complaint", outcome="by_player"),
                name="players_case_closed",
            ),
            models.CheckConstraint(
                condition=~models.Q(kind__in=["marker", "complaint"], holds=True), name="players_case_pays_at_risk"
            ),
        ]

    def __str__(self) -> str:
        return f"case:{self.pk}"


class CaseEntry(models.Model):
    """An entry of a case's history: an action, who took it, and what they wrote."""

    case = models.ForeignKey(Case, models.PROTECT, related_name="entries")
    at = models.DateTimeField(db_default=Clock())
    by = models.TextField()  # "system", "staff:3", "player:4"
    action = models.CharField(max_length=8, choices=CaseAction)
    to = models.TextField(blank=True)  # the new owner, the deadline, the linked object, the outcome
    text = models.TextField(blank=True)

    class Meta:
        db_table = "players_case_entry"
        default_permissions = ()


class Paper(models.TextChoices):
    """Kinds of documents about the source of funds."""

    PAYSLIP = "payslip", _("Payslip")
    BANK = "bank", _("Bank statement")
    TAX = "tax", _("Tax assessment")
    SALE = "sale", _("Sale contract")
    OTHER = "other", pgettext_lazy("document", "Another document")


class PaperState(models.TextChoices):
    """State of a document that a player was asked for."""

    ASKED = "asked", pgettext_lazy("requested document", "Requested")
    RECEIVED = "received", pgettext_lazy("requested document", "Received, under review")
    ACCEPTED = "accepted", pgettext_lazy("requested document", "Accepted")
    REFUSED = "refused", pgettext_lazy("requested document", "Not accepted")


class RequestedDocument(models.Model):
    """A document that the player of a case was asked for. Only functions of the database write it.

    The player may send a file until one is received, and another one after it was refused.
    """

    case = models.ForeignKey(Case, models.PROTECT, related_name="requested")
    paper = models.CharField(max_length=8, choices=Paper)
    note = models.TextField(blank=True)  # for the player
    state = models.CharField(max_length=8, choices=PaperState)
    reason = models.TextField(blank=True)  # why it was refused, for the player
    asked_at = models.DateTimeField(db_default=Clock())
    reminded_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "players_requested_document"
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="refused") & ~models.Q(reason="")
                | ~models.Q(state="refused") & models.Q(reason=""),
                name="players_requested_document_reason",
            )
        ]


class ListTopic(models.TextChoices):
    """Reason for which a list names a person."""

    SANCTIONS = "sanctions", _("Sanctions")
    PEP = "pep", _("Politically exposed")


class ScreeningEntry(models.Model):
    """One version of an entry of a list. Only ``players_read_screening_list`` writes it, and ends it when it changed.

    A case of kind `CaseKind.SCREENING` names it as its subject, "listed:7".
    """

    list = models.CharField(max_length=40)
    key = models.CharField(max_length=80)  # by which the list names the entry
    topic = models.CharField(max_length=10, choices=ListTopic)
    name = models.TextField()  # as the list spells it
    names = models.JSONField()  # the name and its other spellings, each as normalised words
    born = models.CharField(max_length=10, blank=True)  # "1960-01-31", "1960", or "": not known
    published = models.DateField()  # of the list in which this version came first
    listed_at = models.DateTimeField(db_default=Clock())
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "players_screening_entry"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["list", "key"], condition=models.Q(removed_at=None), name="players_screening_entry_once"
            ),
            models.CheckConstraint(
                condition=models.Q(born__regex=r"^(\d{4}(-\d\d-\d\d)?)?$"), name="players_screening_entry_born"
            ),
        ]


class ScreeningReading(models.Model):
    """One attempt to read a list. *published* is the date of the list, None where it could not be read."""

    list = models.CharField(max_length=40)
    at = models.DateTimeField(db_default=Clock())
    published = models.DateField(null=True)
    entries = models.IntegerField()
    reason = models.TextField(blank=True)  # why it could not be read

    class Meta:
        db_table = "players_screening_reading"
        default_permissions = ()
        indexes = [models.Index(fields=["list", "-id"], name="players_screening_reading_list")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(published__isnull=False, reason="")
                | models.Q(published=None) & ~models.Q(reason=""),
                name="players_screening_reading_whole",
            )
        ]
