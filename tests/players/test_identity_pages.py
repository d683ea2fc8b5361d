"""The identity page of a player, and the review in the back office."""

import html
import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from players.identity import duplicates, verification
from players.identity.uploads import LARGEST
from players.models import Document, Ground, Part, Player, RefusalReason, Submission, SubmissionStatus
from tests.builders import a_player, a_submission, a_verified_player
from tests.harness.owner import as_owner, without_guards
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, documents_seen
from tests.players.papers import bomb, pdf, picture

pytestmark = pytest.mark.django_db

PAGE = "/en/account/identity/"
SAID = {
    "given_names": "Åsa  Maria",
    "family_name": "O’Neill-Öberg",
    "street": "Storgatan 12 B",
    "postal_code": "111 22",
    "city": "Malmö",
    "phone": "070-123 45 67",
    "document_kind": "passport",
    "document_number": "AB 123456",
}


def file(content: bytes, name: str = "me.jpg", claimed: str = "image/jpeg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content, claimed)


def files(**changes: object) -> dict[str, object]:
    return {"front": file(picture("FRONT")), "address": file(pdf(), "bill.pdf", "application/pdf"), **changes}


@pytest.fixture
def player() -> Player:
    return a_player()


@pytest.fixture
def visitor(player: Player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def staff_visitor(role: str = "compliance") -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def text(answer) -> str:
    return html.unescape(answer.text)


def errors(answer) -> dict[str, list[str]]:
    form = answer.context["form"]
    return {field: list(form.errors[field]) for field in form.errors}


class TestSending:
    def test_everything_is_taken_in(self, visitor, player):
        answer = visitor.post(PAGE, SAID | files(), follow=True)
        assert "We have received everything." in answer.text
        assert "We are reviewing what you sent" in answer.text
        sent = player.submission_set.get()
        assert (sent.given_names, sent.phone) == ("Åsa Maria", "+46701234567")
        kept = dict(sent.document_set.values_list("part", "media_type"))
        assert kept == {"front": "image/jpeg", "address": "application/pdf"}

    @pytest.mark.sweep
    @pytest.mark.parametrize("field", sample(sorted(SAID.keys() - {"phone"}), 3))
    def test_what_is_missing_is_said(self, visitor, field):
        assert errors(visitor.post(PAGE, SAID | {field: ""} | files())) == {field: ["This field is required."]}
        assert not Submission.objects.exists()

    def test_spaces_are_nothing(self, visitor):
        assert errors(visitor.post(PAGE, SAID | {"city": "   "} | files())) == {"city": ["This field is required."]}

    def test_a_telephone_number_may_be_missing(self, visitor, player):
        visitor.post(PAGE, SAID | {"phone": ""} | files())
        assert player.submission_set.get().phone == ""

    @pytest.mark.sweep
    @pytest.mark.parametrize("field", ["front", "address"])
    def test_a_missing_file_is_said(self, visitor, field):
        sent = {name: each for name, each in files().items() if name != field}
        assert errors(visitor.post(PAGE, SAID | sent)) == {field: ["Choose a file."]}

    @pytest.mark.sweep
    @pytest.mark.parametrize("kind", sample(["card", "licence"], 1))
    def test_only_a_passport_has_no_back(self, visitor, player, kind):
        said = SAID | {"document_kind": kind}
        assert errors(visitor.post(PAGE, said | files())) == {
            "back": ["Upload the back as well. Only a passport does not need it."]
        }
        visitor.post(PAGE, said | files(back=file(picture("BACK"))))
        assert player.submission_set.get().document_set.count() == 3

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("content", "message"),
        sample(
            [
                (b"", "This file is empty."),
                (b"x" * (LARGEST + 1), "This file is too large: at most 8 MB."),
                (b"MZ\x90\0 a program", "This file is not a JPEG, PNG or PDF, even if its name says so."),
                (picture()[:2000], "This file is damaged or incomplete. Save it again and upload the new file."),
                (bomb(6500, 4000), "This picture has too many pixels: at most 25 million."),
                (picture(size=(200, 200)), "This picture is too small to read. Take it from a shorter distance."),
                (
                    pdf(password="x"),
                    "This PDF is protected with a password. Save it without a password and upload it again.",
                ),
                (pdf()[:-60], "This file is damaged or incomplete. Save it again and upload the new file."),
            ],
            3,
        ),
        ids=["empty", "large", "disguised", "truncated", "bomb", "small", "locked", "truncated PDF"],
    )
    @pytest.mark.parametrize("field", sample(["front", "back", "address"], 1))
    def test_a_wrong_file_is_refused_with_a_sentence(self, visitor, field, content, message):
        answer = visitor.post(PAGE, SAID | files(**{field: file(content)}))
        assert errors(answer) == {field: [message]}
        assert message in text(answer)
        assert "choose your files again" in answer.text
        assert not Submission.objects.exists()

    @pytest.mark.parametrize(
        "name", sample(["../../etc/passwd", "a\0b.jpg", "x" * 300, "<script>.jpg", "invoice.pdf"], 1)
    )
    def test_the_name_of_a_file_means_nothing(self, visitor, player, name):
        visitor.post(PAGE, SAID | files(front=file(picture(), name, "text/html")))
        assert player.submission_set.get().document_set.get(part=Part.FRONT).media_type == "image/jpeg"

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("field", "typed"),
        sample(
            [
                ("given_names", "R2D2"),
                ("given_names", "<script>alert(1)</script>"),
                ("family_name", "-"),
                ("family_name", "a" * 121),
                ("street", "---"),
                ("postal_code", "?"),
                ("postal_code", "1" * 21),
                ("city", "12345"),
                ("phone", "12"),
                ("phone", "call me"),
                ("document_kind", "library card"),
                ("document_number", "№ 1"),
                ("document_number", "AB"),
                ("given_names", "Anna\0"),
            ],
            4,
        ),
    )
    def test_nonsense_is_refused_with_a_sentence(self, visitor, field, typed):
        answer = visitor.post(PAGE, SAID | {field: typed} | files())
        assert list(errors(answer)) == [field]
        assert not Submission.objects.exists()

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        "name", sample(["Åsa", "Jean-Pierre", "Ștefan Țăran", "D’Arcy", "J. R. R.", "Þóra", "Αθηνά", "王"], 3)
    )
    def test_names_of_all_the_world_are_taken(self, visitor, player, name):
        visitor.post(PAGE, SAID | {"given_names": name} | files())
        assert player.submission_set.get().given_names == name

    @pytest.mark.sweep
    def test_what_waits_is_not_sent_twice(self, visitor, player):
        visitor.post(PAGE, SAID | files())
        answer = visitor.post(PAGE, SAID | files(), follow=True)
        assert "We are still reviewing your earlier documents. Nothing was sent again." in answer.text
        assert player.submission_set.count() == 1

    def test_too_much_at_once_is_said(self, visitor):
        answer = visitor.get(f"{PAGE}?too-much=1")
        assert "Your files are too large in total." in answer.text

    @pytest.mark.sweep
    def test_nobody_sends_a_hundred_in_a_minute(self, visitor):
        with time_machine.travel(datetime.now(UTC), tick=False):  # keeps the minute
            answers = {visitor.post(PAGE, {}).status_code for _ in range(31)}
        assert 429 in answers


class TestThePage:
    def test_asks_players_who_have_not_begun(self, visitor):
        answer = visitor.get(PAGE)
        assert "Identity verification" in answer.text
        assert 'enctype="multipart/form-data"' in answer.text

    def test_shows_what_was_sent_and_when_but_no_document(self, visitor, player):
        sent = a_submission(player, street="Hemgatan 7", document_number="XY987654")
        answer = text(visitor.get(PAGE))
        for stated in ("Hemgatan 7", "XY987654", "Passport", "Front, Proof of address"):
            assert stated in answer
        theirs = sent.sent_at.astimezone(ZoneInfo(player.jurisdiction.time_zone))
        assert f'datetime="{theirs.isoformat()[:16]}' in answer
        assert "<form" in answer
        assert "identity-form" not in answer
        assert str(sent.document_set.get(part=Part.FRONT).pk) not in answer

    @pytest.mark.sweep
    def test_tells_why_it_was_refused(self, visitor, player):
        sent = a_submission(player)
        verification.refuse(
            submission_id=sent.pk,
            reason=RefusalReason.EXPIRED,
            note="It ended in <May>.",
            by=a_member_of_staff("support"),
        )
        answer = visitor.get(PAGE)
        assert "A document has expired." in answer.text
        assert "It ended in &lt;May&gt;." in answer.text
        assert "identity-form" in answer.text
        assert f'value="{sent.document_number}"' in answer.text

    @pytest.mark.sweep
    def test_says_that_everything_is_done_and_takes_a_change(self):
        player = a_verified_player()
        visitor = a_visitor()
        visitor.force_login(player.user)
        answer = visitor.get(PAGE)
        assert "Your identity is verified" in answer.text
        assert "Has your name or address changed?" in answer.text
        visitor.post(PAGE, SAID | files())
        assert not verification.is_verified(player)

    def test_is_about_its_reader_only(self, visitor):
        a_submission(a_player(), street="Someone else’s street 1")
        assert "Someone else" not in text(visitor.get(PAGE))

    @pytest.mark.sweep
    def test_is_led_to_from_the_account(self, visitor):
        assert PAGE in visitor.get("/en/account/").text


class TestTheBackOffice:
    @pytest.mark.sweep
    def test_says_so_where_nothing_waits(self):
        assert "No documents to review." in staff_visitor().get("/staff/identity/").text

    @pytest.mark.sweep
    def test_lists_what_waits_and_leads_to_it(self):
        sent = a_submission(a_player())
        visitor = staff_visitor("support")
        assert f"/staff/identity/{sent.pk}/" in visitor.get("/staff/identity/").text
        case = text(visitor.get(f"/staff/identity/{sent.pk}/"))
        for stated in (sent.family_name, sent.street, sent.document_number, sent.player.user.email, "1990-01-01"):
            assert stated in case

    def test_a_case_alone_shows_no_document_to_anyone(self):
        """A document embedded in the page would be recorded as viewed by everyone who opens the
        page.
        """
        sent = a_submission(a_player())
        staff_visitor().get(f"/staff/identity/{sent.pk}/")
        assert documents_seen(sent.player) == []

    def test_a_picture_is_shown_a_pdf_handed_out_and_both_recorded(self, visitor, player):
        visitor.post(PAGE, SAID | files())
        reviewer = staff_visitor()
        for part, way, kind in (
            (Part.FRONT, "inline", "image/jpeg"),
            (Part.ADDRESS, "attachment", "application/pdf"),
        ):
            document = Document.objects.get(submission__player=player, part=part)
            answer = reviewer.get(f"/staff/documents/{document.pk}/")
            assert answer["Content-Disposition"].startswith(f"{way};")
            assert answer["Content-Type"] == kind
            assert len(answer.content) == document.size
        assert documents_seen(player) == ["document: front", "document: address"]

    def test_an_erased_document_is_gone_and_the_case_says_so(self):
        sent = a_submission(a_player())
        document = sent.document_set.get(part=Part.FRONT)
        with without_guards("players_documentcontent"):
            as_owner("DELETE FROM players_documentcontent WHERE document_id = %s", [str(document.pk)])
        reviewer = staff_visitor()
        assert reviewer.get(f"/staff/documents/{document.pk}/").status_code == 404
        assert "erased" in reviewer.get(f"/staff/identity/{sent.pk}/").text

    @pytest.mark.sweep
    @pytest.mark.parametrize("role", sample(["operator", "supervisor", "finance"], 1))
    def test_who_refuses_somebody_else_is_not_recorded_as_having_seen_it(self, role):
        document = a_submission(a_player()).document_set.get(part=Part.FRONT)
        assert staff_visitor(role).get(f"/staff/documents/{document.pk}/").status_code == 403
        assert documents_seen(document.player) == []

    def test_a_player_never_gets_a_document_not_even_their_own(self, visitor, player):
        document = a_submission(player).document_set.get(part=Part.FRONT)
        assert visitor.get(f"/staff/documents/{document.pk}/").status_code == 403

    @pytest.mark.sweep
    @pytest.mark.parametrize("address", ["identity/999999999/", "identity/99999999999999999999999/"])
    def test_what_is_not_there_is_not_there(self, address):
        assert staff_visitor().get(f"/staff/{address}").status_code == 404

    def test_verifies(self):
        sent = a_submission(a_player())
        answer = staff_visitor().post(f"/staff/identity/{sent.pk}/verify/", {"agrees": "on"}, follow=True)
        assert f"{sent.player} is verified and has been notified by e-mail." in answer.text
        assert verification.is_verified(sent.player)

    def test_verifies_nobody_unless_somebody_says_that_all_agrees(self):
        sent = a_submission(a_player())
        answer = staff_visitor().post(f"/staff/identity/{sent.pk}/verify/", follow=True)
        assert "tick that all details match" in answer.text
        assert not verification.is_verified(sent.player)

    @pytest.mark.sweep
    def test_refuses_with_a_reason(self):
        sent = a_submission(a_player())
        answer = staff_visitor().post(
            f"/staff/identity/{sent.pk}/refuse/", {"reason": "altered", "note": "See the edge."}, follow=True
        )
        assert "is refused and has been notified by e-mail." in answer.text
        sent.refresh_from_db()
        assert (sent.status, sent.reason, sent.note) == (SubmissionStatus.REFUSED, "altered", "See the edge.")

    @pytest.mark.sweep
    @pytest.mark.parametrize("reason", ["", "because"])
    def test_refuses_not_without_a_reason(self, reason):
        sent = a_submission(a_player())
        answer = staff_visitor().post(f"/staff/identity/{sent.pk}/refuse/", {"reason": reason})
        assert answer.context["form"].errors
        sent.refresh_from_db()
        assert sent.status == SubmissionStatus.SUBMITTED

    @pytest.mark.sweep
    @pytest.mark.parametrize("what", sample(["verify", "refuse"], 1))
    def test_the_second_reviewer_learns_who_was_faster(self, what):
        sent = a_submission(a_player())
        staff_visitor().post(f"/staff/identity/{sent.pk}/verify/", {"agrees": "on"})
        answer = staff_visitor().post(
            f"/staff/identity/{sent.pk}/{what}/", {"reason": "expired", "agrees": "on"}, follow=True
        )
        assert "Someone has already verified this." in answer.text
        assert 'id="verify"' not in answer.text

    @pytest.mark.sweep
    def test_a_likely_duplicate_is_resolved_before(self):
        one, other = a_player(), a_player()
        a_submission(one, document_number="SAME1234")
        sent = a_submission(other, document_number="SAME1234")
        reviewer = staff_visitor()
        case = reviewer.get(f"/staff/identity/{sent.pk}/").text
        assert "Same document number" in case
        refused = reviewer.post(f"/staff/identity/{sent.pk}/verify/", {"agrees": "on"}, follow=True)
        assert f"Resolve the possible duplicate with {one} first." in refused.text
        address = f"/staff/duplicates/{one.pk}/{other.pk}/"
        assert address in reviewer.get("/staff/duplicates/").text
        (shown,) = re.findall(r'name="shown" value="(\d+)"', reviewer.get(address).text)
        assert (
            "Choose a result" in reviewer.post(address, {"shown": shown, "resolution": "different"}, follow=True).text
        )
        given = {"shown": shown, "resolution": "different", "note": "A digit was misread."}
        assert "Resolved:" in reviewer.post(address, given, follow=True).text
        assert "Another person has already resolved this pair." in reviewer.post(address, given, follow=True).text
        assert "No possible duplicates." in reviewer.get("/staff/duplicates/").text
        assert "A digit was misread." in reviewer.get(f"/staff/identity/{sent.pk}/").text
        reviewer.post(f"/staff/identity/{sent.pk}/verify/", {"agrees": "on"})
        assert verification.is_verified(other)

    def test_several_pairs_are_resolved_with_one_reason_and_listed_as_decided(self):
        players = [a_player() for _ in range(4)]
        for number, player in enumerate(players):
            duplicates.note(player=player, ground=Ground.PAYOUT, value=f"SAME{number // 2}")
        known, surprising = duplicates.waiting_flags().order_by("pk")
        reviewer = staff_visitor()
        chosen = {"action": "different", "chosen": [known.pk, surprising.pk]}
        preview = reviewer.post("/staff/duplicates/", chosen).text
        assert "Different people: 2 of 2" in preview
        assert "Paid to the same account: Different people." in preview
        assert duplicates.waiting().count() == 2
        for player in players[2:]:  # after the preview was read
            duplicates.note(player=player, ground=Ground.PHONE, value="+46701234567")
        done = reviewer.post("/staff/duplicates/", chosen | {"confirm": "yes", "reason": "Married couples."}).text
        assert "Different people: done for 1 of 2" in done
        assert "More matching data has been found. Open the pair and read it first." in done
        (pair,) = duplicates.pairs_of(players[0])
        assert [(flag.resolution, flag.note) for flag in pair.flags] == [("different", "Married couples.")]
        assert len(duplicates.pairs_of(players[2])[0].open) == 2
        decided = reviewer.get("/staff/duplicates/?state=resolved").text
        assert "Married couples." in decided
        assert f"/staff/duplicates/{players[0].pk}/{players[1].pk}/" in decided
        assert f"/staff/duplicates/{players[2].pk}/{players[3].pk}/" not in decided

    @pytest.mark.sweep
    @pytest.mark.parametrize("shown", sample(["", "x", "9" * 30, "-1"], 1))
    def test_takes_nonsense_calmly(self, shown):
        one, other = a_player(), a_player()
        for player in (one, other):
            duplicates.note(player=player, ground=Ground.PAYOUT, value="SAME1234")
        sent = {"shown": shown, "resolution": "same", "note": "x"}
        answer = staff_visitor().post(f"/staff/duplicates/{one.pk}/{other.pk}/", sent, follow=True)
        assert answer.status_code == 200
        assert duplicates.waiting()
