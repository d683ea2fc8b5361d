"""Chromium sends a click again by itself where the line breaks before the answer: the house has one click, and the page
shows that it was taken.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Page, Route, expect

from games.models import CheminMove
from tests.browser.at_table import TABLE, a_window
from tests.builders import a_player, a_table
from tests.chemin.at_table import a_bank, a_chemin_table, a_seated_player, answer, asked_at, chemin_of, state_of
from tests.harness.breaking_line import BreakingLine, breaking_line
from tests.harness.browser import NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table
from tests.live.betting import held, stakes_of

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 1_000_000
FIELDS = ("csrfmiddlewaretoken", "round_id", "table_version")


@pytest.fixture
def line(web_server: WebServer) -> Iterator[BreakingLine]:
    """A connection to the house, still intact."""
    with breaking_line(web_server.port) as line:
        yield line


@pytest.fixture
def open_page(new_context: NewContext, web_server: WebServer, line: BreakingLine):
    """Open a page over that line, in a window of the player's."""

    def opened(player, path: str) -> Page:
        page = a_window(new_context, replace(web_server, port=line.port), player).new_page()
        page.goto(path)
        return page

    return opened


def is_sent_twice(line: BreakingLine, address: str) -> bool:
    return [asked.split()[1].endswith(address) for asked in line.seen] == [True, True]


def test_a_chip_at_a_shared_table_is_placed_once(open_page, line):
    table, player = a_live_table(), a_player(real=MONEY)
    page = open_page(player, "/en/table/live/real/")
    line.breaks_at = "/bet/"
    page.locator("#bet-player").click()
    expect(page.locator("#bet-player .spot__stake")).not_to_be_empty()
    assert is_sent_twice(line, "/bet/")
    expect(page.locator(".call__notice--error")).to_have_count(0)
    (stake,) = stakes_of(player, table).values()
    assert held(player) == stake
    page.locator("#bet-player").click()  # and another click is another chip
    expect(page.locator(".meter--bet .meter__sum")).to_contain_text(f"{2 * stake / 100:,.2f}")
    assert held(player) == 2 * stake


def test_pressing_again_after_a_click_that_was_not_answered_stakes_nothing_twice(open_page, line):
    table, player = a_live_table(), a_player(real=MONEY)
    page = open_page(player, "/en/table/live/real/")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    page.route("**/bet/", lose)
    page.locator("#bet-player").click()
    expect(page.locator(".toast")).to_contain_text("No bet is placed twice")
    (stake,) = stakes_of(player, table).values()
    page.unroute("**/bet/")
    with page.expect_response("**/bet/"):
        page.locator("#bet-player").click()
    assert held(player) == stake
    with page.expect_response("**/bet/"):
        page.locator("#bet-player").click()  # that was answered: another click is another chip
    assert held(player) == 2 * stake


@pytest.mark.sweep
def test_without_a_script_another_button_of_the_same_page_is_another_click(new_context, web_server):
    table, player = a_live_table(), a_player(real=MONEY)
    page = a_window(new_context, web_server, player, java_script_enabled=False).new_page()
    page.route("**?page", lambda route: route.fulfill(status=204))  # the page does not renew itself, and its key
    page.goto("/en/table/live/real/")
    form = {name: page.locator(f"#slip [name={name}]").input_value() for name in (*FIELDS, "idempotency_key")}
    chip = page.locator("#slip [name=chip]:checked").input_value()
    for action in ("bet:player", "bet:banker", "bet:player"):
        sent: dict[str, str | float | bool] = {**form, "action": action, "chip": chip}
        assert page.request.post("/en/table/live/real/bet/", form=sent, headers={"Referer": page.url}).ok
    assert stakes_of(player, table) == {"player": int(chip), "banker": int(chip)}
    page.locator("#bet-player").click()  # and what a loaded page shows is clicked again
    expect(page.locator("#bet-player .spot__stake")).to_be_visible()
    page.locator("#bet-player").click()
    expect(page.locator("#slip [name=idempotency_key]")).not_to_have_value(form["idempotency_key"])
    assert stakes_of(player, table)["player"] == 2 * int(chip)


def test_a_chip_at_a_solo_table_is_placed_once(open_page, line):
    a_table()
    page = open_page(a_player(real=MONEY), TABLE)
    line.breaks_at = "/play/"
    page.locator("#bet-tie").click()
    expect(page.locator("[name=slip_version]")).to_have_value("1")
    assert is_sent_twice(line, "/play/")
    page.locator("#bet-tie").click()
    expect(page.locator("[name=slip_version]")).to_have_value("2")


@pytest.mark.sweep
def test_a_stake_is_placed_and_the_page_does_not_say_that_it_came_too_late(open_page, line):
    table = a_chemin_table()
    for seat in (1, 2):
        a_seated_player(table, seat)
    a_bank(table)
    while state_of(table).phase.value != "stakes":
        answer(asked_at(table), table, "pass")
    question, page = chemin_of(table).question, open_page(asked_at(table), "/en/table/chemin/real/")
    expect(page.locator("#live-own")).to_have_attribute("data-asked", str(question))
    line.breaks_at = "/act/"
    page.locator("#act-lay_stake").click()
    expect(page.locator("#live-own")).not_to_have_attribute("data-asked", str(question))
    assert is_sent_twice(line, "/act/")
    expect(page.locator(".call__notice--error")).to_have_count(0)
    assert CheminMove.objects.filter(kind="lay_stake").count() == 1
