"""The pages of the chat, with and without JavaScript, for players and staff; user text stays text."""

import io
import json
import re
import zipfile
from html import escape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.data_export import export
from games import chat
from games.chat import moderation, panel
from games.chat.moderation import Length, Why
from games.models import (
    ChatBan,
    ChatBlock,
    ChatMessage,
    ChatName,
    ChatNameTaken,
    ChatReport,
    Grounds,
    LiveTable,
    ReportReason,
    Table,
)
from games.tables import status
from players.datetime_format import written_until
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table, live_table_of
from tests.live.talk import RUDE, a_talker, say
from tests.live.test_chat import notifications_since, start_of
from tests.pages.markup import Page
from tests.people import a_member_of_staff, a_visitor
from tests.staff_lists import open_tasks
from wallet.models import Mode

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
ALWAYS: dict[str, str] = {}
TRICKS = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg/onload=alert(1)>",
    "&lt;b&gt; &#60;i&#62;",
    "{{ request.user }}{% debug %}",
    "javascript&colon;alert(1)",
    "</li></template><dialog open>",
    "--><!--<b>",
    "`${alert(1)}`",
    "=1+1",
    "a\u202eb\u2066c",
]


@pytest.fixture
def live_table() -> LiveTable:
    return a_live_table("no_commission")


@pytest.fixture
def anna() -> Player:
    return a_talker("Anna")


def visitor_of(player: Player) -> Client:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def address(name: str, live_table: LiveTable, **more: int) -> str:
    return reverse(name, kwargs={"slug": live_table.table.slug, "mode": live_table.mode, **more})


def page_of(live_table: LiveTable) -> str:
    return address("live_chat", live_table) + "?page"


def send(visitor: Client, live_table: LiveTable, text: str, headers: dict[str, str] = HTMX, **more: str) -> Any:
    return visitor.post(address("live_chat_say", live_table), {"text": text, **more}, headers=headers)


class TestAPlayer:
    def test_chooses_a_name_with_the_first_message_and_reads_it_at_the_table(self, live_table):
        visitor = visitor_of(a_player(real=1_000_000))
        table = reverse("table", args=[live_table.table.slug, "R"])
        assert 'id="chat-name"' in visitor.get(table).text
        answer = send(visitor, live_table, "Hello <all>", name="Zoë")
        assert 'id="chat-status"' in answer.text  # ë is not an allowed letter
        assert 'value="Hello &lt;all&gt;"' in answer.text
        assert not ChatName.objects.exists()
        answer = send(visitor, live_table, "Hello <all>", name="Zoe")
        assert 'id="chat-sent"' in answer.text
        assert "chat__message--own" in answer.text
        assert 'id="chat-name"' not in answer.text
        page = visitor.get(table).text
        assert 'data-name="Zoe"' in page
        assert '<p class="chat__text" lang="en" dir="auto">Hello &lt;all&gt;</p>' in page

    @pytest.mark.sweep
    def test_keeps_a_name_that_was_chosen_though_the_message_was_refused(self, live_table):
        visitor = visitor_of(a_player(real=1_000_000))
        answer = send(visitor, live_table, "see evil.com", name="Zoe")
        assert "addresses and telephone numbers cannot be sent in the chat" in answer.text
        assert 'value="see evil.com"' in answer.text
        assert not ChatMessage.objects.exists()
        assert 'id="chat-name"' not in answer.text

    @pytest.mark.sweep
    def test_without_script_writes_on_a_page_of_its_own(self, live_table, anna):
        visitor = visitor_of(anna)
        assert page_of(live_table) in visitor.get(reverse("table", args=[live_table.table.slug, "R"])).text
        answer = send(visitor, live_table, "Good evening", ALWAYS)
        assert (answer.status_code, answer.url) == (302, page_of(live_table))
        assert "Good evening" in visitor.get(page_of(live_table)).text
        answer = visitor.post(address("live_chat_say", live_table), {"text": "too fast"}, follow=True)
        assert 'value="too fast"' in answer.text
        assert "sending messages too quickly" in answer.text
        assert "sending messages too quickly" not in visitor.get(page_of(live_table)).text

    @pytest.mark.sweep
    def test_reads_the_language_of_the_chat_on_top_where_it_has_one(self, live_table, anna):
        visitor = visitor_of(anna)
        assert "Chat language" not in visitor.get(page_of(live_table)).text
        Table.objects.filter(pk=live_table.table_id).update(chat_language="sv")
        assert "Chat language: Swedish" in visitor.get(page_of(live_table)).text

    @pytest.mark.sweep
    @pytest.mark.parametrize("headers", sample([HTMX, ALWAYS], 1), ids=["script", "no script"])
    def test_reports_and_blocks_and_reads_again(self, live_table, anna, headers):
        message = say(live_table, "Something rude", a_talker("Bert"))
        visitor = visitor_of(anna)
        choices = visitor.get(address("live_chat_message", live_table, number=message.pk), headers=headers)
        assert "Something rude" in choices.text
        assert "Block Bert" in choices.text

        def do(name: str, data: dict[str, str], **more: int) -> str:
            answer = visitor.post(address(name, live_table, **more), data, headers=headers, follow=not headers)
            assert isinstance(answer.text, str)
            return answer.text

        assert "Choose what is wrong" in do("live_chat_report", {"reason": "everything"}, number=message.pk)
        assert not ChatReport.objects.exists()
        assert "Thank you" in do("live_chat_report", {"reason": "abuse"}, number=message.pk)
        assert ChatReport.objects.get().player == anna
        assert "Something rude" not in do("live_chat_block", {}, number=message.pk)
        block = ChatBlock.objects.get()
        assert "Something rude" not in visitor.get(address("live_chat", live_table)).text
        assert "Something rude" in do("live_chat_unblock", {"block": str(block.pk)})

    @pytest.mark.sweep
    def test_can_do_nothing_about_their_own_message_nor_one_that_is_gone(self, live_table, anna):
        own, gone = say(live_table, by=anna), say(live_table)
        moderation.remove(message_id=gone.pk, why=RUDE, by=a_member_of_staff("support"))
        visitor = visitor_of(anna)
        choices = visitor.get(address("live_chat_message", live_table, number=own.pk), headers=HTMX)
        assert "your own" in choices.text
        assert "chat-report" not in choices.text
        for name in ("live_chat_report", "live_chat_block"):
            for number in (own.pk, gone.pk, 2**70):
                visitor.post(address(name, live_table, number=number), {"reason": "abuse"}, headers=HTMX)
        assert visitor.get(address("live_chat_message", live_table, number=gone.pk)).status_code == 404
        assert not ChatReport.objects.exists()
        assert not ChatBlock.objects.exists()

    def test_reports_nothing_that_the_form_does_not_offer(self, live_table, anna):
        """Each attack is the form with another address, message or sender; the answer of each, and no report."""
        unplayable, other = a_live_table("pairs", slug="unplayable"), a_live_table("pairs", slug="elsewhere")
        elsewhere, unseen, own = say(other), say(unplayable), say(live_table, by=anna)
        gone, free = say(live_table), live_table_of(live_table.table, Mode.FREE)
        moderation.remove(message_id=gone.pk, why=RUDE, by=a_member_of_staff("support"))
        status.close_table(table_id=unplayable.table_id, reason="for a test", by="staff:test")
        paused = a_talker()
        exclusions.pause(player=paused, by=str(paused))
        good = say(live_table)
        anybody, player, staff = a_visitor(), visitor_of(anna), a_visitor()
        staff.force_login(a_member_of_staff("support").user)

        def attack(visitor: Client, at: LiveTable, number: int) -> str:
            where = address("live_chat_report", at, number=1).replace("/1/", f"/{number}/")
            answer = visitor.post(where, {"reason": "abuse"}, headers=HTMX)
            found = re.search(r'id="chat-status"[^>]*>(?:<[^>]*>)*([^<]*)', answer.text)
            return found[1].strip() if found and answer.status_code == 200 else str(answer.status_code)

        said = {
            "at another table": attack(player, live_table, elsewhere.pk),
            "with free money": attack(player, free, good.pk),
            "of a closed table": attack(player, live_table, unseen.pk),
            "in a pause": attack(visitor_of(paused), live_table, good.pk),
            "own": attack(player, live_table, own.pk),
            "removed": attack(player, live_table, gone.pk),
            "none": attack(player, live_table, 0),
            "next": attack(player, live_table, good.pk + 1),
            "too large": attack(player, live_table, 2**63),
            "huge": attack(player, live_table, 10**40),
            "negative": attack(player, live_table, -1),
            "by staff": attack(staff, live_table, good.pk),
            "by nobody": attack(anybody, live_table, good.pk),
        }
        unavailable = "This message is no longer available."
        assert said == {
            "at another table": unavailable,
            "with free money": unavailable,
            "of a closed table": unavailable,
            "own": "This is your own message.",
            "removed": unavailable,
            "none": unavailable,
            "next": unavailable,
            "too large": unavailable,
            "huge": unavailable,
            "negative": "404",
            "by staff": "403",
            "by nobody": "200",
            "in a pause": "200",
        }
        assert not ChatReport.objects.exists()
        decide = reverse("staff_chat_decide", args=[good.pk])
        assert player.post(decide, {"decision": "removed", "grounds": "abuse"}).status_code == 403
        for reason in ("abuse", "other", "abuse"):
            player.post(address("live_chat_report", live_table, number=good.pk), {"reason": reason}, headers=HTMX)
        (kept,) = ChatReport.objects.all()
        assert (kept.player, kept.message, kept.reason) == (anna, good, "abuse")

    def test_reports_twenty_messages_an_hour_and_others_still_report(self, live_table, anna):
        messages, visitor = [say(live_table) for _ in range(21)], visitor_of(anna)

        def report(by: Client, message: ChatMessage) -> str:
            where = address("live_chat_report", live_table, number=message.pk)
            return by.post(where, {"reason": "other"}, headers=HTMX).text

        for message in messages[:20]:
            assert "Thank you" in report(visitor, message)
        assert "You have reported many messages within an hour." in report(visitor, messages[20])
        assert "Thank you" in report(visitor, messages[0])  # the report that there is
        assert "Thank you" in report(visitor_of(a_player(real=1_000_000)), messages[20])
        assert (ChatReport.objects.filter(player=anna).count(), ChatReport.objects.count()) == (20, 21)

    def test_who_is_banned_reads_why_they_cannot_write(self, live_table, anna):
        moderation.ban(
            player=anna, length=Length.DAY, why=Why(Grounds.ABUSE, "secret"), by=a_member_of_staff("support")
        )
        visitor = visitor_of(anna)
        for page in (visitor.get(page_of(live_table)), send(visitor, live_table, "Hi")):
            assert "You can read the chat, but you cannot write in it until" in page.text
            assert "insults or threats" in page.text
            assert 'id="chat-text"' not in page.text
            assert "secret" not in page.text

    @pytest.mark.sweep
    def test_changes_the_name_and_is_refused_when_that_is_too_early(self, live_table, anna):
        visitor, name = visitor_of(anna), address("live_chat_name", live_table)
        assert "once a day" in visitor.post(name, {"name": "Bea"}, headers=HTMX).text
        assert chat.name_of(anna) == "Anna"

    def test_reads_nobody_s_number_nor_address(self, live_table, anna):
        message = say(live_table)
        text = visitor_of(anna).get(address("live_chat", live_table)).text
        assert message.player.user.email not in text
        assert message.author not in text


class TestWhatIsWritten:
    """Stored text is shown as text on every page. The rows are inserted here past the rules."""

    def written(self, live_table: LiveTable, trick: str) -> ChatMessage:
        player = a_player(real=1_000_000)
        ChatName.objects.create(player=player, name=trick[:20])
        message = ChatMessage.objects.create(live_table=live_table, player=player, language="en", text=trick)
        chat.report(player=a_player(), live_table=live_table, number=message.pk, reason=ReportReason.ABUSE)
        return message

    @pytest.mark.parametrize("trick", sample(TRICKS, 2))
    def test_is_text_on_every_page_and_on_the_stream(self, live_table, anna, trick):
        start = start_of(live_table)
        message = self.written(live_table, trick)
        stream = panel.render_message(notifications_since(live_table, *start)[0])
        player, staff = visitor_of(anna), a_visitor()
        staff.force_login(a_member_of_staff("support").user)
        stated = [stream]
        for visitor, path in (
            (player, reverse("table", args=[live_table.table.slug, "R"])),
            (player, address("live_chat", live_table)),
            (player, page_of(live_table)),
            (player, address("live_chat_message", live_table, number=message.pk)),
            (staff, reverse("staff_chat")),
            (staff, reverse("staff_chat_log")),
            (staff, reverse("staff_chat_message", args=[message.pk])),
        ):
            answer = visitor.get(path)
            assert answer.status_code == 200, path
            stated.append(answer.text)
            if "<html" in answer.text:
                assert not Page(answer.text, nonce_of(answer)).faults, path
        chat.block(player=anna, live_table=live_table, number=message.pk)
        stated.append(player.get(page_of(live_table)).text)
        stated = [written_alike(text) for text in stated]
        for text in stated[:-1]:
            assert f">{escape(trick)}<" in text
        for text in stated:
            assert escape(trick[:20]) in text
            assert escape(trick) == trick or trick not in text

    @pytest.mark.sweep
    def test_is_text_where_it_is_refused_and_returned(self, live_table):
        visitor = visitor_of(a_player(real=1_000_000))
        for trick in TRICKS:
            answer = send(visitor, live_table, trick, name=trick)
            assert f'value="{escape(trick)}"' in written_alike(answer.text)
        assert not ChatMessage.objects.exists()

    @pytest.mark.sweep
    def test_is_what_it_is_in_the_export(self, live_table):
        message = self.written(live_table, "=1+1</b>")
        archive = zipfile.ZipFile(io.BytesIO(b"".join(export(message.player))))
        (row,) = json.loads(archive.read("chat.json"))
        assert row["text"] == "=1+1</b>"
        assert "'=1+1</b>" in archive.read("chat.csv").decode()


def written_alike(text: str) -> str:
    """Return the text with quotes as the standard library escapes them, not as Jinja does."""
    return str(text).replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def nonce_of(answer: Any) -> str:
    """Return the nonce in the content security policy of an answer."""
    policy = answer["Content-Security-Policy"]
    assert isinstance(policy, str)
    return policy.split("'nonce-")[1].split("'")[0]


class TestStaff:
    @pytest.fixture
    def visitor(self) -> Client:
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("support").user)
        return visitor

    @pytest.fixture
    def message(self, live_table) -> ChatMessage:
        return say(live_table, "Something rude", a_talker("Bert"))

    def report(self, message: ChatMessage) -> None:
        chat.report(player=a_player(), live_table=message.live_table, number=message.pk, reason=ReportReason.ABUSE)

    def decide(self, visitor: Client, message: ChatMessage, **data: str) -> str:
        answer = visitor.post(reverse("staff_chat_decide", args=[message.pk]), data, follow=True)
        assert answer.status_code == 200
        text: str = answer.text
        return text

    @pytest.mark.sweep
    def test_have_what_was_reported_first_on_top_among_what_was_said_around_it(self, visitor, live_table):
        assert "No reported messages." in visitor.get(reverse("staff_chat")).text
        lines = [say(live_table, f"Line number {number}!") for number in range(15)]
        self.report(lines[9])
        self.report(lines[7])
        page = visitor.get(reverse("staff_chat")).text
        assert page.index(f'id="message-{lines[9].pk}"') < page.index(f'id="message-{lines[7].pk}"')
        first = page[page.index(f'id="message-{lines[9].pk}"') : page.index(f'id="message-{lines[7].pk}"')]
        assert [f"number {number}!" in first for number in (3, 4, 9, 14)] == [False, True, True, True]
        assert reverse("staff_player", args=[lines[9].player_id]) in first
        assert open_tasks(visitor)["Reported chat messages"] == 2

    @pytest.mark.sweep
    def test_go_through_the_queue_author_by_author(self, visitor, live_table, monkeypatch):
        monkeypatch.setattr("backoffice.chat.WaitingAuthors.size", 2)
        said = [say(live_table, f"Number {number}") for number in range(3)]
        for message in said:
            self.report(message)
        page = visitor.get(reverse("staff_chat")).text
        assert f'id="message-{said[2].pk}"' not in page
        more = page.split('rel="next" href="')[1].split('"')[0]
        page = visitor.get(reverse("staff_chat") + more).text
        assert f'id="message-{said[2].pk}"' in page
        assert f'id="message-{said[0].pk}"' not in page

    @pytest.mark.sweep
    def test_lose_nothing_of_a_decision_that_lacks_something(self, visitor, message):
        self.report(message)
        chosen = {"decision": "removed", "length": "day", "where": "here", "takes_name": "on", "note": "Third time."}
        page = self.decide(visitor, message, **chosen)
        assert "Choose a reason. It is shown to the player." in page
        assert "Confirm the removal." in page
        assert 'value="removed" checked' in page
        assert '<option value="day" selected>' in page
        assert '<option value="here" selected>' in page
        assert 'name="takes_name" checked' in page
        assert 'value="Third time."' in page
        assert "Choose whether to keep or remove the message." in self.decide(
            visitor, message, length="day", grounds="abuse"
        )
        message.refresh_from_db()
        assert message.removed_at is None

    @pytest.mark.sweep
    def test_narrow_the_queue_and_read_what_was_decided(self, visitor, live_table, monkeypatch):
        one, two = say(live_table, "One"), say(live_table, "Two")
        for message in (one, two):
            self.report(message)
        queue, here = reverse("staff_chat"), live_table.pk
        for asked, found in (
            ({"reason": "abuse"}, 2), ({"reason": "cheating"}, 0), ({"table": here}, 2),
        ):  # fmt: skip
            page = visitor.get(queue, asked).text
            assert page.count('id="message-') == found, asked
            assert ("No open reports match this filter." in page) == (not found)
        page = visitor.get(queue, {"table": here + 1}).text
        assert ("Nothing was searched" in page, page.count('id="message-')) == (True, 0)
        keeper, remover = a_member_of_staff("supervisor"), a_member_of_staff("support")
        moderation.keep(message_id=one.pk, by=keeper)
        moderation.remove(message_id=two.pk, why=RUDE, by=remover)
        for asked, found in (
            ({"state": "decided"}, 2), ({"state": "kept"}, 1), ({"state": "removed"}, 1), ({"by": keeper.pk}, 1),
            ({"state": "kept", "by": remover.pk}, 0), ({"state": "decided", "reason": "private"}, 0),
        ):  # fmt: skip
            page = visitor.get(queue, asked).text
            assert page.count('data-label="Decision"') == found, asked
            assert ("No decisions match this filter." in page) == (not found)
        monkeypatch.setattr("backoffice.chat.DecidedReports.size", 1)
        page = visitor.get(queue, {"state": "decided"}).text
        older = page.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        assert f"Chat message {one.pk}<" in visitor.get(queue + older).text
        assert "No reported messages." in visitor.get(queue).text

    def test_remove_a_message_after_confirming_it_and_ban_with_a_reason(self, visitor, message):
        self.report(message)
        assert "Confirm the removal." in self.decide(visitor, message, decision="removed", grounds="abuse")
        assert "Choose a reason. It is shown to the player." in self.decide(
            visitor, message, decision="removed", sure="on"
        )
        assert "Choose a reason. It is shown to the player." in self.decide(
            visitor, message, decision="kept", length="day"
        )
        assert not ChatBan.objects.exists()
        assert "was removed" in self.decide(
            visitor, message, decision="removed", sure="on", length="week", grounds="abuse", note="Rude to everybody"
        )
        message.refresh_from_db()
        assert message.removed_at
        assert ChatBan.objects.get().reason == "Rude to everybody"
        assert "This message has already been removed." in self.decide(
            visitor, message, decision="removed", sure="on", grounds="abuse"
        )

    @pytest.mark.sweep
    def test_take_a_name_with_the_decision_or_by_itself(self, visitor, live_table, message):
        self.report(message)
        assert "Confirm the removal." in self.decide(
            visitor, message, decision="kept", takes_name="on", grounds="impostor"
        )
        page = self.decide(visitor, message, decision="kept", takes_name="on", grounds="impostor", sure="on")
        assert "The chat name was removed." in page
        page = visitor.get(reverse("staff_chat_message", args=[message.pk])).text
        assert "name removed" in page
        assert "impersonation" in page
        assert 'name="takes_name"' not in page
        other = say(live_table, "Hi", a_talker("Odd"))
        take, back = reverse("staff_chat_name", args=[other.player_id]), reverse("staff_chat_log")
        data = {"name": "Odd", "next": back}
        assert "Choose a reason. It is shown to the player." in visitor.post(take, data, follow=True).text
        data |= {"grounds": "abuse"}
        assert f"The chat name of player:{other.player_id} was removed." in visitor.post(take, data, follow=True).text
        assert "This name has already been removed." in visitor.post(take, data, follow=True).text
        assert set(ChatNameTaken.objects.values_list("name", flat=True)) == {"Bert", "Odd"}
        player = visitor.get(reverse("staff_player", args=[other.player_id]))
        assert "Removed chat names" in player.text

    @pytest.mark.sweep
    def test_keep_somebody_from_writing_at_one_table(self, visitor, live_table, message):
        self.report(message)
        self.decide(visitor, message, decision="kept", length="day", where="here", grounds="spam")
        assert ChatBan.objects.get().live_table == live_table
        page = visitor.get(reverse("staff_chat_message", args=[message.pk])).text
        assert f"at {live_table.table.name} only" in page
        assert f"Lift ban at {live_table.table.name}" in page
        ban = reverse("staff_chat_ban", args=[message.player_id])
        given = {"length": "hour", "grounds": "spam"}
        here = visitor.post(ban, given | {"live_table": live_table.pk}, follow=True).text
        assert f"is banned from the chat at {live_table.table.name} and has been notified." in here
        everywhere = visitor.post(ban, given, follow=True).text
        assert "is banned from the chat at every table and has been notified." in everywhere
        assert list(ChatBan.objects.order_by("pk").values_list("live_table", flat=True)) == [live_table.pk] * 2 + [None]

    @pytest.mark.sweep
    def test_keep_a_message(self, visitor, message):
        self.report(message)
        assert "was kept." in self.decide(visitor, message, decision="kept")
        assert "No reported messages." in visitor.get(reverse("staff_chat")).text

    @pytest.mark.sweep
    def test_ban_and_lift_on_the_page_of_a_message(self, visitor, message):
        page = reverse("staff_chat_message", args=[message.pk])
        ban = reverse("staff_chat_ban", args=[message.player_id])
        assert "Choose a duration and a reason." in visitor.post(ban, {"length": "day", "next": page}, follow=True).text
        answer = visitor.post(ban, {"length": "lifted", "grounds": "abuse", "note": "Rude", "next": page})
        assert answer.url == page
        assert "Lift ban" in visitor.get(page).text
        lift = reverse("staff_chat_lift", args=[ChatBan.objects.get().pk])
        assert visitor.post(lift, {"next": "https://evil.test/"}).url == reverse("staff_chat")
        assert visitor.post(lift, {"next": "no page's name"}).url == reverse("staff_chat")
        assert "ended already" in visitor.post(lift, follow=True).text
        assert chat.ban_of(message.player) is None

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("asked", "found"),
        sample([
            ({}, 3), ({"text": "RUDE"}, 1), ({"text": "%"}, 0), ({"player": "bert"}, 1), ({"player": "nobody"}, 0),
            ({"since": "2001-01-01T00:00"}, 3), ({"until": "2001-01-01T00:00"}, 0), ({"player": "9" * 30}, 0),
            ({"since": "yesterday"}, 0), ({"before": "1"}, 0), ({"table": "x"}, 0),
        ], 5),
    )  # fmt: skip
    def test_look_up_what_was_said(self, visitor, live_table, message, asked, found):
        say(live_table, "Hello")
        say(live_table, "Good evening")
        page = visitor.get(reverse("staff_chat_log"), asked)
        assert page.status_code == 200
        assert page.text.count('data-label="Message"') == found

    @pytest.mark.sweep
    def test_look_up_one_player_and_one_table_page_by_page(self, visitor, live_table, monkeypatch):
        monkeypatch.setattr("backoffice.chat.ChatLog.size", 2)
        lines = [say(live_table, f"Line number {number}") for number in range(3)]
        page = visitor.get(reverse("staff_chat_log"), {"table": live_table.pk}).text
        assert page.count('data-label="Message"') == 2
        assert f"before={lines[1].pk}" in page
        older = visitor.get(reverse("staff_chat_log"), {"table": live_table.pk, "before": lines[1].pk}).text
        assert "Line number 0" in older
        assert older.count('data-label="Message"') == 1
        one = visitor.get(reverse("staff_chat_log"), {"player": f"player:{lines[1].player_id}"}).text
        assert one.count('data-label="Message"') == 1

    def test_of_compliance_read_and_decide_nothing(self, message):
        self.report(message)
        visitor = a_visitor()
        visitor.force_login(a_member_of_staff("compliance").user)
        page = visitor.get(reverse("staff_chat")).text
        assert "Something rude" in page
        assert reverse("staff_chat_decide", args=[message.pk]) not in page
        answer = visitor.post(reverse("staff_chat_decide", args=[message.pk]), {"decision": "kept"})
        assert answer.status_code == 403

    @pytest.mark.sweep
    def test_begin_a_letter_from_what_was_decided(self, visitor, live_table, message):
        support, author = a_member_of_staff("support"), message.player
        new = reverse("staff_service_new", args=[author.pk])
        moderation.remove(message_id=message.pk, why=RUDE, by=support)
        here = moderation.ban(player=author, length=Length.DAY, why=RUDE, by=support, live_table=live_table)
        everywhere = moderation.ban(player=author, length=Length.LIFTED, why=RUDE, by=support)
        taken = moderation.take_name(player=author, name="Bert", why=RUDE, by=support)
        page = visitor.get(reverse("staff_chat_message", args=[message.pk])).text
        ends = written_until(here.until, author.jurisdiction.time_zone)
        for about, said in (
            (f"chat_message:{message.pk}", "removed a message of yours from the chat"),
            (f"chat_ban:{here.pk}", f"the chat at table {live_table.table.name} {ends}."),
            (f"chat_ban:{everywhere.pk}", "in any chat until further notice"),
            (f"chat_name:{taken.pk}", "removed your name in the chat"),
        ):
            assert f"{new}?about={about}" in page
            letter = visitor.get(f"{new}?about={about}").text
            assert said in letter
            assert "The reason: insults or threats." in letter
            assert "[" not in letter.split("<textarea")[1].split("</textarea>")[0]
            other = reverse("staff_service_new", args=[a_player().pk])
            assert said not in visitor.get(f"{other}?about={about}").text
        for about in ("chat_ban:0", "chat_ban:x", "nothing:1", "chat_ban", "chat_ban:" + "9" * 30):
            assert visitor.get(f"{new}?about={about}").status_code == 200
