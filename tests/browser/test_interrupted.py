"""Interrupted play, in real Chromium: the round is complete, and its result is shown once when the player returns."""

import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, Route, expect

from games.models import Participation, Round
from players.models import Player
from tests.browser.at_table import TABLE, a_window, at_table, balance_is_that_of, put
from tests.builders import PASSWORD, a_player, a_table
from tests.harness.databases import Database
from tests.harness.web import PROJECT, WebServer
from tests.wallet import wholeness

pytestmark = pytest.mark.browser

MONEY = 1_000_000
AWAY = "was completed while you were away"


@pytest.fixture
def web_server(cloned_db: Database, tmp_path: Path) -> Iterator[WebServer]:
    """The house in a process that exits on request and is replaced at once."""
    log = tmp_path / "mortal.log"
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening, log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.mortal", str(listening.fileno())],
            cwd=PROJECT,
            env=cloned_db.environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(listening.fileno(),),
        )
        try:
            server = WebServer(process, listening.getsockname()[1], log)
            # Answered when every module is read, so that no page waits for that.
            urlopen(f"{server.url}/en/", timeout=120).close()  # noqa: S310  (a server of this test)
            yield server
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture
def player(web_server: WebServer) -> Iterator[Player]:
    """Someone at an open table; checks afterwards that the ledger is correct."""
    a_table()
    yield a_player(real=MONEY, password=PASSWORD)
    wholeness.assert_whole()


def ask_and_lose_the_answer(route: Route, **headers: str) -> None:
    """Let the request reach the house, but drop its answer."""
    address = urlsplit(route.request.url)
    connection = http.client.HTTPConnection(address.netloc, timeout=30)
    try:
        connection.request("POST", address.path, route.request.post_data, route.request.all_headers() | headers)
        connection.getresponse().read()
    except (ConnectionError, http.client.HTTPException):
        pass  # the process of the house was killed
    finally:
        connection.close()
    route.abort("connectionreset")


def check_reported_once(page: Page) -> None:
    """Check that the page shows the result of the round and a link to its replay, and the next pages do not."""
    part = Participation.objects.get()
    message = page.locator(".notice, .call__notice").filter(has_text=AWAY)
    expect(message).to_have_count(1)
    expect(message.get_by_role("link")).to_have_attribute("href", f"/en/history/{part.round_id}/")
    for address in (TABLE, "/en/", "/en/history/"):
        page.goto(address)
        expect(page.get_by_text(AWAY)).to_have_count(0)
    expect(page.get_by_text(part.round.code).first).to_be_visible()


@pytest.mark.sweep
def test_a_lost_answer_is_reported_after_a_reload(new_context, web_server, player):
    page = at_table(a_window(new_context, web_server, player))
    put(page)
    page.route("**/play/", ask_and_lose_the_answer)
    page.locator("#act-deal").click()
    expect(page.locator(".toast")).to_be_visible()
    balance_is_that_of(player, rounds=1, money=MONEY)
    page.unroute("**/play/")
    page.reload()
    check_reported_once(page)


@pytest.mark.sweep
def test_a_tab_that_is_closed_in_mid_round_misses_nothing(new_context, web_server, player):
    window = a_window(new_context, web_server, player)
    page = at_table(window)
    put(page)
    page.route("**/play/", ask_and_lose_the_answer)
    page.locator("#act-deal").click()
    expect(page.locator(".toast")).to_be_visible()
    page.close()
    back = window.new_page()
    back.goto("/en/")
    check_reported_once(back)


def test_a_house_that_dies_over_the_deal_tells_at_the_next_log_in(new_context, web_server, player):
    """The process is killed after the first statement of the request, then the second, until the round is played."""
    window = a_window(new_context, web_server, player)
    page = at_table(window)
    put(page)
    deaths = count(1)
    page.route("**/play/", lambda route: ask_and_lose_the_answer(route, **{"X-Die": f"after {next(deaths)}"}))
    while not Round.objects.exists():
        page.locator("#act-deal").click()
        expect(page.locator(".toast")).to_be_visible()
    window.close()
    balance_is_that_of(player, rounds=1, money=MONEY)

    back = new_context(base_url=web_server.url).new_page()
    back.goto("/en/account/login/")
    back.get_by_label("E-mail").fill(player.user.email)
    back.get_by_label("Password", exact=True).fill(PASSWORD)
    back.get_by_role("button", name="Log in", exact=True).click()
    back.wait_for_url("**/en/")
    check_reported_once(back)


@pytest.mark.sweep
def test_a_round_whose_cards_were_seen_is_not_reported(new_context, web_server, player):
    page = at_table(a_window(new_context, web_server, player))
    put(page)
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    for address in ("/en/", TABLE):
        page.goto(address)
        expect(page.get_by_text(AWAY)).to_have_count(0)
