"""Documents about the source of funds: asked for in the case, sent by the player, reviewed, missing at the deadline."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from accounts import data_export, retention
from players import cases
from players.identity import requested_documents, verification
from players.identity.uploads import check_upload
from players.models import (
    Case,
    CaseAction,
    CaseEntry,
    Document,
    DocumentContent,
    Mail,
    Paper,
    PaperState,
    Player,
    RequestedDocument,
    Staff,
)
from tests.attacks.statements import refused
from tests.attacks.statements import send as send_statement
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import a_member_of_staff, events
from tests.players import papers

LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def compliance(db) -> Staff:
    return a_member_of_staff("compliance")


@pytest.fixture
def case(compliance) -> Case:
    number = cases.ask_source_of_funds(player=a_player(), due_at=LATER, reason="above income", by=compliance)
    return Case.objects.select_related("player__user").get(pk=number)


def logged_in(person: Player | Staff) -> Client:
    visitor = Client()
    visitor.force_login(person.user)
    return visitor


def asked(case: Case, by: Staff, paper: Paper = Paper.PAYSLIP, note: str = "March to May") -> RequestedDocument:
    requested_documents.ask(case=case, paper=paper, note=note, by=by)
    return RequestedDocument.objects.select_related("case__player__user").latest("pk")


def send(case: Case, number: int) -> None:
    requested_documents.receive(player=case.player, number=number, file=check_upload(papers.picture()))


def taken(case: Case) -> list[str]:
    return list(CaseEntry.objects.filter(case=case).order_by("pk").values_list("action", flat=True))


def test_a_document_is_asked_for_sent_refused_sent_again_and_accepted(case, compliance):
    desk, visitor, address = logged_in(compliance), logged_in(case.player), reverse("staff_case", args=[case.pk])
    review = reverse("staff_case_document", args=[case.pk])
    desk.post(review, {"paper": "payslip", "note": "March to May"})
    request = RequestedDocument.objects.get()
    assert Mail.objects.get(template="documents_asked").user == case.player.user
    page = visitor.get("/en/account/documents/").text
    assert "March to May" in page
    assert "Requested" in page
    assert "above income" not in page
    assert "Waiting for you" in visitor.get("/en/account/").text
    seen: list[UUID] = []
    for reason in ("It cannot be read.", ""):
        file = SimpleUploadedFile("mine.jpg", papers.picture())
        sent = visitor.post("/en/account/documents/", {"number": request.pk, "file": file}, follow=True)
        assert "We have received your document" in sent.text
        document = Document.objects.exclude(pk__in=seen).get(request=request)
        seen.append(document.pk)
        assert desk.get(reverse("staff_document", args=[document.pk])).headers["Content-Type"] == "image/jpeg"
        desk.post(review, {"number": request.pk, "reason": reason, **({} if reason else {"accepts": "1"})})
        shown = visitor.get("/en/account/documents/").text
        assert (reason or "Accepted") in shown
    assert "It cannot be read." in Mail.objects.get(template="documents_refused").body
    assert taken(case) == ["opened", "asked", "received", "refused", "received", "accepted"]
    assert "Document accepted" in desk.get(address).text
    viewed = [event for event in events("data.accessed") if "payslip" in str(event)]
    assert len(viewed) == 2
    late = visitor.post(
        "/en/account/documents/",
        {"number": request.pk, "file": SimpleUploadedFile("a.jpg", papers.picture())},
        follow=True,
    )
    assert "Nothing was sent." in late.text
    assert Document.objects.count() == 2


def test_others_neither_send_nor_see_it(case, compliance):
    request = asked(case, compliance)
    other = logged_in(a_player())
    file = SimpleUploadedFile("mine.jpg", papers.picture())
    assert other.post("/en/account/documents/", {"number": request.pk, "file": file}).status_code == 404
    assert "We have not asked you for any documents." in other.get("/en/account/documents/").text
    send(case, request.pk)
    document = Document.objects.get()
    address = reverse("staff_document", args=[document.pk])
    assert logged_in(a_member_of_staff("support")).get(address).status_code == 403
    assert logged_in(a_member_of_staff("finance")).get(address).status_code == 403


def test_past_the_deadline_payouts_are_held_only_for_what_the_player_owes(case, compliance):
    waiting, done = asked(case, compliance), asked(case, compliance, Paper.BANK)
    send(case, done.pk)
    other = Case.objects.get(
        pk=cases.ask_source_of_funds(player=a_player(), due_at=LATER, reason="above income", by=compliance)
    )
    send(other, asked(other, compliance).pk)
    as_owner("UPDATE players_case SET due_at = now() - interval '1 hour'")
    assert [cases.enter_overdue() for _ in range(2)] == [2, 0]
    for each, holds in ((case, True), (other, False)):
        each.refresh_from_db()
        assert each.holds is holds
    assert taken(case)[-2:] == ["overdue", "held"]
    assert taken(other)[-1] == "overdue"
    assert {event["on"] for event in events("case.overdue")} == {str(case), str(other)}
    assert waiting.state == PaperState.ASKED


def test_the_player_is_reminded_once_before_the_deadline(case, compliance):
    asked(case, compliance)
    assert requested_documents.remind() == 0
    soon = f"{datetime.now(UTC) + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
    cases.act(case=case, action=CaseAction.DUE, by=compliance, to=soon)
    assert [requested_documents.remind() for _ in range(2)] == [1, 0]
    assert Mail.objects.filter(template="documents_reminder", user=case.player.user).count() == 1
    assert taken(case)[-1] == "reminded"


def test_the_player_is_reminded_again_before_each_new_deadline(case, compliance):
    def set_due(days: int) -> None:
        due = f"{datetime.now(UTC) + timedelta(days=days):%Y-%m-%dT%H:%M:%SZ}"
        cases.act(case=case, action=CaseAction.DUE, by=compliance, to=due)

    asked(case, compliance)
    set_due(2)
    assert requested_documents.remind() == 1
    set_due(1)
    assert requested_documents.remind() == 1
    cases.act(case=case, action=CaseAction.CLOSED, by=compliance, to="explained", words="Sold a house.")
    cases.act(case=case, action=CaseAction.REOPENED, by=compliance, words="The contract is forged.")
    assert requested_documents.remind() == 0  # the deadline has not changed
    cases.act(case=case, action=CaseAction.CLOSED, by=compliance, to="explained", words="Sold a house.")
    as_owner("UPDATE players_case SET due_at = now() - interval '1 day'")
    cases.act(case=case, action=CaseAction.REOPENED, by=compliance, words="The contract is forged.")
    as_owner("UPDATE players_case SET due_at = now() + interval '2 days'")
    assert requested_documents.remind() == 1
    assert Mail.objects.filter(template="documents_reminder", user=case.player.user).count() == 3


def test_is_in_the_player_s_export_and_its_reason_is_not(case, compliance):
    send(case, asked(case, compliance).pk)
    stated = str([row for part in data_export.PARTS for row in part.rows(case.player)])
    assert "March to May" in stated
    assert "above income" not in stated
    assert b"documents/" in b"".join(data_export.export(case.player))


def test_what_staff_have_to_review_is_neither_added_to_nor_deleted(case, compliance):
    """The login role of web and workers inserts contents; only a function deletes what is over."""
    request = asked(case, compliance)
    early = Document.objects.create(request=request, media_type="image/jpeg", size=1)
    send(case, request.pk)
    with pytest.raises(IntegrityError, match="stays as its review says"), transaction.atomic():
        DocumentContent.objects.create(document=early, sealed=b"another")
    delete = "DELETE FROM players_documentcontent"
    refused(delete)
    as_owner("GRANT DELETE ON players_documentcontent TO sabot_app")
    refused(delete, by="23001")
    as_owner("DROP TRIGGER players_documentcontent_is_kept ON players_documentcontent")
    send_statement(delete)
    assert not DocumentContent.objects.exists()


def test_what_was_refused_goes_after_its_time_once_the_case_is_closed(case, compliance):
    request = asked(case, compliance)
    send(case, request.pk)
    requested_documents.review(asked=request, accepts=False, reason="unreadable", by=compliance)
    send(case, request.pk)
    requested_documents.review(asked=request, accepts=True, reason="", by=compliance)
    assert Document.objects.filter(refused_at=None).count() == 1
    as_owner("UPDATE players_document SET refused_at = refused_at - interval '366 days'")
    assert verification.forget_refused() == 0  # the case is open
    cases.act(case=case, action=CaseAction.CLOSED, by=compliance, to="explained", words="Sold a house.")
    as_owner("UPDATE players_document SET refused_at = refused_at + interval '2 days'")
    assert verification.forget_refused() == 0  # too early
    as_owner("UPDATE players_document SET refused_at = refused_at - interval '2 days'")
    assert verification.forget_refused() == 1
    assert Document.objects.filter(content=None).get().refused_at is not None
    assert "File 1: erased" in logged_in(compliance).get(reverse("staff_case", args=[case.pk])).text


def test_its_content_goes_with_the_account(case, compliance):
    send(case, asked(case, compliance).pk)
    closing = "INSERT INTO players_closure (player_id, state, by, at) VALUES (%s, 'closed', 'system', '2001-01-01')"
    as_owner(closing, [case.player.pk])
    as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [case.player.user_id])
    retention.erase(case.player)
    assert not DocumentContent.objects.exists()


def test_a_case_is_not_closed_as_in_order_while_a_document_is_under_review(case, compliance):
    request, desk, page = asked(case, compliance), logged_in(compliance), reverse("staff_case", args=[case.pk])
    send(case, request.pk)
    closing = {"action": "closed", "to": "explained", "words": "Sold a house."}
    shown = desk.get(page).text
    assert (
        "Documents are under review. Accept or refuse them before you close the case as “No reason for concern” or "
        "“Explained and documented”." in shown
    )
    for outcome in ("no_concern", "explained"):
        said = desk.post(reverse("staff_case_act", args=[case.pk]), closing | {"to": outcome}, follow=True).text
        assert (
            "A document of this case is still under review. Accept or refuse it before you close the case with this "
            "reason." in said
        )
    case.refresh_from_db()
    assert (case.closed_at, taken(case)[-1]) == (None, "received")
    requested_documents.review(asked=request, accepts=True, reason="", by=compliance)
    assert "Recorded: closed." in desk.post(reverse("staff_case_act", args=[case.pk]), closing, follow=True).text


@pytest.mark.parametrize("outcome", ["reported", "ended"])
def test_a_suspicion_is_closed_without_a_review_that_would_warn_the_player(case, compliance, outcome):
    send(case, asked(case, compliance).pk)
    mails = Mail.objects.count()
    assert "closing-words" in logged_in(compliance).get(reverse("staff_case", args=[case.pk])).text
    cases.act(case=case, action=CaseAction.CLOSED, by=compliance, to=outcome, words="The payslip is forged.")
    case.refresh_from_db()
    assert (case.outcome, Mail.objects.count()) == (outcome, mails)
    assert "Received, under review" in logged_in(case.player).get("/en/account/documents/").text


def test_a_refusal_without_a_reason_says_what_is_missing(case, compliance):
    request, desk = asked(case, compliance), logged_in(compliance)
    send(case, request.pk)
    address = reverse("staff_case_document", args=[case.pk])
    assert (
        "Enter the reason for the refusal. The player reads it."
        in desk.post(address, {"number": request.pk, "reason": " "}, follow=True).text
    )
    assert "Enter a note that says which document you need." in desk.post(address, {"paper": "other"}, follow=True).text
    assert taken(case) == ["opened", "asked", "received"]


def test_a_text_that_is_too_long_is_not_called_missing(case, compliance):
    request, desk, address = (
        asked(case, compliance),
        logged_in(compliance),
        reverse("staff_case_document", args=[case.pk]),
    )
    send(case, request.pk)
    for said in ({"number": request.pk, "reason": "x" * 1001}, {"paper": "other", "note": "x" * 1001}):
        answer = desk.post(address, said, follow=True).text
        assert "at most 1000 characters (it has 1001)" in answer
    assert taken(case) == ["opened", "asked", "received"]


def test_a_case_that_is_closed_says_which_documents_the_player_still_owes(case, compliance):
    asked(case, compliance)
    shown = logged_in(compliance).get(reverse("staff_case", args=[case.pk])).text
    assert "1 requested document is missing. Closing the case ends the request." in shown


def test_a_closed_case_waits_for_nothing(case, compliance):
    request = asked(case, compliance)
    cases.act(case=case, action=CaseAction.CLOSED, by=compliance, to="explained", words="Sold a house.")
    assert not requested_documents.is_waited_for(case.player)
    with pytest.raises(cases.AlreadyDone):
        send(case, request.pk)
    with pytest.raises(cases.AlreadyDone):
        asked(case, compliance)
    assert not DocumentContent.objects.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE players_requested_document SET state = 'accepted'",
        "INSERT INTO players_requested_document SELECT * FROM players_requested_document",
        "DELETE FROM players_requested_document",
        "SELECT players_review_document(id, {staff}, true, '') FROM players_requested_document",
        "SELECT players_receive_document(id, gen_random_uuid()) FROM players_requested_document",
        "SELECT players_ask_document(case_id, {support}, 'payslip', '') FROM players_requested_document",
        "SELECT players_ask_document(case_id, {staff}, 'other', '') FROM players_requested_document",
    ],
)
def test_the_web_login_cannot_write_past_the_functions(case, compliance, statement):
    asked(case, compliance)
    said = statement.format(staff=compliance.pk, support=a_member_of_staff("support").pk)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(said)
