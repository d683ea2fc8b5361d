"""Complaints: the case in which staff work, the decision that the player reads, and reopening."""

import csv
import io
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse
from django.utils import translation
from psycopg import errors

from accounts import data_export
from players import cases
from players.models import (
    Case,
    CaseAction,
    CaseEntry,
    CaseOutcome,
    Conversation,
    ConversationState,
    Jurisdiction,
    Mail,
    Player,
    ServiceMessage,
    Staff,
    Topic,
)
from players.support import complaints, conversations
from players.support.staff_replies import TURN_TO
from tests.builders import a_player, a_round, a_table, a_verified_player, an_overdue_complaint
from tests.people import a_member_of_staff, events
from tests.reports_history import clock
from tests.wallet.at_the_bank import a_payment
from tests.wallet.payout_builders import a_withdrawal
from wallet.models import Entry

STATE = ConversationState


@pytest.fixture
def player(db) -> Player:
    return a_player("SE")


@pytest.fixture
def support(db) -> Staff:
    return a_member_of_staff("support", name="Ulla Vester")


@pytest.fixture
def colleague(db) -> Staff:
    return a_member_of_staff("compliance", name="Bo Lind")


def logged_in(person: Player | Staff) -> Client:
    visitor = Client()
    visitor.force_login(person.user)
    return visitor


def a_complaint(player: Player) -> Conversation:
    return conversations.begin(player=player, topic=Topic.COMPLAINT, text="That was no natural.")


def last(conversation: Conversation) -> int:
    return conversation.messages.latest("pk").pk


def decided(conversation: Conversation, by: Staff, verdict: CaseOutcome = CaseOutcome.REJECTED) -> Conversation:
    return complaints.decide(
        by=by, conversation_id=conversation.pk, verdict=verdict, reasons="It was one.", seen=last(conversation)
    )


def assigned(conversation: Conversation, by: Staff, to: Staff | None) -> Case:
    case = complaints.case_of(conversation)
    cases.act(case=case, action=CaseAction.ASSIGNED, by=by, to=str(to) if to else "")
    return complaints.case_of(conversation)


def objects_of(player: Player) -> list[str]:
    """Return what a case can be linked to, of a player: each kind once."""
    played, payment = a_round(player, a_table(f"of-{player.pk}"), player=10_00), a_payment(player, 100_00)
    journal = Entry.objects.filter(account__owner=player).latest("pk").journal_id
    return [
        str(player),
        f"conversation:{a_complaint(player).pk}",
        f"withdrawal:{a_withdrawal(player, 100_00).pk}",
        f"deposit:{payment.pk}",
        f"journal:{journal}",
        f"round:{played.round_id}",
    ]


def page_of(conversation: Conversation) -> str:
    return reverse("staff_case", args=[complaints.case_of(conversation).pk])


def entries(conversation: Conversation) -> list[tuple[str, str]]:
    return list(complaints.case_of(conversation).entries.order_by("pk").values_list("action", "to"))[1:]


class TestTheCase:
    def test_is_opened_by_the_database_with_the_deadline_of_the_jurisdiction_and_its_round(self, player):
        case = complaints.case_of(a_complaint(player))
        assert (case.opened_by, case.owner, case.holds) == (str(player), None, False)
        assert abs(case.due_at - case.opened_at - timedelta(days=14)) < timedelta(minutes=1)
        (event,) = events("complaint.opened")
        assert (event["by"], event["on"], event["data"]["case"]) == (str(player), str(player), case.pk)
        assert "natural" not in str(event)

    def test_is_worked_on_as_every_other_case(self, player, support, colleague):
        complaint, desk = a_complaint(player), logged_in(support)
        address = page_of(complaint)
        assert desk.get(f"/staff/service/{complaint.pk}/").headers["Location"] == address
        for said in (
            {"action": "assigned", "to": str(colleague)},
            {"action": "noted", "words": "Seen on the video."},
            {"action": "linked", "kind": "conversation", "to": str(complaint.pk)},
        ):
            desk.post(f"{address}act/", said)
        assert entries(complaint) == [
            ("assigned", str(colleague)),
            ("noted", ""),
            ("linked", f"conversation:{complaint.pk}"),
        ]
        page = logged_in(colleague).get(address).text
        for shown in (
            "That was no natural.",
            "Seen on the video.",
            f"Message {complaint.pk}",
            "Bo Lind",
            "Preview decision",
        ):
            assert shown in page
        assert "Seen on the video." in logged_in(colleague).get(address, {"as": "csv"}).text
        case = complaints.case_of(complaint)
        assert (case.owner, Conversation.objects.get().state) == (colleague, STATE.IN_REVIEW)
        assigned(complaint, support, None)
        assert Conversation.objects.get().state == STATE.RECEIVED

    def test_holds_no_payouts_keeps_its_deadline_and_links_no_suspicion(self, player, colleague):
        case = complaints.case_of(a_complaint(player))
        later = case.due_at + timedelta(days=900)
        funds = cases.ask_source_of_funds(player=player, due_at=later, reason="above income", by=colleague)
        for action, to in (
            (CaseAction.HELD, ""),
            (CaseAction.DUE, f"{later:%Y-%m-%dT%H:%M:%SZ}"),
            (CaseAction.LINKED, f"case:{funds}"),
        ):
            with pytest.raises(cases.DoesNotFit):
                cases.act(case=case, action=action, by=colleague, to=to, words="for a test")

    def test_links_only_to_what_is_the_player_s_own(self, support, colleague):
        """The player exports its history. A case that the player never reads may be about what another one did."""
        players = [a_verified_player(real=1_000_00) for _ in range(2)]
        own, others = (objects_of(each) for each in players)
        case = complaints.case_of(a_complaint(players[0]))
        funds = cases.ask_source_of_funds(player=players[0], due_at=case.due_at, reason="above income", by=colleague)
        for mine, theirs in zip(own, others, strict=True):
            cases.act(case=case, action=CaseAction.LINKED, by=support, to=mine)
            with pytest.raises(cases.DoesNotFit):
                cases.act(case=case, action=CaseAction.LINKED, by=support, to=theirs)
            cases.act(case=Case.objects.get(pk=funds), action=CaseAction.LINKED, by=colleague, to=theirs)
        for nothing in (
            f"player:{2**40}",
            f"withdrawal:{2**40}",
            f"journal:{2**40}",
            f"table:{2**40}",
            f"round:{uuid4()}",
        ):
            with pytest.raises(cases.DoesNotFit):
                cases.act(case=Case.objects.get(pk=funds), action=CaseAction.LINKED, by=colleague, to=nothing)

    def test_is_nobody_s_who_answers_no_players(self, player, support):
        complaint = a_complaint(player)
        with pytest.raises(cases.DoesNotFit):
            assigned(complaint, support, a_member_of_staff("finance"))
        with pytest.raises(cases.MayNot):
            assigned(complaint, a_member_of_staff("finance"), support)
        assert entries(complaint) == []

    def test_a_question_has_none(self, player, support):
        asked = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        assert cases.of_conversation(asked) is None
        assert logged_in(support).get(f"/staff/service/{asked.pk}/").status_code == 200

    def test_the_player_s_message_goes_to_its_owner(self, player, support):
        case = a_complaint(player)
        conversations.answer(staff=support, conversation_id=case.pk, text="Which?", seen=last(case))
        assigned(case, support, support)
        assert Conversation.objects.get().state == STATE.ANSWERED
        conversations.reply(player=player, conversation_id=case.pk, text="The third.")
        assert Conversation.objects.get().state == STATE.IN_REVIEW

    def test_the_player_reads_a_role_and_no_name(self, player, colleague):
        case = a_complaint(player)
        assigned(case, colleague, colleague)
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "our compliance team" in page
        assert "Under review" in page
        assert "Bo Lind" not in page

    def test_the_player_exports_its_history(self, player, support):
        cases.act(case=complaints.case_of(a_complaint(player)), action=CaseAction.NOTED, by=support, words="Polite.")
        stated = {part.name: list(part.rows(player)) for part in data_export.PARTS}
        assert len(stated["complaints"]) == 1
        assert [row["text"] for row in stated["handling of complaints"]] == ["", "Polite."]


class TestDeciding:
    def test_gli19_a_4_4_the_player_reads_the_decision_why_and_where_to_go_on(self, player, support):
        case = a_complaint(player)
        sent = logged_in(support).post(
            f"/staff/service/{case.pk}/decide/",
            {"text": "The rule says so.", "verdict": "rejected", "seen": last(case), "sure": "on"},
            follow=True,
        )
        assert "Complaint decided. The player has been notified by e-mail." in sent.text
        (stated,) = Mail.objects.filter(template="complaint_decided")
        assert str(case.pk) in stated.body
        assert "The rule says so." not in stated.body
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        for words in ("Complaint not upheld", "The rule says so.", TURN_TO["SE"], "I do not agree"):
            assert words in page

    def test_only_the_player_is_addressed_as_you(self, player, support):
        case = decided(a_complaint(player), support, CaseOutcome.UPHELD)
        with translation.override("da"):
            assert "Du får medhold" in logged_in(player).get(f"/da/service/{case.pk}/").text
            assert complaints.case_of(case).get_outcome_display() == "Klage imødekommet"

    def test_who_is_right_is_not_sent_elsewhere(self, player, support):
        case = decided(a_complaint(player), support, CaseOutcome.UPHELD)
        assert TURN_TO["SE"] not in logged_in(player).get(f"/en/service/{case.pk}/").text

    @pytest.mark.sweep
    def test_is_shown_in_the_player_s_language_and_taken_only_when_that_is_ticked(self, player, support):
        player.user.language = "sv"
        player.user.save()
        case, desk = a_complaint(player), logged_in(support)
        address, data = f"/staff/service/{case.pk}/decide/", {"text": "Så är det.", "verdict": "rejected"}
        shown = desk.post(address, data | {"seen": last(case)}).text
        as_read = shown.partition("Preview for the player")[2]
        for words in ('lang="sv"', "Vårt beslut", "Så är det.", TURN_TO["SE"], "It cannot be changed afterwards."):
            assert words in as_read
        assert "Nothing was decided" not in as_read
        assert "Nothing was decided" in desk.post(address, data | {"seen": last(case), "decide": "yes"}).text
        assert Conversation.objects.get().state == STATE.RECEIVED
        assert (
            TURN_TO["SE"]
            not in desk.post(address, data | {"seen": last(case), "verdict": "upheld"}).text.partition(
                "Preview for the player"
            )[2]
        )
        desk.post(address, data | {"seen": last(case), "decide": "yes", "sure": "on"})
        assert Conversation.objects.get().state == STATE.CLOSED

    def test_it_is_whose_who_decides(self, player, support, colleague):
        case = a_complaint(player)
        assigned(case, support, support)
        decided(case, colleague)
        assert entries(case) == [("assigned", str(support)), ("assigned", str(colleague)), ("closed", "rejected")]
        ended = complaints.case_of(case)
        assert (ended.owner, ended.closed_by, ended.outcome) == (colleague, colleague, CaseOutcome.REJECTED)

    @pytest.mark.sweep
    def test_the_earlier_decider_reads_when_it_is_open_again(self, player, support, colleague):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        address = page_of(case)
        assert "You decided this complaint before" in logged_in(support).get(address).text
        assert "You decided this complaint before" not in logged_in(colleague).get(address).text

    @pytest.mark.sweep
    def test_is_for_those_who_do_not_run_the_tables(self, player):
        case, operator = a_complaint(player), logged_in(a_member_of_staff("operator"))
        assert "Preview decision" not in operator.get(page_of(case)).text
        data = {"text": "No.", "verdict": "rejected", "seen": last(case), "sure": "on"}
        assert operator.post(f"/staff/service/{case.pk}/decide/", data).status_code == 403
        with pytest.raises(cases.MayNot):
            decided(case, a_member_of_staff("operator"))

    def test_the_player_s_message_of_the_meantime_is_read_first(self, player, support):
        case = a_complaint(player)
        data = {"text": "Not typed again.", "verdict": "rejected", "seen": last(case), "sure": "on"}
        conversations.reply(player=player, conversation_id=case.pk, text="It has solved itself.")
        page = logged_in(support).post(f"/staff/service/{case.pk}/decide/", data).text
        assert "Not sent: a new message has arrived." in page
        assert "Not typed again." in page
        assert Conversation.objects.get().state == STATE.RECEIVED

    @pytest.mark.sweep
    def test_begins_from_a_template(self, player, support):
        case, desk = a_complaint(player), logged_in(support)
        offered = desk.get(page_of(case)).context["data"]["form"].fields["template"].choices
        number = next(pk for pk, title in offered if title.startswith("Complaint not upheld"))
        data = {"fill": "1", "template": number, "text": "", "verdict": "rejected", "seen": last(case)}
        page = desk.post(f"/staff/service/{case.pk}/decide/", data)
        assert TURN_TO["SE"] in page.context["data"]["form"].initial["text"]
        assert '<option value="rejected" selected>' in page.text
        assert ServiceMessage.objects.count() == 1


class TestOpeningAgain:
    def test_gli19_a_4_4_a_player_who_does_not_agree_has_it_reviewed_again(self, player, support):
        case = a_complaint(player)
        decided(case, support)
        visitor, address = logged_in(player), f"/en/service/{case.pk}/reopen/"
        assert "This field is required." in visitor.post(address, {"text": " "}).text
        since = clock().replace(microsecond=0)
        sent = visitor.post(address, {"text": "Look at the fourth card."}, follow=True)
        assert "Your complaint has been reopened." in sent.text
        again = complaints.case_of(case)
        assert (again.owner, again.outcome, again.closed_at, again.closed_by) == (None, "", None, None)
        assert again.due_at >= since + timedelta(days=14)
        (event,) = events("complaint.reopened")
        assert (event["by"], event["on"]) == (str(player), str(player))
        decided(case, support, CaseOutcome.UPHELD)
        stated = [action for action, _to in entries(case)]
        assert stated == ["assigned", "closed", "assigned", "reopened", "due", "assigned", "closed"]
        page = logged_in(support).get(page_of(case)).text
        for shown in ("Complaint not upheld", "Complaint upheld", "Look at the fourth card."):
            assert shown in page

    def test_what_is_open_again_waits_so_until_somebody_takes_it(self, player, support):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        conversations.reply(player=player, conversation_id=case.pk, text="And.")
        assert Conversation.objects.get().state == STATE.REOPENED
        assigned(case, support, support)
        assert Conversation.objects.get().state == STATE.IN_REVIEW
        assigned(case, support, None)
        assert Conversation.objects.get().state == STATE.REOPENED

    @pytest.mark.sweep
    def test_ends_with_its_days(self, cloned_db, owner: psycopg.Connection):
        player, support = a_player("DK"), a_member_of_staff("support")
        owner.execute("UPDATE players_jurisdiction SET reopen_days = 0")
        case = decided(a_complaint(player), support)
        visitor = logged_in(player)
        assert "I do not agree" not in visitor.get(f"/en/service/{case.pk}/").text
        late = visitor.post(f"/en/service/{case.pk}/reopen/", {"text": "But."}, follow=True)
        assert "This complaint cannot be reopened." in late.text

    def test_is_not_for_what_the_player_closed_what_is_open_or_what_is_a_question(self, player):
        withdrawn, still_open = a_complaint(player), a_complaint(player)
        complaints.withdraw(player=player, conversation_id=withdrawn.pk)
        for case in (withdrawn, still_open):
            with pytest.raises(complaints.NotToReopen):
                complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        asked = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        assert logged_in(player).post(f"/en/service/{asked.pk}/reopen/", {"text": "But."}).status_code == 404

    @pytest.mark.sweep
    def test_staff_open_it_again_with_a_reason_that_the_player_reads(self, player, support, colleague):
        case, desk = decided(a_complaint(player), support), logged_in(colleague)
        address = f"{page_of(case)}act/"
        assert "Enter a text." in desk.post(address, {"action": "reopened"}, follow=True).text
        said = {"action": "reopened", "words": "We found the camera’s picture."}
        assert "Recorded: reopened." in desk.post(address, said, follow=True).text
        assert Mail.objects.filter(template="complaint_reopened", user=player.user).count() == 1
        assert conversations.unread(player) == 1
        assert "We found the camera’s picture." in logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "Another staff member has closed or reopened" in desk.post(address, said, follow=True).text


class TestItsDay:
    def test_a_promised_date_stays_when_the_limit_changes(self, cloned_db, owner: psycopg.Connection):
        player = a_player("DK")
        before = a_complaint(player)
        promised = complaints.case_of(before).due_at
        owner.execute("UPDATE players_jurisdiction SET complaint_days = 3 WHERE code = 'DK'")
        after = complaints.case_of(a_complaint(player))
        assert complaints.case_of(before).due_at == promised
        assert abs(after.due_at - after.opened_at - timedelta(days=3)) < timedelta(minutes=1)
        assert Jurisdiction.objects.get(pk="SE").complaint_days == 14

    def test_an_overdue_complaint_is_reported_once(self, player, support):
        late, _in_time = an_overdue_complaint(player), a_complaint(player)
        assert [cases.enter_overdue() for _ in range(2)] == [1, 0]
        assert [action for action, _due in entries(late)] == ["overdue"]
        (event,) = events("complaint.overdue")
        said = (event["by"], event["on"], event["data"]["subject"])
        assert said == ("system", str(player), f"conversation:{late.pk}")
        decided(late, support)
        assert cases.enter_overdue() == 0

    def test_a_player_who_was_kept_waiting_reads_where_else_to_turn(self, player):
        case = an_overdue_complaint(player)
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "Decision was due by" in page
        assert "You do not have to wait for us any longer." in page
        assert TURN_TO["SE"] in page


class TestTheList:
    def shown(self, desk: Client, **asked: str) -> list[int]:
        found = desk.get(reverse("staff_cases"), {"kind": "complaint", **asked}).context["page"].rows
        return [int(case.subject.partition(":")[2]) for case in found]

    def test_has_the_most_urgent_first_and_marks_it(self, player, support):
        ages = (timedelta(0), timedelta(days=15), timedelta(days=13))
        made = [an_overdue_complaint(player, age=age) for age in ages]
        conversations.answer(staff=support, conversation_id=made[0].pk, text="Which?", seen=last(made[0]))
        conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        desk = logged_in(support)
        page = desk.get(reverse("staff_cases")).text
        assert self.shown(desk) == [made[place].pk for place in (1, 2, 0)]
        assert page.count(">Overdue<") == 2  # one of them is a choice of the filter
        assert page.count("Due within 2 days") == 1
        assert page.count("Awaiting our answer") == 2
        assert page.count("Still nothing.") == 3
        assert self.shown(desk, state="overdue") == [made[1].pk]

    def test_finds_mine_nobody_s_and_what_ended(self, player, support, colleague):
        mine, theirs, ended, free = (a_complaint(player) for _ in range(4))
        assigned(mine, support, support)
        assigned(theirs, support, colleague)
        decided(ended, support)
        desk = logged_in(support)
        assert self.shown(desk, owner="mine") == [mine.pk]
        assert self.shown(desk, owner="nobody") == [free.pk]
        assert self.shown(desk, state="closed") == self.shown(desk, closing="rejected") == [ended.pk]
        assert self.shown(desk, closing="upheld") == []
        assert self.shown(desk, where="SE", player=str(player.pk)) == [mine.pk, theirs.pk, free.pk]
        assert self.shown(desk, where="DK") == []

    def test_is_a_file_with_what_a_regulator_asks_for(self, player, support, colleague):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        case = decided(case, support, CaseOutcome.UPHELD)
        asked = {"kind": "complaint", "state": "closed", "as": "csv"}
        taken = logged_in(colleague).get(reverse("staff_cases"), asked).text
        (row,) = csv.DictReader(io.StringIO(taken.lstrip("\ufeff").split("\r\n\r\n", 1)[-1]))
        assert (row["Player"], row["Jurisdiction"], row["Closing reason"]) == (
            f"{player}, SE",
            "SE",
            "Complaint upheld",
        )
        assert (row["Days to closing"], row["Times overdue"], row["Times reopened"]) == ("0", "0", "1")

    def test_has_no_complaints_for_those_who_may_not_read_them(self, player):
        a_complaint(player)
        assert logged_in(a_member_of_staff("finance")).get(reverse("staff_cases")).status_code == 403
        case = complaints.case_of(Conversation.objects.get())
        assert logged_in(a_member_of_staff("supervisor")).get(reverse("staff_case", args=[case.pk])).status_code == 403


class TestKeeping:
    def test_gli19_a_4_4_nobody_changes_what_was_decided_or_promised(self, cloned_db, owner):
        decided(a_complaint(a_player()), a_member_of_staff("support"))
        for statement in (
            "DELETE FROM players_case",
            "DELETE FROM players_case_entry",
            "UPDATE players_case_entry SET text = ''",
            "UPDATE players_conversation SET state = 'received', reopen_until = NULL",
            "UPDATE players_conversation SET state = 'reopened', reopen_until = NULL",
        ):
            with pytest.raises(errors.RestrictViolation):
                owner.execute(statement)
        assert Case.objects.get().outcome == CaseOutcome.REJECTED

    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE players_conversation SET state = 'closed'",
            "UPDATE players_conversation SET reopen_until = now() + interval '1 year'",
            "SELECT players_turn_complaint(c, NULL, 'closed', 'upheld', '') FROM players_case AS c",
            "SELECT players_turn_own_complaint(id, 'closed', 'You are right.') FROM players_case",
            "SELECT players_turn_own_complaint(id, 'reopened', 'But.') FROM players_case",
            "SELECT players_move_case(id, NULL, 'closed', 'rejected', 'No.') FROM players_case",
            (
                "INSERT INTO players_conversation (player_id, topic, round_code, state, is_unread)"
                " SELECT player_id, 'complaint', '', 'closed', false FROM players_case"
            ),
        ],
    )
    def test_the_login_role_neither_closes_nor_delays_a_complaint(self, player, statement):
        a_complaint(player)
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
        assert Case.objects.get().closed_at is None

    def test_what_was_written_in_the_case_goes_with_the_messages(self, cloned_db, owner: psycopg.Connection):
        player, support = a_player(), a_member_of_staff("support")
        case = decided(a_complaint(player), support)
        owner.execute("ALTER TABLE players_servicemessage DISABLE TRIGGER USER")
        owner.execute("UPDATE players_servicemessage SET at = now() - interval '6 years'")
        owner.execute("ALTER TABLE players_servicemessage ENABLE TRIGGER USER")
        owner.execute("UPDATE players_conversation SET changed_at = now() - interval '6 years'")
        owner.execute("UPDATE players_case SET closed_at = now() - interval '6 years'")
        address = page_of(case)
        conversations.forget_old()
        assert not ServiceMessage.objects.exists()
        assert set(CaseEntry.objects.values_list("text", flat=True)) == {""}
        assert "The messages were deleted after their retention period." in logged_in(support).get(address).text
