"""Two players who talk at a shared table, each in a different language: messages are shown at once, blocked,
reported, and removed by staff on both screens.
"""

from collections.abc import Callable

import psycopg
import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from games.chat import moderation
from games.chat.moderation import Length, Why
from games.models import ChatMessage, ChatReport, Grounds, LiveTable
from tests.browser.at_table import windows_without_complaint
from tests.builders import a_player
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table
from tests.live.talk import a_talker, say, wait
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]


def opened(open_page: Callable[..., Page], language: str, **options: object) -> Page:
    page = open_page(**options)
    page.goto(f"/{language}/table/live/real/")
    return page


def write(page: Page, text: str, name: str = "") -> None:
    """Send a message, under a name where none was chosen yet, and see it on the sender's screen."""
    if name:
        page.locator("#chat-name").fill(name)
    page.locator("#chat-text").fill(text)
    page.locator("#chat-text").press("Enter")
    expect(page.locator(".chat__message--own", has_text=text)).to_be_visible()
    expect(page.locator("#chat-text")).to_have_value("")


def choices(page: Page, text: str) -> None:
    """Open the actions on a message."""
    page.locator(".chat__message", has_text=text).locator(".chat__choices").click()
    expect(page.locator("#chat-dialog")).to_be_visible()


def test_two_players_talk_report_and_block_and_staff_take_a_message_away(
    new_context: NewContext, web_server: WebServer, owner: psycopg.Connection
):
    live_table = a_live_table(slug="live")
    swede, german = a_player(real=1_000_000), a_player("DE", real=50_000)
    with (
        windows_without_complaint(new_context, web_server, swede) as swedish,
        windows_without_complaint(new_context, web_server, german) as german_one,
    ):
        first, second = opened(swedish, "sv"), opened(german_one, "de", viewport=PHONE)
        first.locator("#tab-chat").click()
        write(first, "Hej <b>på</b> er", "Åsa")
        expect(second.locator("#tab-chat")).to_have_attribute("data-count", "1")
        second.locator("#tab-chat").click()
        expect(second.locator("#tab-chat")).not_to_have_attribute("data-count", "1")
        heard = second.locator(".chat__message", has_text="Hej <b>på</b> er")
        expect(heard.locator(".chat__text")).to_have_attribute("lang", "sv")
        expect(heard.locator(".chat__name")).to_have_text("Åsa")
        write(second, "Guten Abend", "Jürgen")
        expect(first.locator(".chat__message:not(.chat__message--own)")).to_contain_text("Guten Abend")

        # A third one is rude: reported by one, removed by staff and from both screens.
        rude = say(live_table, "Something rude", a_talker("Bert"))
        for page in (first, second):
            expect(page.locator(f"#chat-{rude.pk}")).to_contain_text("Something rude")
        choices(first, "Something rude")
        first.locator("[name=reason][value=abuse]").check()
        first.locator("#chat-report").click()
        expect(first.locator("#chat-status")).to_contain_text("Tack")
        assert ChatReport.objects.get().player == swede
        staff = Client()
        staff.force_login(a_member_of_staff("support").user)
        staff.post(
            reverse("staff_chat_decide", args=[rude.pk]), {"decision": "removed", "sure": "on", "grounds": "abuse"}
        )
        expect(first.locator(f"#chat-{rude.pk}")).to_have_text("Vi har tagit bort ett meddelande.")
        expect(second.locator(f"#chat-{rude.pk}")).to_have_text("Wir haben eine Nachricht entfernt.")

        # One blocks the other, who is not notified, and whose messages all others see.
        choices(second, "Hej <b>på</b> er")
        second.locator("#chat-block").click()
        expect(second.locator(".chat__text", has_text="Hej <b>på</b> er")).to_have_count(0)
        wait(owner)
        write(first, "Hör ni mig?")
        say(live_table, "I do", a_talker("Cora"))
        for page in (first, second):
            expect(page.locator(".chat__text", has_text="I do")).to_be_visible()
        expect(second.locator(".chat__text", has_text="Hör ni mig?")).to_have_count(0)
        assert ChatMessage.objects.count() == 5


@pytest.mark.sweep
def test_a_name_removed_by_staff_disappears_everywhere_and_its_owner_chooses_another(
    new_context: NewContext, web_server: WebServer, owner: psycopg.Connection
):
    a_live_table(slug="live")
    rude, reader = a_player(real=1_000_000), a_player("DE", real=50_000)
    with (
        windows_without_complaint(new_context, web_server, rude) as swedish,
        windows_without_complaint(new_context, web_server, reader) as german,
    ):
        first, second = opened(swedish, "sv"), opened(german, "de", viewport=PHONE)
        first.locator("#tab-chat").click()
        write(first, "Hej", "Croupyer")
        second.locator("#tab-chat").click()
        heard = second.locator(".chat__message", has_text="Hej")
        expect(heard.locator(".chat__name")).to_have_text("Croupyer")
        first.locator("#chat-text").fill("Half a sentence")

        moderation.take_name(player=rude, name="Croupyer", why=Why(Grounds.IMPOSTOR), by=a_member_of_staff("support"))
        expect(heard.locator(".chat__nameless")).to_have_text("Name entfernt")
        expect(heard.locator(".chat__name")).to_have_count(0)
        own = first.locator(".chat__message--own")
        expect(own.locator(".chat__nameless")).to_have_text("Namn borttaget")
        expect(first.locator(".chat__notices")).to_contain_text("Vi har tagit bort ditt namn i chatten.")
        expect(first.locator("#chat-text")).to_have_value("Half a sentence")
        expect(second.locator(".chat__notices")).to_have_count(0)

        wait(owner)
        first.locator("#chat-name").fill("Åsa")
        first.locator("#chat-text").press("Enter")
        expect(second.locator(".chat__message", has_text="Half a sentence").locator(".chat__name")).to_have_text("Åsa")
        expect(first.locator(".chat__notices")).to_have_count(0)

        # At one table alone they may not write any more, and the page says so at once.
        moderation.ban(
            player=rude,
            length=Length.LIFTED,
            why=Why(Grounds.ABUSE),
            by=a_member_of_staff("support"),
            live_table=LiveTable.objects.get(table__slug="live", mode="R"),
        )
        expect(first.locator(".chat__banned")).to_contain_text("Vid det här bordet kan du läsa chatten")
        expect(first.locator("#chat-text")).to_have_count(0)


@pytest.mark.sweep
def test_a_reader_mutes_the_chat_and_hides_it_in_their_browser(new_context: NewContext, web_server: WebServer):
    live_table = a_live_table(slug="live")
    with windows_without_complaint(new_context, web_server, a_player(real=1_000_000)) as window:
        page = opened(window, "en")
        page.locator("#tab-chat").click()
        page.locator("#chat-more summary").click()
        page.locator("#chat-mute").check()
        expect(page.locator("#chat-log")).to_have_attribute("aria-live", "off")
        page.locator("#chat-off").check()
        expect(page.locator("#chat")).to_be_hidden()
        expect(page.locator("#chat-switched-off")).to_be_visible()
        said = say(live_table, "Nobody sees this")
        page.reload()
        page.locator("#tab-chat").click()
        expect(page.locator("#chat")).to_be_hidden()
        expect(page.locator("#tab-chat")).not_to_have_attribute("data-count", "1")
        page.locator("#chat-on").click()
        expect(page.locator(f"#chat-{said.pk}")).to_be_visible()
        expect(page.locator("#chat-log")).to_have_attribute("aria-live", "off")
