"""A round that its seed does not reproduce, as the player and the back office see it."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Page, expect

from games.models import Participation, Round
from games.verification import verification_task
from players.models import Player, User
from tests.builders import a_player, a_round, a_table
from tests.games.corrupt import corrupt
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer
from tests.people import a_member_of_staff
from wallet.money import format_money

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
TABLE = "/en/table/baccarat/real/"
SENTENCE = "was voided because of a malfunction. All stakes were returned and any payout was reversed."
Enter = Callable[..., Page]


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer) -> Iterator[Enter]:
    """Open a window for someone who is logged in, and fail on any error that the browser reported."""
    complaints: list[str] = []

    def open_window(user: User, viewport: object = DESKTOP) -> Page:
        window, client = new_context(base_url=web_server.url, viewport=viewport), Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        window.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": web_server.url}])
        page = window.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_window
    assert complaints == []


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=MONEY)


@pytest.fixture
def bad_round(web_server: WebServer, player: Player, owner: psycopg.Connection) -> Round:
    """A round whose cards were damaged, between two good ones."""
    table = a_table()
    a_round(player, table, player=1000)
    bad = a_round(player, table, player=1000, tie=5000)
    a_round(player, table, banker=1000)
    corrupt(owner, bad.round_id)
    return Round.objects.get(pk=bad.round_id)


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


@pytest.mark.parametrize("viewport", sweep([DESKTOP, PHONE], always=[PHONE]), ids=["desktop", "phone"])
def test_the_player_sees_it_at_the_table_and_in_game_logs(bad_round: Round, player: Player, enter: Enter, viewport):
    page = enter(player.user, viewport)
    page.goto(TABLE)
    verification_task.verify_finished_rounds()
    page.reload()
    expect(page.get_by_text(f"Round {bad_round.code} {SENTENCE}")).to_be_visible()
    expect(page.get_by_text("closed", exact=True)).to_be_visible()
    others = Participation.objects.exclude(round=bad_round)
    balance = MONEY + sum(part.paid - part.staked for part in others)
    expect(page.locator(".meter--balance .meter__sum")).to_have_text(format_money(balance, "SEK", "en"))
    assert fits(page)

    page.get_by_role("link", name="View the round").click()
    expect(page.get_by_role("heading", name=f"Round {bad_round.code}")).to_be_visible()
    expect(page.get_by_text("✕ Void")).to_be_visible()
    expect(page.locator(".spot__lit")).to_have_count(0)  # cards on record, if they make a coup, and no winner
    assert fits(page)

    page.get_by_role("link", name="Game logs").first.click()
    line = page.locator(".round-line", has_text=bad_round.code)
    expect(line.get_by_text("✕ Void")).to_be_visible()
    expect(page.locator(".badge--void")).to_have_count(1)
    assert fits(page)


def test_a_click_on_the_old_page_says_so_and_stakes_nothing(bad_round: Round, player: Player, enter: Enter):
    page = enter(player.user)
    page.goto(TABLE)
    verification_task.verify_finished_rounds()
    page.locator("#bet-player").click()
    expect(page.get_by_text("This table is closed. No bet was placed.")).to_be_visible()
    page.reload()
    expect(page.get_by_text(f"Round {bad_round.code} {SENTENCE}")).to_be_visible()
    assert Participation.objects.count() == 3


@pytest.mark.sweep
def test_the_supervisor_reads_the_incident(bad_round: Round, enter: Enter):
    verification_task.verify_finished_rounds()
    page = enter(a_member_of_staff("supervisor").user)
    page.goto("/staff/")
    page.get_by_role("list").get_by_role("link", name="Incidents", exact=True).click()
    line = page.get_by_role("row").filter(has_text=bad_round.code)
    expect(line.get_by_text("Seed does not reproduce the round")).to_be_visible()
    line.get_by_role("link", name="Incident").click()
    done = page.get_by_role("definition").filter(has_text="Table closed. Round voided.")
    expect(done).to_have_text("Table closed. Round voided. Players informed at the table.")
    page.get_by_text("Differences: ", exact=False).click()
    expect(page.get_by_text("9H 4D KS 2C")).to_be_visible()
