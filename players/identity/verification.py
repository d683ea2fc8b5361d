"""Identity verification (KYC): submissions of players and their review by staff.

Only the latest submission counts. A player whose name or address has changed submits again and is
reviewed again. `players.identity.confirmation` is the other way: a register confirms at once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Final
from uuid import UUID

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from audit import log
from audit.raw_rows import sqlstate
from players import mail, search
from players.encryption import Purpose, seal, unseal
from players.identity import duplicates
from players.identity.uploads import Evidence
from players.login import credentials
from players.models import (
    Document,
    DocumentContent,
    DocumentKind,
    Part,
    Player,
    RefusalReason,
    Staff,
    Submission,
    SubmissionStatus,
)
from players.protection import screening

_Word = str | Promise

CONFIRM: Final = "SELECT players_confirm_identity(%s, %s, %s::bytea[], %s)"
ANOTHER_PERSON: Final = "SB087"  # SQLSTATE of players_confirm_identity

DOCUMENT_KINDS: dict[DocumentKind, _Word] = {
    DocumentKind.PASSPORT: gettext_lazy("Passport"),
    DocumentKind.CARD: gettext_lazy("Identity card"),
    DocumentKind.LICENCE: gettext_lazy("Driving licence"),
}
PARTS: dict[Part, _Word] = {
    Part.FRONT: pgettext_lazy("identity document", "Front"),
    Part.BACK: pgettext_lazy("identity document", "Back"),
    Part.ADDRESS: gettext_lazy("Proof of address"),
}
REASONS: dict[RefusalReason, _Word] = {
    RefusalReason.UNREADABLE: gettext_lazy("A document cannot be read. Send a sharp picture of the whole page."),
    RefusalReason.EXPIRED: gettext_lazy("A document has expired."),
    RefusalReason.MISMATCH: gettext_lazy("Your details do not match your document."),
    RefusalReason.ADDRESS: gettext_lazy(
        "The proof of address does not show your name and address, or is older than three months."
    ),
    RefusalReason.INCOMPLETE: gettext_lazy("A page or a side of a document is missing."),
    RefusalReason.ALTERED: gettext_lazy("A document seems to have been altered. Send the unaltered original."),
    RefusalReason.ANOTHER_ACCOUNT: gettext_lazy(
        "You already have another account here. Each person can have only one."
    ),
}


class IdentityStatus(Enum):
    """Verification state of a player."""

    NOT_BEGUN = "not begun"
    SUBMITTED = "submitted"
    VERIFIED = "verified"
    REFUSED = "refused"
    STATED = "stated"


class AlreadySubmitted(Exception):
    """A submission of the player is waiting for review. No other is accepted until then."""


class ReviewError(Exception):
    """The review is refused. The message is for staff."""


class AlreadyReviewed(ReviewError):
    """Another staff member has reviewed the submission already."""


class DuplicateOpen(ReviewError):
    """The player has unresolved likely duplicates."""


class AnotherPerson(Exception):
    """A register has confirmed another person than before."""


class SamePerson(ReviewError):
    """The player has another account, which is still active."""


@dataclass(frozen=True)
class Details:
    """Details that a player gives. ``phone`` is +46701234567 or empty."""

    given_names: str
    family_name: str
    street: str
    postal_code: str
    city: str
    phone: str
    document_kind: DocumentKind
    document_number: str


def latest(player: Player) -> Submission | None:
    """Return the player's latest submission, or None."""
    return Submission.objects.filter(player=player).order_by("-id").first()


def identity_status(submission: Submission | None) -> IdentityStatus:
    """Return the verification state of a player with this latest submission."""
    return IdentityStatus(submission.status) if submission else IdentityStatus.NOT_BEGUN


def is_verified(player: Player) -> bool:
    """Return whether staff or an identity register have verified the player's latest submission."""
    return identity_status(latest(player)) is IdentityStatus.VERIFIED


def verified_among(players: Iterable[int]) -> set[int]:
    """Return the ids of the verified ones among *players*, in one query."""
    newest = Submission.objects.filter(player__in=list(players)).order_by("player", "-id").distinct("player")
    return {player for player, status in newest.values_list("player", "status") if status == SubmissionStatus.VERIFIED}


@transaction.atomic
def submit(*, player: Player, details: Details, evidence: Mapping[Part, Evidence]) -> Submission:
    """Store a submission with its encrypted documents, and flag players who sent the same. One transaction.

    Raises AlreadySubmitted.
    """
    try:
        with transaction.atomic():
            submission = Submission.objects.create(player=player, **asdict(details))
    except IntegrityError as error:
        raise AlreadySubmitted from error
    for part, file in evidence.items():
        document = Document.objects.create(
            submission=submission, part=part, media_type=file.media_type, size=len(file.content)
        )
        sealed = seal(Purpose.DOCUMENT, player.pk, document.pk, file.content)
        DocumentContent.objects.create(document=document, sealed=sealed)
    said = {field: str(value) for field, value in asdict(details).items() if value and field != "document_kind"}
    log.record(
        "identity.submitted",
        by=str(player),
        on=str(player),
        data={
            "submission": submission.pk,
            "document": details.document_kind.value,
            "parts": sorted(part.value for part in evidence),
        },
        personal=said,
    )
    duplicates.note_submission(submission, [file.sight for file in evidence.values()])
    search.keep_words(submission)
    screening.screen(player)
    return submission


@transaction.atomic
def verify(*, submission_id: int, by: Staff) -> Submission:
    """Confirm the player's identity and notify the player by mail.

    Raises Submission.DoesNotExist, AlreadyReviewed, DuplicateOpen, SamePerson.
    """
    duplicates.hold_still()
    submission = _to_review(submission_id)
    demand_one_account(submission.player)
    _review(submission, SubmissionStatus.VERIFIED, by=by)
    keep_confirmation(submission.player, str(by))
    mail.write(user=submission.player.user, template="identity_verified", context={})
    return submission


def demand_one_account(player: Player) -> None:
    """Raise DuplicateOpen or SamePerson if the player may have another account, or has one. Call `hold_still` first."""
    for pair in duplicates.pairs_of(player):
        other = pair.other(player)
        if pair.open:
            raise DuplicateOpen(gettext("Resolve the possible duplicate with %(other)s first.") % {"other": other})
        if pair.is_same and other.user.is_active:
            raise SamePerson(
                gettext(
                    "This player has another account, %(other)s. Refuse this one, or have the other account "
                    "closed first."
                )
                % {"other": other}
            )


def keep_confirmation(player: Player, by: str, number: str = "") -> None:
    """Store who has confirmed the player's identity, which the database demands for a deposit and play for real money.

    *by* is as `players.models.Identity` has it. The national *number* that a register has confirmed is stored as a
    hash. Raises AnotherPerson if a register has confirmed another one before, and staff nobody since.
    """
    hashes = duplicates.hashes_of_number(player, number)
    said = ":".join([str(player.pk), by, *(each.hex() for each in hashes)])
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            proof = credentials.proof_here("identity", said)
            cursor.execute(CONFIRM, [player.pk, by, hashes, proof])
    except DatabaseError as error:
        if sqlstate(error) == ANOTHER_PERSON:
            raise AnotherPerson from error
        raise


@transaction.atomic
def refuse(*, submission_id: int, reason: RefusalReason, note: str, by: Staff) -> Submission:
    """Refuse a submission and mail the player the reason and *note*.

    Raises Submission.DoesNotExist, AlreadyReviewed.
    """
    submission = _to_review(submission_id)
    _review(submission, SubmissionStatus.REFUSED, by=by, reason=reason, note=note)
    context = {"reason": REASONS[reason], "note": note}
    mail.write(user=submission.player.user, template="identity_refused", context=context)
    return submission


def waiting() -> QuerySet[Submission]:
    """Return submissions waiting for review, oldest first."""
    submitted = Submission.objects.filter(status=SubmissionStatus.SUBMITTED).select_related("player__jurisdiction")
    return submitted.order_by("sent_at", "id")


@transaction.atomic
def view_document(document_id: UUID) -> tuple[Document, bytes]:
    """Return a document and its decrypted content, for staff. The caller records the view in the access log.

    Raises DocumentContent.DoesNotExist if there is none, or if it was deleted.
    """
    related = ("document__submission__player", "document__request__case__player")
    content = DocumentContent.objects.select_related(*related).get(pk=document_id)
    document = content.document
    owner = document.player.pk
    return document, unseal(Purpose.DOCUMENT, owner, document.pk, bytes(content.sealed))


def of_player(player: Player) -> Q:
    """Return the filter of `DocumentContent` for the documents of a player, whatever they are about."""
    return Q(document__submission__player=player) | Q(document__request__case__player=player)


def forget_refused() -> int:
    """Delete the documents refused long enough ago: of submissions, and of closed cases. Return the number deleted.

    The list of documents and the refusal reason are kept.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT players_forget_documents()")
        (gone,) = cursor.fetchone()
    return int(gone)


def _to_review(submission_id: int) -> Submission:
    """Return a submission, locked until the current transaction ends. Raises AlreadyReviewed."""
    submission = Submission.objects.select_for_update(of=("self",)).select_related("player__user").get(pk=submission_id)
    if submission.status != SubmissionStatus.SUBMITTED:
        who = submission.reviewed_by.name if submission.reviewed_by else gettext("An identity register")
        raise AlreadyReviewed(
            gettext("%(who)s has already %(status)s this.") % {"who": who, "status": submission.status}
        )
    return submission


def _review(
    submission: Submission, status: SubmissionStatus, *, by: Staff, reason: RefusalReason | None = None, note: str = ""
) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        status=status, reviewed_by=by, reviewed_at=Now(), reason=reason or "", note=note
    )
    submission.refresh_from_db()
    log.record(
        f"identity.{status.value}",
        by=str(by),
        on=str(submission.player),
        data={"submission": submission.pk} | ({"reason": reason.value} if reason else {}),
        personal={"note": note} if note else None,
    )
