"""A complaint as it goes from the player to the staff and back; and a statement taken home."""

import re

import pytest
from playwright.sync_api import expect

from players.models import Topic
from players.support import conversations
from tests.browser.at_table import a_window, log_in
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sweep
from tests.people import a_member_of_staff

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 100_000


def test_a_complaint_goes_to_the_staff_and_back(new_context, web_server):
    player = a_player(real=MONEY)
    played = a_round(player, a_table(), player=1000)
    code = player.participation_set.get().round.code
    page = a_window(new_context, web_server, player).new_page()
    page.goto(f"/en/history/{played.round_id}/")
    page.get_by_role("link", name="Complain about this round").click()
    expect(page.get_by_label("Round code, if it is about a round")).to_have_value(code)
    page.get_by_label("Your message").fill("The third card was wrong.\nPlease look.")
    page.get_by_role("button", name="Send message").click()
    expect(page.get_by_text("Your message has been sent.")).to_be_visible()
    expect(page.get_by_text("Decision due by")).to_be_visible()

    window = new_context(base_url=web_server.url)
    log_in(window, web_server, a_member_of_staff("compliance").user)
    desk = window.new_page()
    desk.goto("/staff/")
    ways = desk.get_by_role("navigation", name="Back office")
    ways.get_by_role("link", name="Cases").click()
    desk.get_by_role("link", name=re.compile(r"^Case \d+$")).click()
    desk.get_by_role("link", name="Verify the round").click()
    expect(desk.get_by_role("heading", name=f"Round {code}")).to_be_visible()
    desk.go_back()
    desk.get_by_role("textbox", name="Answer").fill("We dealt it again: it was right.")
    desk.get_by_role("button", name="Send answer").click()
    expect(desk.get_by_text("Answer sent")).to_be_visible()

    page.goto("/en/account/")
    expect(page.get_by_text("1 new answer")).to_be_visible()
    page.locator("main").get_by_role("link", name="Customer service").click()
    page.get_by_role("link", name=re.compile(r"^Message \d+$")).click()
    expect(page.get_by_text("We dealt it again: it was right.")).to_be_visible()
    page.get_by_role("button", name="Close this conversation").click()
    expect(page.get_by_text("The conversation is closed.")).to_be_visible()
    expect(page.get_by_role("button", name="Send message")).to_have_count(0)
    page.goto("/en/account/")
    expect(page.get_by_text("new answer")).to_have_count(0)


@pytest.mark.sweep
def test_a_complaint_is_taken_decided_and_opened_again(new_context, web_server):
    player = a_player("SE")
    case = conversations.begin(player=player, topic=Topic.COMPLAINT, text="That was no natural.")
    window = new_context(base_url=web_server.url)
    log_in(window, web_server, a_member_of_staff("support", name="Ulla Vester").user)
    desk = window.new_page()
    desk.goto("/staff/cases/?kind=complaint")
    desk.get_by_role("link", name=re.compile(r"^Case \d+$")).click()
    desk.get_by_role("button", name="Assign to me").click()
    expect(desk.get_by_text("Recorded: assigned.")).to_be_visible()
    desk.get_by_role("textbox", name="Answer").fill("Nine it was.")
    desk.get_by_role("button", name="Preview decision").click()
    expect(desk.get_by_text("Choose the verdict.")).to_be_visible()
    expect(desk.get_by_role("textbox", name="Answer")).to_have_value("Nine it was.")
    desk.get_by_label("Verdict (for a decision)").select_option("rejected")
    desk.get_by_role("button", name="Preview decision").click()
    as_read = desk.get_by_role("region", name="Preview for the player")
    expect(as_read.get_by_text("Nine it was.")).to_be_visible()
    as_read.get_by_role("button", name="Send decision").click()
    expect(as_read.get_by_role("alert")).to_be_visible()
    as_read.get_by_label("It cannot be changed afterwards.").check()
    as_read.get_by_role("button", name="Send decision").click()
    expect(desk.get_by_text("Complaint decided")).to_be_visible()

    page = a_window(new_context, web_server, player).new_page()
    page.goto(f"/en/service/{case.pk}/")
    expect(page.get_by_text("Complaint not upheld")).to_be_visible()
    expect(page.get_by_text("Nine it was.")).to_be_visible()
    page.get_by_label("Why do you not agree?").fill("I saw an eight.")
    page.get_by_role("button", name="Reopen my complaint").click()
    expect(page.get_by_text("Your complaint has been reopened.")).to_be_visible()
    desk.goto("/staff/cases/?kind=complaint&owner=nobody")
    expect(desk.get_by_role("cell", name="Awaiting our answer")).to_be_visible()


@pytest.mark.parametrize("javascript", sweep([True, False], always=[True]), ids=["with JavaScript", "without"])
def test_a_statement_is_chosen_and_taken_home(new_context, web_server, javascript):
    player = a_player(real=MONEY)
    a_round(player, a_table(), player=1000)
    page = a_window(new_context, web_server, player, java_script_enabled=javascript).new_page()
    page.goto("/en/cashier/")
    page.locator("main").get_by_role("link", name="Statement", exact=True).click()
    expect(page.get_by_role("link", name="This month")).to_have_attribute("aria-current", "true")
    page.get_by_role("textbox", name="From").fill("2026-01-02")
    page.get_by_role("button", name="Show this period").click()
    expect(page).to_have_url(re.compile("since=2026-01-02"))
    for ending in ("PDF", "CSV"):
        with page.expect_download() as taken:
            page.get_by_role("link", name=f"Download as {ending}").click()
        assert re.fullmatch(
            rf"sabot-statement-2026-01-02--\d{{4}}-\d\d-\d\d\.{ending.lower()}", taken.value.suggested_filename
        )
