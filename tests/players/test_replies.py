"""Reply templates: five languages, versions, and fields filled in for the player."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError, transaction
from django.test import Client
from psycopg import errors

from ops.i18n import sources
from players.account import registration
from players.datetime_format import written_day
from players.identity import verification
from players.models import Conversation, Jurisdiction, Player, ReplyKind, ReplyTemplate, ServiceMessage, Staff, Topic
from players.support import conversations
from players.support import staff_replies as replies
from players.support.complaints import case_of
from players.support.staff_replies import HELP, PLACEHOLDERS, TURN_TO, UNFILLED, facts_of, fill, placeholders
from tests.builders import a_player, a_round, a_submission, a_table
from tests.harness.sweeps import sample
from tests.people import a_member_of_staff, a_visitor, events

LANGUAGES = replies.LANGUAGES
MONEY = 100_000


def at(role: str) -> Client:
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def reading(language: str, player: Player) -> Player:

    registration.choose_language(user=player.user, language=language)
    return Player.objects.select_related("user").get(pk=player.pk)


@pytest.fixture
def writer(db) -> Staff:
    return a_member_of_staff("compliance", name="Ulla Vester")


@pytest.fixture
def player(db) -> Player:
    return reading("sv", a_player("SE", real=MONEY))


def texts(words: str = "Hello") -> dict[str, str]:
    return {language: f"{{hello}} {words} {language}" for language in LANGUAGES}


def a_template(writer: Staff, words: str = "Hello", *, name: str = "mine", based_on: int = 0) -> ReplyTemplate:
    return replies.write(
        name=name, based_on=based_on, kind=ReplyKind.QUESTION, title="Mine", texts=texts(words), by=writer
    )


def a_thread(player: Player, topic: Topic = Topic.QUESTION) -> Conversation:
    return Conversation.objects.get(pk=conversations.begin(player=player, topic=topic, text="What about it?").pk)


def last(conversation: Conversation) -> int:
    return conversation.messages.latest("pk").pk


def sent(words: str = "New", **more: object) -> dict[str, object]:
    return {"kind": "question", "title": "Mine", "based_on": 0} | texts(words) | more


@pytest.mark.django_db
class TestShipped:
    def test_each_says_the_same_things_in_every_language(self):
        for each in replies.newest():
            assert set(each.texts) == set(LANGUAGES)
            assert placeholders(each.texts["en"]) <= set(PLACEHOLDERS)
            assert {frozenset(placeholders(text)) for text in each.texts.values()} == {
                frozenset(placeholders(each.texts["en"]))
            }

    def test_what_is_often_asked_is_among_them(self):
        names = {each.name for each in replies.newest()}
        assert names == set(replies.SHIPPED)
        assert {each.kind for each in replies.newest()} == set(ReplyKind)

    def test_every_jurisdiction_has_a_help_line_and_somebody_to_turn_to(self):
        assert set(HELP) == set(TURN_TO) == {where.code for where in Jurisdiction.objects.all()}

    def test_what_letters_say_of_help_and_appeals_is_in_the_national_rules(self):
        rules = (sources.project().root / "docs" / "national-rules.md").read_text()
        for code, where in (*HELP.items(), *TURN_TO.items()):
            (line,) = [line for line in rules.splitlines() if line.startswith(f"- {code}: ") and where in line]
            assert line

    def test_no_text_itself_names_a_telephone_number_or_an_address(self):
        for each in replies.newest():
            for text in each.texts.values():
                assert not re.search(r"\d|www|\.(?:com|se|dk|ro|de|uk)\b", text), each.name

    def test_their_texts_are_held_to_how_each_language_is_set(self):
        held = {path.name for path, _ in sources.project().prose()}
        assert {f"replies.{language}.md" for language in LANGUAGES} <= held


@pytest.mark.django_db
class TestKeeping:
    def test_a_new_version_is_what_is_offered(self, writer):
        a_template(writer)
        a_template(writer, "Again", based_on=1)
        (mine,) = [each for each in replies.offered([ReplyKind.QUESTION]) if each.name == "mine"]
        assert (mine.number, mine.texts["sv"]) == (2, "{hello} Again sv")
        assert [each.number for each in replies.versions("mine")] == [2, 1]
        assert [event["data"]["version"] for event in events("reply.written", on="reply:mine")] == [1, 2]

    def test_of_two_who_write_the_next_version_one_is_refused(self, writer):
        a_template(writer)
        a_template(writer, "First", based_on=1)
        with pytest.raises(replies.TemplateChanged):
            a_template(writer, "Second", based_on=1)
        assert replies.versions("mine")[0].texts["en"] == "{hello} First en"

    def test_one_that_is_withdrawn_is_offered_no_more_until_there_is_a_new_version(self, writer):
        made = a_template(writer)
        replies.withdraw(name="mine", number=1, reason="out of date", by=writer)
        assert made not in replies.offered([ReplyKind.QUESTION])
        with pytest.raises(replies.TemplateChanged, match="already withdrawn"):
            replies.withdraw(name="mine", number=1, reason="again", by=writer)
        assert a_template(writer, "Better", based_on=1) in replies.offered([ReplyKind.QUESTION])
        with pytest.raises(replies.TemplateChanged, match="now a version 2"):
            replies.withdraw(name="mine", number=1, reason="too late", by=writer)

    @pytest.mark.parametrize(
        ("number", "said", "by"), [(3, "", True), (1, " ", True), (1, "", False)], ids=["later", "empty", "nobody's"]
    )
    def test_the_database_refuses_an_invalid_version(self, writer, number, said, by):
        kept = texts() | ({"ro": said} if said else {})
        with pytest.raises(DatabaseError), transaction.atomic():
            ReplyTemplate.objects.create(
                name="mine", number=number, kind="question", title="Mine", texts=kept, by=writer if by else None
            )


@pytest.mark.django_db
class TestPages:
    @pytest.mark.sweep
    def test_a_template_is_added_read_and_withdrawn(self, player):
        desk = at("compliance")
        assert desk.post("/staff/replies/new/", sent(name="mine"))["Location"] == "/staff/replies/mine/"
        page = desk.get("/staff/replies/mine/").text
        assert "{hello} New ro" in page
        assert "Mine" in desk.get("/staff/replies/").text
        desk.post("/staff/replies/mine/", sent("Newer", based_on=1))
        desk.post("/staff/replies/mine/withdraw/", {"number": 2, "reason": "out of date"})
        page = desk.get("/staff/replies/mine/").text
        assert "out of date" in page
        assert "withdrawn" in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("wrong", "message"),
        sample(
            [
                ({"da": ""}, "This field is required."),
                ({"ro": "{hello} {nothing}"}, "No value is available for {nothing}."),
                ({"de": "Guten Tag"}, "The placeholders differ from the English text: {hello}."),
                ({"name": "new"}, "This short name is already in use."),
                ({"name": "deposit"}, "This short name is already in use."),
            ],
            1,
        ),
        ids=["a language", "a mark", "another mark", "an address", "a name"],
    )
    def test_says_at_its_field_what_is_wrong_and_keeps_the_rest(self, wrong, message):
        page = at("compliance").post("/staff/replies/new/", sent(name="mine") | wrong)
        assert message in page.text.replace("&#x27;", "'")
        assert "New sv" in page.text
        assert not ReplyTemplate.objects.filter(name="mine").exists()

    def test_the_second_keeps_the_written_text(self, writer):
        a_template(writer)
        a_template(writer, "First", based_on=1)
        page = at("supervisor").post("/staff/replies/mine/", sent("Second", based_on=1))
        assert "This template was changed by another person." in page.text
        assert "Second sv" in page.text

    @pytest.mark.sweep
    def test_withdrawing_says_why_not(self, writer):
        a_template(writer)
        a_template(writer, "First", based_on=1)
        desk = at("supervisor")
        for data, message in (({"number": 1}, "Enter a reason"), ({"number": 1, "reason": "old"}, "now a version 2")):
            assert message in desk.post("/staff/replies/mine/withdraw/", data, follow=True).text
        assert desk.post("/staff/replies/nothing/withdraw/", {"number": 1, "reason": "old"}).status_code == 404
        assert desk.get("/staff/replies/nothing/").status_code == 404

    def test_staff_who_answer_read_them_and_do_not_write(self):
        desk = at("support")
        assert "New version" not in desk.get("/staff/replies/deposit/").text
        assert desk.post("/staff/replies/deposit/", sent(based_on=1)).status_code == 403
        assert Permission.objects.get(codename="write_replies").group_set.count() == 2


@pytest.mark.django_db
class TestFilling:
    @pytest.mark.sweep
    def test_facts_stand_where_there_are_some_and_brackets_where_not(self, player):
        played = a_round(player, a_table(), player=1000)
        code = player.participation_set.get().round.code
        about = conversations.RoundNamed(played.round_id, code)
        thread = conversations.begin(player=player, topic=Topic.COMPLAINT, text="HarmMarkerScan", about=about)
        thread.refresh_from_db()
        due_at = case_of(thread).due_at
        facts = facts_of(thread, "sv", a_member_of_staff("support").user)
        said = fill("{hello} {round} {due} {help} {turn_to} {amount}", facts)
        assert f"Hej, {code} {written_day(due_at, 'sv')} Stödlinjen" in said
        assert "arn.se" in said
        assert UNFILLED.findall(said) == ["[amount]"]

    def test_the_first_name_is_for_those_who_may_read_names_once_it_is_confirmed(self, player):
        thread = a_thread(player)
        support, operator = a_member_of_staff("support").user, a_member_of_staff("operator").user
        assert facts_of(thread, "de", support)["hello"] == "Guten Tag,"
        sent_in = a_submission(player, given_names="Åsa Maria")
        assert facts_of(thread, "de", support)["hello"] == "Guten Tag,"
        verification.verify(submission_id=sent_in.pk, by=a_member_of_staff("compliance"))
        assert facts_of(thread, "de", support)["hello"] == "Guten Tag Åsa,"
        assert facts_of(thread, "de", operator)["hello"] == "Guten Tag,"


@pytest.mark.django_db
class TestAnswering:
    def test_the_text_is_in_the_player_s_language_next_to_the_english_and_sent_as_edited(self, writer):
        player = reading("ro", a_player("RO"))
        made, thread, desk = a_template(writer), a_thread(player), at("support")
        address = f"/staff/service/{thread.pk}/"
        assert "Mine" in desk.get(address).text
        page = desk.post(address, {"fill": "1", "template": made.pk, "text": "", "seen": last(thread)}).text
        assert "Bună ziua, Hello ro" in page
        assert "Hello, Hello en" in page
        assert ServiceMessage.objects.count() == 1
        desk.post(address, {"template": made.pk, "text": "Bună ziua, dar altfel.", "seen": last(thread)})
        said = ServiceMessage.objects.latest("pk")
        assert said.text == "Bună ziua, dar altfel."
        assert events("service.answered")[0]["data"]["template"] == "reply:mine, version 1"
        a_template(writer, "Changed", based_on=1)
        said.refresh_from_db()
        assert said.text == "Bună ziua, dar altfel."

    @pytest.mark.sweep
    def test_a_letter_to_somebody_who_has_not_written_begins_from_one_too(self, player):
        desk, address = at("support"), f"/staff/service/new/{player.pk}/"
        removed = next(each for each in replies.newest() if each.name == "removed")
        page = desk.post(address, {"fill": "1", "template": removed.pk, "topic": "other", "text": ""}).text
        assert "Vi har tagit bort ett meddelande som du skrev i chatten. Anledning: [reason]." in page
        assert "We have removed a message of yours from the chat. The reason: [reason]." in page
        data = {"template": removed.pk, "topic": "other", "text": "Borttaget: [reason]"}
        assert "Fill in the remaining placeholders: [reason]." in desk.post(address, data).text
        assert not Conversation.objects.exists()
        desk.post(address, data | {"text": "Borttaget, eftersom det var reklam."})
        assert events("service.begun")[0]["data"]["template"] == "reply:removed, version 1"

    @pytest.mark.sweep
    def test_what_was_typed_already_stays(self, writer, player):
        made, thread = a_template(writer), a_thread(player)
        data = {"fill": "1", "template": made.pk, "text": "Already here.", "seen": last(thread)}
        assert "Already here.\n\nHej, Hello sv" in at("support").post(f"/staff/service/{thread.pk}/", data).text
        data = {"fill": "1", "text": "Already here."}
        assert "Already here." in at("support").post(f"/staff/service/{thread.pk}/", data).text

    def test_nothing_is_sent_in_which_something_waits_to_be_filled_in(self, player):
        thread = a_thread(player)
        data = {"text": "Your deposit of [amount] is late.", "seen": last(thread)}
        data["template"] = a_template(a_member_of_staff("compliance")).pk
        page = at("support").post(f"/staff/service/{thread.pk}/", data).text
        assert "Hello, Hello en" in page
        assert "Fill in the remaining placeholders: [amount]." in page
        assert "Your deposit of [amount] is late." in page
        assert ServiceMessage.objects.count() == 1

    @pytest.mark.sweep
    def test_what_the_house_does_not_know_is_asked_for_and_written_as_the_player_reads_it(self, player):
        desk, address = at("support"), f"/staff/service/new/{player.pk}/"
        ban = next(each for each in replies.newest() if each.name == "mute")
        page = desk.post(address, {"fill": "1", "template": ban.pk, "topic": "other", "text": ""}).text
        for key in ("until", "reason", "table"):
            assert f'name="mark_{key}"' in page
        assert 'name="mark_amount"' not in page
        data = {
            "template": ban.pk,
            "topic": "other",
            "text": "[until]. Skälet: [reason]. [table] [amount] [reason]",
            "mark_until": "2027-01-31T21:30",
            "mark_reason": "reklam",
            "mark_amount": "1,234.50",
        }
        page = desk.post(address, data | {"fill": "placeholders"}).text
        assert "till 31 januari 2027, 21:30. Skälet: reklam. [table] 1 234,50 kr reklam" in page.replace("\xa0", " ")
        assert page.count("Skälet:") == 1  # the template is not inserted again
        assert 'name="mark_table"' in page
        assert 'name="mark_reason"' not in page
        assert "Fill in the remaining placeholders: [table]." in desk.post(address, data).text
        assert not Conversation.objects.exists()
        desk.post(address, data | {"mark_table": "Guldbordet"})
        said = ServiceMessage.objects.get().text.replace("\xa0", " ")
        assert said == "till 31 januari 2027, 21:30. Skälet: reklam. Guldbordet 1 234,50 kr reklam"

    @pytest.mark.sweep
    @pytest.mark.parametrize("wrong", [{"mark_amount": "much"}, {"mark_until": "soon"}])
    def test_says_at_its_field_what_cannot_be_read(self, player, wrong):
        data = {"topic": "other", "text": "[amount] [until]"} | wrong
        page = at("support").post(f"/staff/service/new/{player.pk}/", data).text
        assert page.count("aria-invalid") + page.count("errorlist") >= 1
        assert not Conversation.objects.exists()

    def test_an_answer_in_a_conversation_asks_for_it_too(self, player):
        thread, desk = a_thread(player), at("support")
        data = {"text": "Din insättning på [amount] syns inte.", "mark_amount": "50", "seen": last(thread)}
        desk.post(f"/staff/service/{thread.pk}/", data)
        said = ServiceMessage.objects.latest("pk").text.replace("\xa0", " ")
        assert said == "Din insättning på 50,00 kr syns inte."

    def test_of_two_who_answer_at_once_the_second_reads_first_and_loses_nothing(self, player):
        thread = a_thread(player)
        address, read = f"/staff/service/{thread.pk}/", last(thread)
        at("support").post(address, {"text": "The first answer.", "seen": read})
        late = at("operator")
        page = late.post(address, {"text": "The second answer.", "seen": read}).text
        assert "Not sent: a new message has arrived." in page
        assert "The first answer." in page
        assert "The second answer." in page
        assert ServiceMessage.objects.filter(staff__isnull=False).count() == 1
        late.post(address, {"text": "The second answer.", "seen": last(thread)})
        assert ServiceMessage.objects.latest("pk").text == "The second answer."

    def test_the_player_s_message_of_the_meantime_is_read_before_anything_is_sent(self, player):
        thread = a_thread(player)
        read = last(thread)
        conversations.reply(player=player, conversation_id=thread.pk, text="It has solved itself.")
        with pytest.raises(conversations.NewMessageArrived):
            conversations.answer(staff=a_member_of_staff("support"), conversation_id=thread.pk, text="Late.", seen=read)

    @pytest.mark.sweep
    def test_a_conversation_closed_in_the_meantime_shows_the_unsent_text(self, player):
        thread = a_thread(player)
        conversations.close_own(player=player, conversation_id=thread.pk)
        page = at("support").post(f"/staff/service/{thread.pk}/", {"text": "Too late.", "seen": last(thread)}).text
        assert "This conversation is closed." in page
        assert "Too late." in page

    def test_a_form_that_does_not_say_what_was_read_sends_nothing(self, player):
        thread = a_thread(player)
        page = at("support").post(f"/staff/service/{thread.pk}/", {"text": "Blind."}).text
        assert "Not sent: a new message has arrived. Read it and send again." in page
        assert "Blind." in page

    @pytest.mark.sweep
    def test_a_complaint_is_offered_what_belongs_to_complaints(self, player):
        desk = at("support")
        page = desk.get(f"/staff/service/{a_thread(player, Topic.COMPLAINT).pk}/", follow=True).text
        assert "Complaint upheld" in page
        assert "Complaint upheld" not in desk.get(f"/staff/service/{a_thread(player).pk}/").text


class TestKept:
    def test_nobody_changes_what_was_written(self, cloned_db, owner):
        for action in (
            "UPDATE players_reply_template SET texts = '{}'",
            "DELETE FROM players_reply_template",
            "TRUNCATE players_reply_template CASCADE",
            "UPDATE players_reply_withdrawal SET reason = ''",
            "DELETE FROM players_reply_withdrawal",
        ):
            with pytest.raises(errors.RestrictViolation):
                owner.execute(action)
