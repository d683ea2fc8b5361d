"""Identity verification (KYC): submissions, documents, review results, and likely duplicates.

These tables hold personal data that may be erased. File contents are in their own table, so that
lists do not load them and deleting one row erases a file.
"""

from typing import cast
from uuid import uuid4

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import pgettext_lazy

from audit.models import Clock
from players.models.people import Player, Staff

LONGEST_NAME = 120  # characters


class DocumentKind(models.TextChoices):
    """Kinds of identity documents."""

    PASSPORT = "passport", pgettext_lazy("document kind", "Passport")
    CARD = "card", pgettext_lazy("document kind", "Card")
    LICENCE = "licence", pgettext_lazy("document kind", "Licence")


class SubmissionStatus(models.TextChoices):
    """State of a submission."""

    SUBMITTED = "submitted", pgettext_lazy("submission status", "Submitted")
    VERIFIED = "verified", pgettext_lazy("submission status", "Verified")
    REFUSED = "refused", pgettext_lazy("submission status", "Refused")
    # by the player, and confirmed by nobody: enough where the law asks for no more
    STATED = "stated", pgettext_lazy("submission status", "Stated")


class RefusalReason(models.TextChoices):
    """Reasons to refuse a submission. The player reads a text for each."""

    UNREADABLE = "unreadable", pgettext_lazy("refusal reason", "Unreadable")
    EXPIRED = "expired", pgettext_lazy("refusal reason", "Expired")
    MISMATCH = "mismatch", pgettext_lazy("refusal reason", "Mismatch")
    ADDRESS = "address", pgettext_lazy("refusal reason", "Address")
    INCOMPLETE = "incomplete", pgettext_lazy("refusal reason", "Incomplete")
    ALTERED = "altered", pgettext_lazy("refusal reason", "Altered")
    ANOTHER_ACCOUNT = "another_account", pgettext_lazy("refusal reason", "Another Account")


class Part(models.TextChoices):
    """Part of the evidence that a document is."""

    FRONT = "front", pgettext_lazy("part of a document", "Front")
    BACK = "back", pgettext_lazy("part of a document", "Back")
    ADDRESS = "address", pgettext_lazy("part of a document", "Address")


class Ground(models.TextChoices):
    """Values that two players share and that suggest one person."""

    NAME = "name", pgettext_lazy("same data", "Name")  # with the date of birth
    ADDRESS = "address", pgettext_lazy("same data", "Address")  # with the last name and the date of birth
    NUMBER = "number", pgettext_lazy("same data", "Number")  # of an identity document
    PICTURE = "picture", pgettext_lazy("same data", "Picture")
    PHONE = "phone", pgettext_lazy("same data", "Phone")
    PAYOUT = "payout", pgettext_lazy("same data", "Payout")  # the account that withdrawals are paid to
    PERSON = "person", pgettext_lazy("same data", "Person")  # national number that an identity register confirmed


class Resolution(models.TextChoices):
    """Result of staff's review of two players."""

    SAME = "same", pgettext_lazy("resolution", "Same")
    DIFFERENT = "different", pgettext_lazy("resolution", "Different")


class Submission(models.Model):
    """Details that a player submitted, and who confirmed them: staff, or an identity register. Only the latest counts.

    An identity register needs no document, so these fields are then empty.
    """

    player = models.ForeignKey(Player, models.PROTECT)
    given_names = models.CharField(max_length=LONGEST_NAME)
    family_name = models.CharField(max_length=LONGEST_NAME)
    street = models.CharField(max_length=200)
    postal_code = models.CharField(max_length=20)
    city = models.CharField(max_length=120)
    phone = models.CharField(max_length=20, blank=True)  # E.164: +46701234567
    document_kind = models.CharField(max_length=10, choices=DocumentKind, blank=True)
    document_number = models.CharField(max_length=40, blank=True)
    sent_at = models.DateTimeField(db_default=Now())
    status = models.CharField(max_length=10, choices=SubmissionStatus, default=SubmissionStatus.SUBMITTED)
    reviewed_by = models.ForeignKey(Staff, models.PROTECT, null=True)
    reviewed_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=20, choices=RefusalReason, blank=True)
    note = models.TextField(blank=True)  # from staff, for the player to read
    register = models.CharField(max_length=40, blank=True)  # the identity register that confirmed it

    class Meta:
        default_permissions = ()
        permissions = [("review_identity", "Can review identity documents")]
        indexes = [
            models.Index(fields=["sent_at"], condition=models.Q(status="submitted"), name="players_to_review"),
            models.Index(fields=["status", "-id"], name="players_submission_status"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["player"], condition=models.Q(status="submitted"), name="players_submission_one_open"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["submitted", "stated"], reviewed_by=None, reviewed_at=None, reason="", register=""
                )
                | models.Q(
                    status="verified", reviewed_by__isnull=False, reviewed_at__isnull=False, reason="", register=""
                )
                | models.Q(status="verified", reviewed_by=None, reviewed_at__isnull=False, reason="")
                & ~models.Q(register="")
                | models.Q(status="refused", reviewed_by__isnull=False, reviewed_at__isnull=False)
                & ~models.Q(reason=""),
                name="players_submission_reviewed",
            ),
        ]


class Document(models.Model):
    """A picture or PDF as it is listed. The file name is never stored, because it may hold personal data."""

    id = models.UUIDField(primary_key=True, default=uuid4)
    submission = models.ForeignKey(Submission, models.PROTECT, null=True)
    part = models.CharField(max_length=10, choices=Part, blank=True)
    # Of a case about the source of funds, instead of a submission:
    request = models.ForeignKey("players.RequestedDocument", models.PROTECT, null=True, related_name="documents")
    media_type = models.CharField(max_length=20)
    size = models.PositiveIntegerField()  # bytes, before encryption
    refused_at = models.DateTimeField(null=True)  # of a case; a submission has its own time

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["submission", "part"], name="players_document_once"),
            models.CheckConstraint(
                condition=models.Q(submission__isnull=False, request=None) & ~models.Q(part="")
                | models.Q(submission=None, request__isnull=False, part=""),
                name="players_document_of_one",
            ),
        ]

    @property
    def player(self) -> Player:
        """The player who sent it."""
        if self.request:
            return self.request.case.player
        return cast("Submission", self.submission).player  # players_document_of_one


class DocumentContent(models.Model):
    """Content of a document, encrypted with a key outside the database and bound to the document's id."""

    document = models.OneToOneField(Document, models.PROTECT, primary_key=True, related_name="content")
    sealed = models.BinaryField()

    class Meta:
        default_permissions = ()


class Trait(models.Model):
    """An identifying value as a keyed hash. Two players with the same one may be one person."""

    player = models.ForeignKey(Player, models.PROTECT)
    ground = models.CharField(max_length=10, choices=Ground)
    fingerprint = models.BinaryField()  # HMAC-SHA-256; of a national number with what tells its key

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["ground", "fingerprint", "player"], name="players_trait_once")]


class Identity(models.Model):
    """Confirmation of a player's identity. Only ``players_confirm_identity`` inserts rows.

    *by* is ``register:<name>`` or ``staff:<id>``; the player where nobody has to confirm what they state.
    """

    player = models.ForeignKey(Player, models.PROTECT)
    by = models.CharField(max_length=60)
    at = models.DateTimeField(db_default=Clock())

    class Meta:
        default_permissions = ()


class Duplicate(models.Model):
    """Two players who may be one person, on one ground. ``first`` registered earlier."""

    first = models.ForeignKey(Player, models.PROTECT, related_name="+")
    second = models.ForeignKey(Player, models.PROTECT, related_name="+")
    ground = models.CharField(max_length=10, choices=Ground)
    found_at = models.DateTimeField(db_default=Now())
    resolution = models.CharField(max_length=10, choices=Resolution, blank=True)
    resolved_by = models.ForeignKey(Staff, models.PROTECT, null=True)
    resolved_at = models.DateTimeField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["found_at", "id"], condition=models.Q(resolution=""), name="players_duplicate_open"),
            models.Index(
                fields=["resolved_at", "id"], condition=~models.Q(resolution=""), name="players_duplicate_decided"
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="players_duplicate_in_order"),
            models.UniqueConstraint(fields=["first", "second", "ground"], name="players_duplicate_once"),
            models.CheckConstraint(
                condition=models.Q(resolution="", resolved_by=None, resolved_at=None)
                | ~models.Q(resolution="") & models.Q(resolved_by__isnull=False, resolved_at__isnull=False),
                name="players_duplicate_resolved",
            ),
        ]
