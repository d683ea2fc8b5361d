"""Complaints as cases: owner, due date, decision, and reopening."""

import csv
import io
from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.test import Client
from psycopg import errors

from players.models import (
    CaseStep,
    ComplaintStep,
    Conversation,
    ConversationState,
    Jurisdiction,
    Mail,
    Player,
    ServiceMessage,
    Staff,
    Topic,
    Verdict,
)
from players.support import complaints, conversations
from players.support.staff_replies import TURN_TO
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, events

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


def a_complaint(player: Player, *, days: int | None = None) -> Conversation:
    """A complaint due at the legal deadline, or *days* from now."""
    who = Player.objects.select_related("jurisdiction").get(pk=player.pk)
    who.jurisdiction.complaint_days = who.jurisdiction.complaint_days if days is None else days
    return conversations.begin(player=who, topic=Topic.COMPLAINT, text="That was no natural.")


def last(conversation: Conversation) -> int:
    return conversation.messages.latest("pk").pk


def decided(conversation: Conversation, by: Staff, verdict: Verdict = Verdict.REJECTED) -> Conversation:
    return complaints.decide(
        by=by, conversation_id=conversation.pk, verdict=verdict, reasons="It was one.", seen=last(conversation)
    )


def steps(conversation: Conversation) -> list[str]:
    return list(conversation.steps.order_by("pk").values_list("step", flat=True))


class TestWhoseItIs:
    @pytest.mark.sweep
    def test_it_is_taken_handed_over_and_returned_with_its_history(self, player, support, colleague):
        case = a_complaint(player)
        desk, address = logged_in(support), f"/staff/service/{case.pk}/assign/"
        taken = desk.post(address, {"whose": 0, "to": support.pk}, follow=True)
        assert "The complaint is assigned to Ulla Vester now." in taken.text
        case.refresh_from_db()
        assert (case.assigned_to, case.state) == (support, STATE.IN_REVIEW)
        desk.post(address, {"whose": support.pk, "to": colleague.pk})
        page = logged_in(colleague).get(f"/staff/service/{case.pk}/").text
        assert "Reassigned to Bo Lind" in page
        given = desk.post(address, {"whose": colleague.pk, "to": 0}, follow=True)
        assert "The complaint is unassigned now." in given.text
        case.refresh_from_db()
        assert (case.assigned_to, case.state) == (None, STATE.RECEIVED)
        assert steps(case) == [CaseStep.TAKEN, CaseStep.HANDED, CaseStep.UNASSIGNED]
        said = [(each["data"]["before"], each["data"]["after"]) for each in events("complaint.assigned")]
        assert said == [("", str(support)), (str(support), str(colleague)), (str(colleague), "")]

    def test_the_second_learns_who_owns_it(self, player, support, colleague):
        case = a_complaint(player)
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        late = logged_in(colleague).post(
            f"/staff/service/{case.pk}/assign/", {"whose": 0, "to": colleague.pk}, follow=True
        )
        assert "It is assigned to Ulla Vester now." in late.text
        case.refresh_from_db()
        assert case.assigned_to == support

    @pytest.mark.sweep
    def test_goes_to_nobody_who_answers_no_players(self, player, support):
        case, finance = a_complaint(player), a_member_of_staff("finance")
        for to in (finance.pk, 2**62):
            with pytest.raises(complaints.MayNotAnswer):
                complaints.assign(by=support, conversation_id=case.pk, whose=0, to=to)
        with pytest.raises(complaints.NoChange):
            complaints.assign(by=support, conversation_id=case.pk, whose=0, to=0)
        refused = logged_in(support).post(f"/staff/service/{case.pk}/assign/", {"whose": 0, "to": "x"}, follow=True)
        assert "Choose the person to assign the complaint to." in refused.text
        assert steps(case) == []

    def test_a_question_is_nobody_s(self, player, support):
        asked = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        address = f"/staff/service/{asked.pk}/assign/"
        assert logged_in(support).post(address, {"whose": 0, "to": support.pk}).status_code == 404
        with pytest.raises(IntegrityError), transaction.atomic():
            Conversation.objects.filter(pk=asked.pk).update(assigned_to=support)

    def test_a_colleague_s_case_is_answered_after_reading_who_owns_it(self, player, support, colleague):
        case = a_complaint(player)
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        desk = logged_in(colleague)
        page = desk.get(f"/staff/service/{case.pk}/").text
        assert "The complaint is <b>assigned to Ulla Vester</b>." in page
        assert "Your answer is still sent to the player." in page
        desk.post(f"/staff/service/{case.pk}/", {"text": "We look.", "seen": last(case)})
        case.refresh_from_db()
        assert (case.state, case.assigned_to) == (STATE.ANSWERED, support)

    def test_the_player_s_message_goes_to_the_owner_of_the_case(self, player, support):
        case = a_complaint(player)
        conversations.answer(staff=support, conversation_id=case.pk, text="Which?", seen=last(case))
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        assert Conversation.objects.get().state == STATE.ANSWERED
        conversations.reply(player=player, conversation_id=case.pk, text="The third.")
        assert Conversation.objects.get().state == STATE.IN_REVIEW

    def test_the_player_reads_a_role_and_no_name(self, player, colleague):
        case = a_complaint(player)
        complaints.assign(by=colleague, conversation_id=case.pk, whose=0, to=colleague.pk)
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "our compliance team" in page
        assert "Under review" in page
        assert "Bo Lind" not in page


class TestDeciding:
    def test_gli19_a_4_4_the_player_reads_the_decision_why_and_where_to_go_on(self, player, support):
        case = a_complaint(player)
        sent = logged_in(support).post(
            f"/staff/service/{case.pk}/decide/",
            {"text": "The rule says so.", "verdict": "rejected", "seen": last(case), "sure": "on"},
            follow=True,
        )
        assert "Complaint decided. The player has been notified by e-mail." in sent.text
        (told,) = Mail.objects.filter(template="complaint_decided")
        assert str(case.pk) in told.body
        assert "The rule says so." not in told.body
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        for words in ("Complaint not upheld", "The rule says so.", TURN_TO["SE"], "I do not agree"):
            assert words in page

    def test_who_is_right_is_not_sent_elsewhere(self, player, support):
        case = decided(a_complaint(player), support, Verdict.UPHELD)
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
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        decided(case, colleague)
        case.refresh_from_db()
        assert case.assigned_to == colleague
        assert steps(case) == [CaseStep.TAKEN, CaseStep.TAKEN, CaseStep.DECIDED]
        said = [(each["data"]["before"], each["data"]["after"]) for each in events("complaint.assigned")]
        assert said[-1] == (str(support), str(colleague))

    @pytest.mark.sweep
    def test_the_earlier_decider_reads_when_it_is_open_again(self, player, support, colleague):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        address = f"/staff/service/{case.pk}/"
        assert "You decided this complaint before" in logged_in(support).get(address).text
        assert "You decided this complaint before" not in logged_in(colleague).get(address).text

    @pytest.mark.sweep
    def test_is_for_those_who_do_not_run_the_tables(self, player):
        case, operator = a_complaint(player), logged_in(a_member_of_staff("operator"))
        assert "Preview decision" not in operator.get(f"/staff/service/{case.pk}/").text
        data = {"text": "No.", "verdict": "rejected", "seen": last(case), "sure": "on"}
        assert operator.post(f"/staff/service/{case.pk}/decide/", data).status_code == 403

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
        offered = desk.get(f"/staff/service/{case.pk}/").context["form"].fields["template"].choices
        number = next(pk for pk, title in offered if title.startswith("Complaint not upheld"))
        data = {"fill": "1", "template": number, "text": "", "verdict": "rejected", "seen": last(case)}
        page = desk.post(f"/staff/service/{case.pk}/decide/", data)
        assert TURN_TO["SE"] in page.context["form"].initial["text"]
        assert '<option value="rejected" selected>' in page.text
        assert ServiceMessage.objects.count() == 1


class TestOpeningAgain:
    def test_gli19_a_4_4_a_player_who_does_not_agree_has_it_reviewed_again(self, player, support):
        case = a_complaint(player)
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        decided(case, support)
        visitor, address = logged_in(player), f"/en/service/{case.pk}/reopen/"
        assert "This field is required." in visitor.post(address, {"text": " "}).text
        sent = visitor.post(address, {"text": "Look at the fourth card."}, follow=True)
        assert "Your complaint has been reopened." in sent.text
        case.refresh_from_db()
        assert (case.state, case.assigned_to, case.verdict, case.ended_at) == (STATE.REOPENED, None, "", None)
        assert case.due_at is not None
        assert case.due_at > case.began_at + timedelta(days=14)
        (event,) = events("complaint.reopened")
        assert (event["by"], event["data"]["verdict"]) == (str(player), "rejected")
        decided(case, support, Verdict.UPHELD)
        taken_and_decided = [CaseStep.TAKEN, CaseStep.DECIDED]
        assert steps(case) == [*taken_and_decided, CaseStep.REOPENED, *taken_and_decided]
        page = logged_in(support).get(f"/staff/service/{case.pk}/").text
        assert "Decided: Complaint not upheld" in page
        assert "Decided: Complaint upheld" in page

    def test_what_is_open_again_waits_so_until_somebody_takes_it(self, player, support):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        conversations.reply(player=player, conversation_id=case.pk, text="And.")
        assert Conversation.objects.get().state == STATE.REOPENED
        complaints.assign(by=support, conversation_id=case.pk, whose=0, to=support.pk)
        assert Conversation.objects.get().state == STATE.IN_REVIEW
        complaints.assign(by=support, conversation_id=case.pk, whose=support.pk, to=0)
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
        address = f"/staff/service/{case.pk}/reopen/"
        assert "This field is required." in desk.post(address, {"text": ""}).text
        sent = desk.post(address, {"text": "We found the camera’s picture."}, follow=True)
        assert "The complaint is reopened" in sent.text
        assert Mail.objects.filter(template="complaint_reopened", user=player.user).count() == 1
        assert conversations.unread(player) == 1
        assert "We found the camera’s picture." in logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "This complaint is already open." in desk.post(address, {"text": "Again."}, follow=True).text


class TestItsDay:
    def test_a_promised_date_stays_when_the_limit_changes(self, cloned_db, owner: psycopg.Connection):
        player = a_player("DK")
        before = a_complaint(player)
        promised = Conversation.objects.get(pk=before.pk).due_at
        owner.execute("UPDATE players_jurisdiction SET complaint_days = 3 WHERE code = 'DK'")
        after = Conversation.objects.get(pk=a_complaint(player).pk)
        assert Conversation.objects.get(pk=before.pk).due_at == promised
        assert after.due_at is not None
        assert timedelta(0) <= after.due_at - after.began_at - timedelta(days=3) < timedelta(minutes=1)
        assert Jurisdiction.objects.get(pk="SE").complaint_days == 14

    def test_an_overdue_complaint_is_reported_once(self, player, support):
        late, _in_time = a_complaint(player, days=-1), a_complaint(player)
        assert [complaints.notify_overdue() for _ in range(2)] == [1, 0]
        assert steps(late) == [CaseStep.OVERDUE]
        (event,) = events("complaint.overdue")
        assert (event["by"], event["on"], event["data"]["conversation"]) == ("system", str(player), late.pk)
        decided(late, support)
        assert complaints.notify_overdue() == 0

    def test_a_player_who_was_kept_waiting_reads_where_else_to_turn(self, player):
        case = a_complaint(player, days=-1)
        page = logged_in(player).get(f"/en/service/{case.pk}/").text
        assert "Decision was due by" in page
        assert "You do not have to wait for us any longer." in page
        assert TURN_TO["SE"] in page


class TestTheDesk:
    def shown(self, desk: Client, **asked: str) -> list[int]:
        return [each.pk for each in desk.get("/staff/service/complaints/", asked).context["page"].rows]

    def test_has_the_most_urgent_first_and_marks_it(self, player, support):
        cases = [a_complaint(player, days=days) for days in (14, -1, 1)]
        conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        desk = logged_in(support)
        page = desk.get("/staff/service/complaints/")
        assert [each.pk for each in page.context["page"].rows] == [cases[place].pk for place in (1, 2, 0)]
        assert page.text.count(">Overdue<") == 2  # one of them is a choice of the filter
        assert page.text.count("Due within 2 days") == 1
        assert self.shown(desk, show="overdue") == [cases[1].pk]

    @pytest.mark.sweep
    def test_finds_mine_nobody_s_and_what_ended(self, player, support, colleague):
        mine, theirs, ended, free = (a_complaint(player) for _ in range(4))
        complaints.assign(by=support, conversation_id=mine.pk, whose=0, to=support.pk)
        complaints.assign(by=support, conversation_id=theirs.pk, whose=0, to=colleague.pk)
        decided(ended, support)
        desk = logged_in(support)
        assert self.shown(desk, show="mine") == [mine.pk]
        assert self.shown(desk, show="nobodys") == [free.pk]
        assert self.shown(desk, show="ended") == self.shown(desk, verdict="rejected") == [ended.pk]
        assert self.shown(desk, verdict="upheld") == []
        assert self.shown(desk, where="SE", player=str(player.pk)) == [mine.pk, theirs.pk, free.pk]
        assert self.shown(desk, where="DK") == []

    @pytest.mark.sweep
    def test_goes_on_by_a_cursor_and_keeps_the_filters(self, db, support):
        for _ in range(4):
            someone = a_player("SE")
            for _ in range(8):
                a_complaint(someone)
        desk, asked = logged_in(support), {"where": "SE", "show": "nobodys"}
        first = desk.get("/staff/service/complaints/", asked)
        mark = first.context["page"].newer
        assert "where=SE&amp;show=nobodys&amp;after=" in first.text
        second = self.shown(desk, after=mark, **asked)
        assert len(second) == 2
        assert [each.pk for each in first.context["page"].rows] + second == sorted(
            Conversation.objects.values_list("pk", flat=True)
        )

    @pytest.mark.parametrize(
        "mark", sample(["x", "~", "2026-01-01~x", "2026-99-99T00:00:00+00:00~1", "2026-01-01T00:00:00~1"], 1)
    )
    def test_an_invalid_cursor_leads_to_the_first_page(self, player, support, mark):
        case = a_complaint(player)
        assert self.shown(logged_in(support), before=mark) == [case.pk]
        assert self.shown(logged_in(support), after=mark) == [case.pk]

    @pytest.mark.sweep
    def test_is_taken_out_as_a_file_on_record(self, player, support, colleague):
        case = decided(a_complaint(player), support)
        complaints.reopen(player=player, conversation_id=case.pk, text="But.")
        case = decided(case, support, Verdict.UPHELD)
        desk = logged_in(colleague)
        assert "/staff/service/complaints/export/?show=ended" in desk.get("/staff/service/complaints/?show=ended").text
        taken = desk.get("/staff/service/complaints/export/", {"show": "ended"})
        table = taken.text.lstrip("\ufeff").split("\r\n\r\n", 1)[1]
        (row,) = csv.DictReader(io.StringIO(table))
        assert (row["Number"], row["Player"], row["Jurisdiction"]) == (str(case.pk), str(player), "SE")
        assert (row["Verdict"], row["Days to decision"], row["Times reopened"]) == (
            "Complaint upheld",
            "0",
            "1",
        )
        (event,) = events("rows.exported")
        assert (event["on"], event["data"]["rows"]) == ("list:complaints", 1)
        assert "export/" not in logged_in(support).get("/staff/service/complaints/").text


class TestKeeping:
    def test_gli19_a_4_4_nobody_changes_what_was_decided_or_promised(self, cloned_db, owner):
        decided(a_complaint(a_player()), a_member_of_staff("support"))
        for statement in (
            "UPDATE players_complaint_step SET verdict = 'upheld'",
            "DELETE FROM players_complaint_step",
            "TRUNCATE players_complaint_step",
            "UPDATE players_conversation SET due_at = due_at + interval '1 day'",
            "UPDATE players_conversation SET verdict = 'upheld'",
            "UPDATE players_conversation SET state = 'received', verdict = '', ended_at = NULL, reopen_until = NULL",
            "UPDATE players_conversation SET state = 'reopened', verdict = '', ended_at = NULL, reopen_until = NULL",
        ):
            with pytest.raises(errors.RestrictViolation):
                owner.execute(statement)
        assert ComplaintStep.objects.filter(step=CaseStep.DECIDED, verdict=Verdict.REJECTED).count() == 1

    def test_an_open_complaint_s_day_is_not_put_off(self, player):
        a_complaint(player)
        with pytest.raises(DatabaseError), transaction.atomic():
            Conversation.objects.update(due_at=None)

    def test_a_complaint_does_not_end_without_a_verdict_by_any_writer(self, player):
        a_complaint(player)
        with pytest.raises(IntegrityError), transaction.atomic():
            Conversation.objects.update(state=STATE.CLOSED)
