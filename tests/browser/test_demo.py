"""A newcomer without an account: from the lobby through the door to a demonstration, a round, and registration."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client
from playwright.sync_api import Page, expect

from games.demo import session_state
from games.demo.play import DemoSeat
from tests.browser.at_table import deal, put
from tests.builders import a_golden_table, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer
from tests.people import a_visitor

SIZES = {"desktop": DESKTOP, "phone": PHONE}


@pytest.fixture(params=sweep(SIZES, always=["phone"]))
def newcomer(request: pytest.FixtureRequest, new_context: NewContext, web_server: WebServer) -> Page:
    """A page of a browser that has never been here, with a table open in the house."""
    a_table()
    return new_context(base_url=web_server.url, viewport=SIZES[request.param], reduced_motion="reduce").new_page()


def in_view(page: Page, *selectors: str) -> bool:
    """Return whether all of these can be used without scrolling."""
    boxes = [page.locator(selector).bounding_box() for selector in selectors]
    size = page.viewport_size
    assert size is not None
    return all(box and box["y"] >= 0 and box["y"] + box["height"] <= size["height"] for box in boxes)


def come_in(page: Page, to: str, slug: str = "baccarat") -> None:
    """Go through the door and confirm the age."""
    page.goto(f"/en/demo/{slug}/")
    page.locator("#adult").check()
    page.locator(to).click()


@pytest.mark.turns(3)
def test_a_newcomer_watches_a_round_plays_one_and_goes_to_register(newcomer):
    newcomer.goto("/en/")
    newcomer.get_by_role("link", name="Try a round without an account").click()
    expect(newcomer.get_by_role("heading", level=1)).to_have_text("Try Baccarat")
    newcomer.locator("#to-watch").click()
    expect(newcomer.get_by_role("alert").first).to_contain_text("at least 18 years old")
    newcomer.locator("#adult").check()
    newcomer.locator("#to-watch").click()

    expect(newcomer.locator("#story .is-shown")).to_have_count(1)
    expect(newcomer.locator("#game .card.is-due")).to_have_count(0)
    assert in_view(newcomer, "#next", "#story .is-now", "#game .stage")
    newcomer.locator("#next").click()
    expect(newcomer.locator("#game .card.is-due")).to_have_count(1)
    expect(newcomer.locator("#story .is-now")).to_contain_text("Player’s first card")
    expect(newcomer.locator(".call__result")).to_be_hidden()
    newcomer.locator("#rest").click()
    expect(newcomer.locator(".call__result")).to_be_visible()
    expect(newcomer.locator("#next")).to_be_hidden()

    newcomer.locator("#to-play").click()
    expect(newcomer.locator(".table-head__mode")).to_be_visible()
    assert in_view(newcomer, "#bet-player", "#bet-banker", "#bet-tie", "#act-deal", "#act-refill", ".meters")
    put(newcomer, "player")
    deal(newcomer)
    expect(newcomer.locator(".call__result")).to_be_visible()
    newcomer.locator(".table-head").get_by_role("link", name="Register").click()
    expect(newcomer.locator("#id_email")).to_be_visible()


@pytest.mark.sweep
def test_a_round_of_a_visitor_can_be_checked(newcomer):
    come_in(newcomer, "#to-play")
    put(newcomer)
    deal(newcomer)
    newcomer.locator(".seal a[href*=commitment]").click()
    newcomer.get_by_role("button", name="Verify", exact=True).click()
    expect(newcomer.locator("[data-verdict=match]")).to_be_visible()


@pytest.mark.sweep
def test_golden_bets_stay_and_a_chip_can_be_removed(newcomer):
    a_golden_table()
    come_in(newcomer, "#to-play", "golden")
    put(newcomer, "banker")
    deal(newcomer)
    deal(newcomer)
    newcomer.locator("#take-banker").click()
    expect(newcomer.locator("#bet-banker .spot__bet")).to_have_count(0)


@pytest.mark.sweep
def test_a_double_click_on_deal_plays_one_round(newcomer):
    come_in(newcomer, "#to-play")
    put(newcomer, "player")
    before = newcomer.locator("[name=round_id]").input_value()
    newcomer.locator("#act-deal").dblclick()
    expect(newcomer.locator("[name=round_id]")).not_to_have_value(before)
    expect(newcomer.locator("#game.game--fresh")).to_have_count(0)
    expect(newcomer.locator(".meter--bet")).to_contain_text("£1.00")
    expect(newcomer.locator(".call__notice")).to_have_count(0)


@pytest.mark.sweep
def test_without_scripts_a_demonstration_is_open(new_context, web_server):
    a_table()
    page = new_context(base_url=web_server.url, viewport=PHONE, java_script_enabled=False).new_page()
    come_in(page, "#to-watch")
    expect(page.locator("#story li").last).to_be_visible()
    expect(page.locator(".call__result")).to_be_visible()
    expect(page.locator("#next")).to_be_hidden()
    page.locator("#to-play").click()
    page.locator("#bet-tie").click()
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()


def demo_seat_of(visitor: Client) -> DemoSeat:
    """Return the visitor's demo seat, as the session has it now."""
    kept = session_state.read(visitor.session)
    assert kept
    return kept.demo_seats["baccarat"]


def test_clicks_at_the_same_time_play_one_round(cloned_db):
    a_table()
    visitor = a_visitor()
    visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"})
    demo_seat = demo_seat_of(visitor)
    form = {"round_id": demo_seat.next.round_id, "table_version": 1, "chip": 100}
    visitor.post("/en/demo/baccarat/play/", form | {"slip_version": 0, "action": "bet:player"})

    def press(number: int) -> int:
        other = Client(REMOTE_ADDR=f"10.9.9.{number}")
        other.cookies = visitor.cookies
        value = {"slip_version": 1, "action": "deal", "player_value": str(number)}
        return other.post("/en/demo/baccarat/play/", form | value, headers={"HX-Request": "true"}).status_code

    with ThreadPoolExecutor(8) as tabs:
        assert set(tabs.map(press, range(8))) == {200}
    after = demo_seat_of(visitor)
    assert after.last
    assert after.last.id == demo_seat.next.round_id
    assert after.chips == demo_seat.chips - after.last.staked + after.last.paid
