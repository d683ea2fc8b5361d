"""Identity verification: accepted documents, their storage, and the decisions of staff."""

from datetime import date

import psycopg
import pytest
from cryptography.exceptions import InvalidTag
from django.db import connection

from audit.models import Personal
from players import encryption
from players.encryption import Purpose
from players.identity import duplicates, verification
from players.identity.verification import IdentityStatus
from players.models import (
    Document,
    DocumentContent,
    DocumentKind,
    Ground,
    Mail,
    Part,
    RefusalReason,
    Resolution,
    Submission,
)
from tests.builders import a_player, a_submission, a_verified_player
from tests.harness.databases import Database
from tests.harness.owner import disable
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events
from tests.wallet.test_at_once import at_once


def reviewer():
    return a_member_of_staff("compliance")


def current_status(player) -> IdentityStatus:
    return verification.identity_status(verification.latest(player))


@pytest.mark.django_db
class TestState:
    def test_nobody_is_verified_who_has_sent_nothing(self):
        player = a_player()
        assert current_status(player) is IdentityStatus.NOT_BEGUN
        assert not verification.is_verified(player)

    def test_what_is_sent_waits(self):
        player = a_player()
        a_submission(player)
        assert current_status(player) is IdentityStatus.SUBMITTED
        assert not verification.is_verified(player)

    def test_staff_confirm_it(self):
        assert verification.is_verified(a_verified_player())

    def test_staff_refuse_it(self):
        player = a_player()
        sent = a_submission(player)
        verification.refuse(submission_id=sent.pk, reason=RefusalReason.EXPIRED, note="Since May.", by=reviewer())
        assert current_status(player) is IdentityStatus.REFUSED
        assert not verification.is_verified(player)

    @pytest.mark.sweep
    def test_after_a_refusal_it_may_be_sent_again(self):
        player = a_player()
        sent = a_submission(player)
        verification.refuse(submission_id=sent.pk, reason=RefusalReason.UNREADABLE, note="", by=reviewer())
        again = a_submission(player)
        verification.verify(submission_id=again.pk, by=reviewer())
        assert verification.is_verified(player)

    def test_a_change_asks_for_another_review(self):
        player = a_verified_player()
        a_submission(player, city="Lund")
        assert current_status(player) is IdentityStatus.SUBMITTED
        assert not verification.is_verified(player)

    def test_while_something_waits_nothing_else_is_taken(self):
        player = a_player()
        a_submission(player)
        with pytest.raises(verification.AlreadySubmitted):
            a_submission(player)
        assert Submission.objects.filter(player=player).count() == 1

    @pytest.mark.sweep
    def test_the_oldest_waits_in_front(self):
        sent = [a_submission(a_player()).pk for _ in range(3)]
        assert [each.pk for each in verification.waiting() if each.pk in sent] == sent


@pytest.mark.django_db
class TestReview:
    def test_is_done_once(self):
        sent = a_submission(a_player())
        by = reviewer()
        verification.verify(submission_id=sent.pk, by=by)
        for review in (
            lambda: verification.verify(submission_id=sent.pk, by=reviewer()),
            lambda: verification.refuse(submission_id=sent.pk, reason=RefusalReason.ALTERED, note="", by=reviewer()),
        ):
            with pytest.raises(verification.AlreadyReviewed, match=f"{by.name} has already verified this"):
                review()

    @pytest.mark.parametrize("language", sample(["sv", "da", "ro", "de", "en"], 1))
    def test_the_player_gets_a_mail(self, language):
        player = a_player()
        player.user.language = language
        player.user.save()
        refused = a_submission(player)
        note = "Die Rückseite & der Rand fehlen."
        verification.refuse(submission_id=refused.pk, reason=RefusalReason.INCOMPLETE, note=note, by=reviewer())
        verification.verify(submission_id=a_submission(player).pk, by=reviewer())
        first, second = Mail.objects.filter(user=player.user).order_by("pk")
        assert (first.template, second.template) == ("identity_refused", "identity_verified")
        assert note in first.body
        assert first.language == language
        if language == "en":
            assert "A page or a side of a document is missing." in first.body
            assert second.subject == "Your identity is verified"
        else:
            assert "A page or a side" not in first.body
            assert second.subject != "Your identity is verified"

    def test_gli19_2_8_5_is_in_the_log(self):
        player, by = a_player(), reviewer()
        sent = a_submission(player)
        verification.refuse(submission_id=sent.pk, reason=RefusalReason.MISMATCH, note="Anna, not Anne", by=by)
        (refused,) = events("identity.refused", on=str(player))
        assert refused["by"] == str(by)
        assert refused["data"] == {"submission": sent.pk, "reason": "mismatch"}
        assert "Anne" not in str(refused)
        again = a_submission(player)
        verification.verify(submission_id=again.pk, by=by)
        assert events("identity.verified", on=str(player))[0]["data"] == {"submission": again.pk}


@pytest.mark.django_db
class TestWhatIsKept:
    def test_gli19_2_8_5_identity_data_with_who_confirmed_it_and_when(self):
        player, by = a_player(), reviewer()
        sent = a_submission(player, given_names="Ada", family_name="Byron", phone="+46701234567")
        verification.verify(submission_id=sent.pk, by=by)
        kept = Submission.objects.get(player=player)
        fields = ("given_names", "family_name", "street", "postal_code", "city", "phone", "document_number")
        assert [name for name in fields if getattr(kept, name) != getattr(sent, name)] == []
        assert (kept.given_names, kept.family_name, kept.phone) == ("Ada", "Byron", "+46701234567")
        assert (kept.document_kind, kept.status, kept.reviewed_by) == ("passport", "verified", by)
        assert kept.reviewed_at is not None
        assert kept.sent_at <= kept.reviewed_at
        assert (player.birth_date, player.user.email) == (date(1990, 1, 1), player.user.email.lower())

    def test_documents_are_encrypted_at_rest(self):
        sent = a_submission(a_player())
        document = sent.document_set.get(part=Part.FRONT)
        with connection.cursor() as cursor:
            cursor.execute("SELECT sealed FROM players_documentcontent WHERE document_id = %s", [document.pk])
            stored = bytes(cursor.fetchone()[0])
        _document, content = verification.view_document(document.pk)
        assert content.startswith(b"\xff\xd8\xff")
        assert b"JFIF" not in stored
        assert not any(content[at : at + 16] in stored for at in range(0, len(content) - 16, 16))

    def test_a_document_is_bound_to_its_slot(self):
        one, other = (a_submission(a_player()).document_set.get(part=Part.FRONT) for _ in range(2))
        owner, document, account = other.player.pk, Purpose.DOCUMENT, Purpose.PAYOUT_ACCOUNT
        sealed = bytes(other.content.sealed)
        for place in (
            (document, owner, one.pk),
            (document, one.player.pk, other.pk),
            (account, owner, other.pk),
        ):
            with pytest.raises(InvalidTag):
                encryption.unseal(*place, sealed)
        assert encryption.unseal(document, owner, other.pk, sealed)

    def test_another_key_opens_nothing(self, settings):
        document = a_submission(a_player()).document_set.get(part=Part.FRONT)
        settings.DOCUMENT_KEY = "A" * 43 + "="
        with pytest.raises(InvalidTag):
            verification.view_document(document.pk)

    def test_the_same_document_is_never_encrypted_the_same(self):
        document = a_submission(a_player()).document_set.get(part=Part.FRONT)
        place = (Purpose.DOCUMENT, document.player.pk, document.pk)
        assert encryption.seal(*place, b"x" * 100) != encryption.seal(*place, b"x" * 100)

    def test_nothing_personal_is_in_the_log(self):
        player = a_player()
        a_submission(player, street="Hemliga vägen 7", phone="+46701234567", document_number="GEHEIM99")
        (event,) = events("identity.submitted", on=str(player))
        for secret in ("Hemliga", "46701234567", "GEHEIM99", "Bergström"):
            assert secret not in str(event)
        kept = set(Personal.objects.filter(event__on=str(player)).values_list("field", flat=True))
        assert {"given_names", "family_name", "street", "phone", "document_number"} <= kept
        assert event["data"]["parts"] == ["address", "front"]

    def test_a_file_keeps_nothing_of_its_name(self):
        assert {field.name for field in Document._meta.get_fields()} == {
            "id", "submission", "request", "part", "media_type", "size", "refused_at", "content"
        }  # fmt: skip


class TestAtOnce:
    def test_of_two_submissions_of_one_player_one_is_taken(self, cloned_db: Database):
        player = a_player()

        def send() -> str:
            try:
                a_submission(player)
            except verification.AlreadySubmitted:
                return "refused"
            return "taken"

        assert sorted(at_once([send] * 4)) == ["refused"] * 3 + ["taken"]
        assert DocumentContent.objects.count() == 2

    def test_of_two_reviewers_one_decides(self, cloned_db: Database):
        sent = a_submission(a_player())
        staff = [reviewer(), reviewer()]

        def verify() -> str:
            try:
                verification.verify(submission_id=sent.pk, by=staff[0])
            except verification.AlreadyReviewed as error:
                return str(error)
            return "done"

        def refuse() -> str:
            try:
                verification.refuse(submission_id=sent.pk, reason=RefusalReason.ALTERED, note="", by=staff[1])
            except verification.AlreadyReviewed as error:
                return str(error)
            return "done"

        first, second = sorted(at_once([verify, refuse]), key="done".__ne__)
        assert first == "done"
        assert second in ("Someone has already verified this.", "Someone has already refused this.")
        assert Mail.objects.count() == 1

    def test_a_failure_leaves_nothing_half(self, cloned_db: Database, monkeypatch):
        """The documents are rows of the same transaction: a late failure removes them too."""
        player = a_player()

        def fail(*args: object) -> None:
            raise psycopg.OperationalError("the connection is gone")

        monkeypatch.setattr(duplicates, "note_submission", fail)
        with pytest.raises(psycopg.OperationalError):
            a_submission(player)
        assert (Submission.objects.count(), Document.objects.count(), DocumentContent.objects.count()) == (0, 0, 0)
        assert events("identity.submitted") == []


@pytest.mark.django_db
def test_a_likely_duplicate_is_reviewed_first():
    one, other = a_player(), a_player()
    a_submission(one, document_number="SAME123")
    sent = a_submission(other, document_number="same 123")
    with pytest.raises(verification.DuplicateOpen, match=str(one)):
        verification.verify(submission_id=sent.pk, by=reviewer())
    (pair,) = duplicates.pairs_of(other)
    assert [flag.ground for flag in pair.open] == [Ground.NUMBER]
    duplicates.resolve(
        first_id=one.pk,
        second_id=other.pk,
        shown=[pair.open[0].pk],
        resolution=Resolution.DIFFERENT,
        note="Mistyped.",
        by=reviewer(),
    )
    verification.verify(submission_id=sent.pk, by=reviewer())
    assert verification.is_verified(other)


@pytest.mark.django_db
def test_one_person_is_not_verified_twice_while_both_accounts_are_open():
    one, other = a_verified_player(), a_player()
    first = one.submission_set.get()
    sent = a_submission(other, document_number=first.document_number, document_kind=DocumentKind.PASSPORT)
    (pair,) = duplicates.pairs_of(other)
    duplicates.resolve(
        first_id=one.pk,
        second_id=other.pk,
        shown=[flag.pk for flag in pair.open],
        resolution=Resolution.SAME,
        note="Same face.",
        by=reviewer(),
    )
    with pytest.raises(verification.SamePerson, match=str(one)):
        verification.verify(submission_id=sent.pk, by=reviewer())
    disable(one.user)
    verification.verify(submission_id=sent.pk, by=reviewer())
    assert verification.is_verified(other)
