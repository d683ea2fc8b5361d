"""Identity verification (KYC): submissions, documents, review results, and likely duplicates.

These tables hold personal data that may be erased. File contents are in their own table, so that
lists do not load them and deleting one row erases a file.
"""

from uuid import uuid4

from django.db import models
from django.db.models.functions import Now

from audit.models import Clock
from players.models.people import Player, Staff

LONGEST_NAME = 120  # characters


class DocumentKind(models.TextChoices):
    """Kinds of identity documents."""

    PASSPORT = "passport"
    CARD = "card"
    LICENCE = "licence"


class SubmissionStatus(models.TextChoices):
    """State of a submission."""

    SUBMITTED = "submitted"
    VERIFIED = "verified"
    REFUSED = "refused"
    STATED = "stated"  # by the player, and confirmed by nobody: enough where the law asks for no more


class RefusalReason(models.TextChoices):
    """Reasons to refuse a submission. The player reads a text for each."""

    UNREADABLE = "unreadable"
    EXPIRED = "expired"
    MISMATCH = "mismatch"
    ADDRESS = "address"
    INCOMPLETE = "incomplete"
    ALTERED = "altered"
    ANOTHER_ACCOUNT = "another_account"


class Part(models.TextChoices):
    """Part of the evidence that a document is."""

    FRONT = "front"
    BACK = "back"
    ADDRESS = "address"


class Ground(models.TextChoices):
    """Values that two players share and that suggest one person."""

    NAME = "name"  # with the date of birth
    ADDRESS = "address"  # with the last name and the date of birth
    NUMBER = "number"  # of an identity document
    PICTURE = "picture"
    PHONE = "phone"
    PAYOUT = "payout"  # the account that withdrawals are paid to
    PERSON = "person"  # national number that an identity register confirmed


class Resolution(models.TextChoices):
    """Result of staff's review of two players."""

    SAME = "same"
    DIFFERENT = "different"


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
    submission = models.ForeignKey(Submission, models.PROTECT)
    part = models.CharField(max_length=10, choices=Part)
    media_type = models.CharField(max_length=20)
    size = models.PositiveIntegerField()  # bytes, before encryption

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["submission", "part"], name="players_document_once")]


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
    fingerprint = models.BinaryField()  # HMAC-SHA-256

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["ground", "fingerprint", "player"], name="players_trait_once")]


class Identity(models.Model):
    """Who confirmed the identity of a player, and when. Only ``players_confirm_identity`` inserts rows.

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
