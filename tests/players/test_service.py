"""Customer support: players write, staff answer, messages never change and are deleted after five
years.
"""

from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from psycopg import errors

from games.models import Round
from players.account import registration
from players.models import CaseOutcome, Conversation, ConversationState, Mail, Player, ServiceMessage, Staff, Topic
from players.support import complaints, conversations
from tests.attacks.statements import refused
from tests.builders import a_player, a_round, a_table
from tests.harness.owner import disable
from tests.people import a_member_of_staff, events

YEAR = timedelta(days=366)
MONEY = 100_000


@pytest.fixture
def player(db) -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def support(db) -> Staff:
    return a_member_of_staff("support")


def logged_in(person: Player | Staff) -> Client:
    visitor = Client()
    visitor.force_login(person.user)
    return visitor


def a_question(player: Player) -> Conversation:
    return conversations.begin(player=player, topic=Topic.QUESTION, text="When?")


def a_complaint(player: Player, text: str = "That was no natural.") -> Conversation:
    return conversations.begin(player=player, topic=Topic.COMPLAINT, text=text)


def last(conversation: Conversation) -> int:
    """Return the newest message, as a page opened now shows it."""
    return conversation.messages.latest("pk").pk


class TestWriting:
    @pytest.mark.sweep
    def test_a_complaint_about_ones_own_round_carries_it(self, player, support):
        played = a_round(player, a_table(), player=1000)
        visitor = logged_in(player)
        code = player.participation_set.get().round.code
        link = f"/en/service/new/?round={code}"
        assert link in visitor.get(f"/en/history/{played.round_id}/").text
        form = visitor.get(link).text
        assert f'value="{code}"' in form
        assert '<option value="complaint" selected>' in form
        sent = visitor.post("/en/service/new/", {"topic": "complaint", "round": code, "text": "Look\nat it."})
        conversation = Conversation.objects.get()
        assert sent["Location"] == f"/en/service/{conversation.pk}/"
        assert (conversation.round_id, conversation.round_code) == (played.round_id, code)
        staff_page = logged_in(support).get(f"/staff/service/{conversation.pk}/", follow=True).text
        assert f"/staff/rounds/{played.round_id}/" in staff_page

    def test_another_players_round_is_refused_and_nothing_is_kept(self, player):
        a_round(a_player(real=MONEY), a_table(), player=1000)

        for named in (Round.objects.get().code, "nonsense", str(Round.objects.get().pk)):
            data = {"topic": "complaint", "round": named, "text": "Mine."}
            assert "You have no round with this code." in logged_in(player).post("/en/service/new/", data).text
        assert not Conversation.objects.exists()

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("data", "message"),
        [
            ({"topic": "question", "text": "  "}, "This field is required."),
            ({"topic": "question", "text": "x" * (conversations.LONGEST + 1)}, "at most 4000 characters"),
            ({"topic": "gossip", "text": "Hello"}, "Select a valid choice"),
        ],
        ids=["nothing", "too much", "no topic"],
    )
    def test_says_what_is_wrong(self, player, data, message):
        assert message in logged_in(player).post("/en/service/new/", data).text
        assert not Conversation.objects.exists()

    def test_takes_text_for_text(self, player):
        visitor = logged_in(player)
        visitor.post("/en/service/new/", {"topic": "other", "text": "<b>one</b>\r\ntwo"})
        page = visitor.get(f"/en/service/{Conversation.objects.get().pk}/").text
        assert "&lt;b&gt;one&lt;/b&gt;" in page
        assert "<b>one</b>" not in page

    def test_ends_where_too_many_wait(self, player):
        for _ in range(conversations.MOST_OPEN):
            a_complaint(player)
        answer = logged_in(player).post("/en/service/new/", {"topic": "other", "text": "And another thing."})
        assert "10 of your messages are waiting for an answer." in answer.text
        assert Conversation.objects.count() == conversations.MOST_OPEN

    @pytest.mark.sweep
    def test_too_often_is_refused(self, player):
        visitor, conversation = logged_in(player), a_complaint(player)
        answers = [visitor.post(f"/en/service/{conversation.pk}/", {"text": "!"}).status_code for _ in range(31)]
        assert 429 in answers

    def test_is_on_record_without_its_words(self, player):
        conversation = a_complaint(player, "My secret.")
        (event,) = events("complaint.opened")
        assert event["data"]["subject"] == f"conversation:{conversation.pk}"
        assert "secret" not in str(event)


class TestAnswering:
    def test_gli19_a_4_4_a_complaint_is_received_answered_and_closed(self, player, support):
        conversation = a_complaint(player)
        reader, desk = logged_in(player), logged_in(support)
        kept = complaints.case_of(conversation)
        assert abs(kept.due_at - kept.opened_at - timedelta(days=14)) < timedelta(minutes=1)
        assert "Decision due by" in reader.get(f"/en/service/{conversation.pk}/").text

        desk.post(f"/staff/service/{conversation.pk}/", {"text": "We looked.", "seen": last(conversation)})
        assert conversations.unread(player) == 1
        assert "New" in reader.get("/en/service/").text
        assert "We looked." in reader.get(f"/en/service/{conversation.pk}/").text
        assert conversations.unread(player) == 0

        reader.post(f"/en/service/{conversation.pk}/", {"text": "Look again."})
        assert Conversation.objects.get().state == ConversationState.RECEIVED

        said = {"text": "You are right about the chip.", "verdict": "partly", "seen": last(conversation)}
        desk.post(f"/staff/service/{conversation.pk}/decide/", said | {"sure": "on"})
        assert Conversation.objects.get().state == ConversationState.CLOSED
        assert complaints.case_of(conversation).outcome == CaseOutcome.PARTLY
        page = reader.get(f"/en/service/{conversation.pk}/").text
        assert "Complaint partly upheld" in page
        assert "You are right about the chip." in page
        kinds = ("complaint.opened", "complaint.answered", "complaint.continued", "complaint.closed")
        assert [len(events(kind)) for kind in kinds] == [1, 1, 1, 1]
        assert events("complaint.closed")[0]["data"]["to"] == "partly"

    def test_writes_a_mail_that_says_where_to_read_it_and_no_more(self, player, support):
        conversation = a_complaint(player)
        conversations.answer(
            staff=support, conversation_id=conversation.pk, text="Between us.", seen=last(conversation)
        )
        mail = Mail.objects.get(user=player.user)
        assert str(conversation.pk) in mail.body
        assert "Between us" not in mail.body

    @pytest.mark.sweep
    def test_a_complaint_does_not_close_without_a_verdict(self, player, support):
        conversation, desk = a_complaint(player), logged_in(support)
        said = {"text": "So it is.", "seen": last(conversation)}
        wrong = "Select a valid choice"
        for verdict, message in (("", "Choose the verdict."), ("by_player", wrong), ("maybe", wrong)):
            answer = desk.post(f"/staff/service/{conversation.pk}/decide/", said | {"verdict": verdict})
            assert message in answer.text
        closing = desk.post(f"/staff/service/{conversation.pk}/close/", said, follow=True)
        assert "A complaint can only be decided with a verdict and reasons." in closing.text
        assert (
            "An answer has no verdict."
            in desk.post(f"/staff/service/{conversation.pk}/", said | {"verdict": "upheld"}).text
        )
        assert Conversation.objects.get().state == ConversationState.RECEIVED
        assert ServiceMessage.objects.count() == 1

    def test_a_question_closes_without_one(self, player, support):
        asked = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        closed = conversations.close(staff=support, conversation_id=asked.pk, seen=last(asked))
        assert closed.state == "closed"

    def test_what_is_closed_stays_closed(self, player, support):
        conversation = a_complaint(player)
        complaints.withdraw(player=player, conversation_id=conversation.pk)
        assert complaints.case_of(conversation).outcome == CaseOutcome.BY_PLAYER
        message = "This conversation is closed."
        mine, desk = logged_in(player), logged_in(support)
        data = {"text": "But", "seen": last(conversation)}
        assert message in mine.post(f"/en/service/{conversation.pk}/", {"text": "But"}, follow=True).text
        assert message in mine.post(f"/en/service/{conversation.pk}/close/", follow=True).text
        assert message in desk.post(f"/staff/service/{conversation.pk}/", data).text
        decision = data | {"verdict": "upheld", "sure": "on"}
        assert message in desk.post(f"/staff/service/{conversation.pk}/decide/", decision).text
        assert message in desk.post(f"/staff/service/{conversation.pk}/close/", data, follow=True).text
        assert ServiceMessage.objects.count() == 1

    def test_the_player_s_message_of_the_meantime_is_read_before_anything_is_closed(self, player, support):
        asked = conversations.begin(player=player, topic=Topic.QUESTION, text="When?")
        read = last(asked)
        conversations.reply(player=player, conversation_id=asked.pk, text="And where?")
        desk = logged_in(support)
        for seen in (read, ""):
            refused = desk.post(f"/staff/service/{asked.pk}/close/", {"seen": seen}, follow=True)
            assert "Not sent: a new message has arrived." in refused.text
        desk.post(f"/staff/service/{asked.pk}/close/", {"seen": last(asked)})
        assert Conversation.objects.get().state == ConversationState.CLOSED

    def test_an_empty_answer_is_refused(self, player, support):
        conversation = a_complaint(player)
        page = logged_in(support).post(f"/staff/service/{conversation.pk}/", {"text": " ", "seen": last(conversation)})
        assert "This field is required." in page.text
        assert ServiceMessage.objects.count() == 1

    @pytest.mark.sweep
    @pytest.mark.parametrize("thread", [2**62, 2**70])
    def test_an_unknown_conversation_is_not_found(self, player, support, thread):
        assert logged_in(player).get(f"/en/service/{thread}/").status_code == 404
        assert logged_in(support).get(f"/staff/service/{thread}/").status_code == 404


class TestWritingFirst:
    @pytest.mark.sweep
    def test_staff_write_to_a_player_who_is_mailed_and_answers_in_the_house(self, player, support):
        desk = logged_in(support)
        address = f"/staff/service/new/{player.pk}/"
        assert f'href="{address}"' in desk.get(f"/staff/players/{player.pk}/").text
        sent = desk.post(address, {"topic": "protection", "text": "How are you getting on?"})
        conversation = Conversation.objects.get()
        assert sent["Location"] == f"/staff/service/{conversation.pk}/"
        (stated,) = Mail.objects.filter(template="service_message")
        assert (stated.user, str(conversation.pk) in stated.body) == (player.user, True)
        (begun,) = events("service.begun")
        assert (begun["by"], begun["on"]) == (str(support), str(player))
        visitor = logged_in(player)
        assert conversations.unread(player) == 1
        assert "How are you getting on?" in visitor.get(f"/en/service/{conversation.pk}/").text
        visitor.post(f"/en/service/{conversation.pk}/", {"text": "Fine."})
        conversation.refresh_from_db()
        assert conversation.state == ConversationState.RECEIVED

    def test_the_page_offers_it_once(self, player):
        assert logged_in(player).get("/en/service/").text.count('href="/en/service/new/"') == 1

    @pytest.mark.sweep
    def test_a_thread_leads_to_the_player_who_wrote_where_the_reader_may_see_players(self, player, support):
        address = reverse("staff_service_thread", args=[a_complaint(player).pk])
        way = f'<a class="link" href="{reverse("staff_player", args=[player.pk])}">player:{player.pk}</a>'
        assert way in logged_in(support).get(address, follow=True).text
        page = logged_in(a_member_of_staff("operator")).get(address, follow=True).text
        assert way not in page
        assert "Balances" not in page
        assert "Deposits of the last 30 days" not in page
        assert f"player:{player.pk}" in page

    @pytest.mark.sweep
    def test_the_way_to_an_exclusion_fills_in_the_player(self, player, support):
        desk = logged_in(support)
        address = f"/staff/exclusions/?player={player.pk}"
        assert f'href="{address}"' in desk.get(f"/staff/players/{player.pk}/").text
        page = desk.get(address).text
        assert player.user.email in page
        assert f'name="player" value="{player.pk}"' in page
        for nobody in ("0", "x", "9" * 40):
            assert 'name="player"' not in desk.get(f"/staff/exclusions/?player={nobody}").text

    def test_a_complaint_is_the_player_s_to_make(self, player, support):
        data = {"topic": "complaint", "text": "You complain."}
        assert "Select a valid choice" in logged_in(support).post(f"/staff/service/new/{player.pk}/", data).text
        assert not Conversation.objects.exists()

    def test_nobody_writes_to_a_closed_account(self, player, support):
        disable(player.user)
        data = {"topic": "question", "text": "Hello?"}
        assert "account is closed" in logged_in(support).post(f"/staff/service/new/{player.pk}/", data).text
        assert not Mail.objects.filter(template="service_message").exists()


class TestTheQueue:
    @pytest.mark.sweep
    def test_has_what_waits_and_of_that_the_oldest_first(self, player, support):
        a_complaint(player)  # a case, and in their list
        first, second, third = (a_question(player) for _ in range(3))
        conversations.answer(staff=support, conversation_id=first.pk, text="Done.", seen=last(first))
        desk = logged_in(support)

        def shown(**asked: str) -> list[int]:
            return [each.pk for each in desk.get("/staff/service/", asked).context["page"].rows]

        assert shown() == [second.pk, third.pk]
        assert shown(state="answered") == [first.pk]
        assert shown(player=str(player.pk)) == [third.pk, second.pk, first.pk]

    @pytest.mark.sweep
    def test_is_filtered(self, player, support):
        about_money = conversations.begin(player=player, topic=Topic.MONEY, text="Where is it?")
        asked = a_question(a_player())
        desk = logged_in(support)
        only_money = desk.get("/staff/service/", {"topic": "money"}).text
        assert f"Message {about_money.pk}<" in only_money
        assert f"Message {asked.pk}<" not in only_money
        assert f"Message {asked.pk}<" in desk.get("/staff/service/", {"player": asked.player_id}).text
        assert "No messages match this filter." in desk.get("/staff/service/", {"state": "closed"}).text
        assert desk.get("/staff/service/", {"player": "x", "state": "y", "before": "0"}).status_code == 200

    @pytest.mark.sweep
    def test_goes_on_over_the_page(self, support, db):
        for number in range(4):
            someone = a_player()
            for _ in range(8 + (number == 3)):
                a_question(someone)
        desk = logged_in(support)
        first = desk.get("/staff/service/")
        assert "after=" in first.text
        second = desk.get("/staff/service/", {"after": first.context["page"].newer})
        assert second.context["page"].newer == ""
        shown = [[each.pk for each in page.context["page"].rows] for page in (first, second)]
        assert [len(rows) for rows in shown] == [30, 3]
        assert shown[0] + shown[1] == sorted(Conversation.objects.values_list("pk", flat=True))

    @pytest.mark.sweep
    def test_finds_those_of_a_jurisdiction_and_of_a_language(self, support):
        swedish, danish = a_question(a_player("SE")), a_question(a_player("DK"))
        registration.choose_language(user=danish.player.user, language="da")
        desk = logged_in(support)

        def shown(**asked: str) -> list[int]:
            return [each.pk for each in desk.get("/staff/service/", asked).context["page"].rows]

        assert shown(where="SE") == [swedish.pk]
        assert shown(language="da") == [danish.pk]
        assert shown(where="nowhere") == []


class TestKeeping:
    def test_gli19_a_4_4_nobody_changes_or_deletes_what_was_written(self, cloned_db, owner):
        a_complaint(a_player())
        for statement in (
            "UPDATE players_servicemessage SET text = ''",
            "DELETE FROM players_servicemessage",
            "TRUNCATE players_servicemessage CASCADE",
            "DELETE FROM players_conversation",
            "TRUNCATE players_conversation CASCADE",
            "UPDATE players_conversation SET topic = 'other'",
        ):
            with pytest.raises(errors.RestrictViolation):
                owner.execute(statement)
        assert ServiceMessage.objects.count() == 1

    def test_the_house_itself_deletes_nothing_young(self, player):
        a_complaint(player)
        with pytest.raises(DatabaseError), transaction.atomic():
            ServiceMessage.objects.all().delete()

    def test_gli19_a_4_4_is_kept_for_five_years_and_then_forgotten(self, cloned_db, owner: psycopg.Connection):
        player = a_player()
        old, lively, young = (a_complaint(player) for _ in range(3))
        complaints.withdraw(player=player, conversation_id=old.pk)
        owner.execute("UPDATE players_case SET closed_at = now() - interval '1827 days' WHERE closed_at IS NOT NULL")
        _age(owner, old.pk, 5 * YEAR + timedelta(days=1), 5 * YEAR + timedelta(days=1))
        _age(owner, lively.pk, 9 * YEAR, 5 * YEAR - timedelta(days=9))
        conversations.forget_old()
        assert set(Conversation.objects.values_list("pk", flat=True)) == {lively.pk, young.pk}
        assert set(ServiceMessage.objects.values_list("conversation_id", flat=True)) == {lively.pk, young.pk}
        (event,) = events("service.forgotten")
        assert event["data"] == {"conversation": old.pk}

    def test_of_a_complaint_is_kept_until_it_is_decided_and_then_for_the_usual_time(
        self, cloned_db, owner: psycopg.Connection
    ):
        complaint = a_complaint(player := a_player())
        _age(owner, complaint.pk, 6 * YEAR, 6 * YEAR)
        forget = ("DELETE FROM players_servicemessage", "DELETE FROM players_conversation")
        for statement in forget:
            refused(statement, by="23001")
        assert conversations.forget_old() == 0
        complaints.withdraw(player=player, conversation_id=complaint.pk)
        _age(owner, complaint.pk, 6 * YEAR, 6 * YEAR)
        for statement in forget:
            refused(statement, by="23001")
        owner.execute("UPDATE players_case SET closed_at = now() - interval '1828 days'")
        assert conversations.forget_old() == 1


def _age(owner: psycopg.Connection, conversation_id: int, written: timedelta, changed: timedelta) -> None:
    """Move a conversation into the past."""
    owner.execute("ALTER TABLE players_servicemessage DISABLE TRIGGER USER")
    owner.execute(
        "UPDATE players_servicemessage SET at = %s WHERE conversation_id = %s", [now() - written, conversation_id]
    )
    owner.execute("ALTER TABLE players_servicemessage ENABLE TRIGGER USER")
    owner.execute("UPDATE players_conversation SET changed_at = %s WHERE id = %s", [now() - changed, conversation_id])
