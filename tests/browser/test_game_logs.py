"""Game logs as a person searches them, with and without JavaScript."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from games.models import Participation, Round
from players.models import Player
from tests.browser.at_table import a_window
from tests.builders import a_player, a_round, a_table
from tests.harness.browser import PHONE, NewContext
from tests.harness.databases import Database
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

MONEY = 10_000_000
ROUNDS = 45


@pytest.fixture
def player(web_server: WebServer) -> Player:
    """Someone who has played at two tables."""
    player, table, other = a_player(real=MONEY), a_table(), a_table("other")
    a_round(player, other, player=1000)
    for _ in range(ROUNDS):
        a_round(player, table, player=1000)
    return player


@pytest.fixture
def window(new_context: NewContext, web_server: WebServer, player: Player) -> Callable[..., BrowserContext]:
    """Open a browser logged in as the player."""
    return lambda **options: a_window(new_context, web_server, player, **options)


@pytest.mark.sweep
def test_a_search_keeps_its_address_and_the_back_button_its_rounds(window):
    page = window().new_page()
    page.goto("/en/history/")
    expect(page.locator(".round-line")).to_have_count(20)
    page.evaluate("window.stillHere = true")
    page.get_by_label("Table").select_option("other")
    page.get_by_role("button", name="Show rounds").click()
    expect(page.locator(".round-line")).to_have_count(1)
    assert "table=other" in page.url
    assert page.evaluate("window.stillHere"), "the page was not loaded again"
    page.reload()
    expect(page.locator(".round-line")).to_have_count(1)
    expect(page.get_by_label("Table")).to_have_value("other")
    page.go_back()
    expect(page.locator(".round-line")).to_have_count(20)


@pytest.mark.sweep
@pytest.mark.parametrize("script", sweep([True, False], always=[True]), ids=["with JavaScript", "without"])
def test_the_pages_of_a_search_show_every_round_once(window, script):
    page = window(java_script_enabled=script).new_page()
    page.goto("/en/history/?table=baccarat&since=2020-01-01")
    seen = page.locator(".round-line__code").all_inner_texts()
    while page.get_by_role("link", name="Older rounds").count():
        last = page.locator(".round-line__code").last.inner_text()
        page.get_by_role("link", name="Older rounds").click()
        expect(page.get_by_role("link", name=last)).to_have_count(0)
        seen += page.locator(".round-line__code").all_inner_texts()
    expected = (
        Round.objects.filter(table_version__table__slug="baccarat").order_by("-at").values_list("code", flat=True)
    )
    assert [each.strip() for each in seen] == list(expected)


def test_the_file_that_is_downloaded_holds_the_rounds_of_the_search(window, tmp_path: Path):
    page = window(accept_downloads=True).new_page()
    page.goto("/en/history/?ending=lost")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    download.value.save_as(tmp_path / "rounds.csv")
    lines = (tmp_path / "rounds.csv").read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) - 1 == Participation.objects.filter(result=-1).count()


def test_totals_by_day_and_game_come_into_the_page(
    cloned_db: Database, new_context: NewContext, web_server: WebServer
) -> None:
    player = a_player(real=MONEY)
    a_round(player, a_table(), player=1000)
    page = a_window(new_context, web_server, player, viewport=PHONE).new_page()
    page.goto("/en/history/")
    page.evaluate("window.stillHere = true")
    page.locator("#show-totals").click()
    expect(page.locator("#day-totals tbody tr")).to_have_count(1)
    expect(page.locator("#day-totals tbody")).to_contain_text("SEK 10.00")
    assert page.evaluate("window.stillHere"), "the page was not loaded again"
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page).to_have_url(re.compile("/history/$"))


WRITTEN = """
    window.written = [];
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
        window.written.push(text);
        return fillText.call(this, text, ...where);
    };
"""
TAKES_PICTURES = """
    navigator.canShare = ({ files }) => files.length === 1;
    navigator.share = async ({ files: [{ name, type }] }) => { document.body.dataset.shared = `${name} ${type}`; };
"""


def test_a_result_is_shared_as_a_picture_without_anything_about_the_account(
    new_context: NewContext, web_server: WebServer
) -> None:
    player = a_player(real=MONEY)
    a_round(player, a_table(), player=1000)
    played = Round.objects.get()
    page = a_window(new_context, web_server, player, viewport=PHONE, reduced_motion="reduce").new_page()
    page.add_init_script(WRITTEN)
    page.goto(f"/en/history/{played.pk}/")
    with page.expect_download() as download:
        page.get_by_role("button", name="Share as a picture").click()
    expect(page.get_by_text("The picture has been saved.")).to_be_visible()
    assert download.value.suggested_filename == f"sabot-{played.code}.png"
    picture = Path(download.value.path()).read_bytes()
    assert (picture[:8], picture[16:24]) == (b"\x89PNG\r\n\x1a\n", (1200).to_bytes(4) + (630).to_bytes(4))
    written = page.evaluate("window.written")
    cards = page.locator("#game .card").count()
    assert len([text for text in written if text in "♣♦♥♠"]) == cards
    for text in ("Sabot", page.locator("#game .call__result").inner_text(), f"Round {played.code} · Seal "):
        assert any(text in each for each in written), text
    about = " ".join(written)
    for secret in ("10.00", "100,000", player.user.email, "Balance", "Staked", "SEK"):
        assert secret not in about, secret


@pytest.mark.sweep
def test_a_device_that_takes_pictures_is_handed_the_result(new_context: NewContext, web_server: WebServer) -> None:
    player = a_player(real=MONEY)
    a_round(player, a_table(), player=1000)
    played = Round.objects.get()
    page = a_window(new_context, web_server, player, viewport=PHONE).new_page()
    page.add_init_script(TAKES_PICTURES)
    page.goto(f"/en/history/{played.pk}/")
    page.get_by_role("button", name="Share as a picture").click()
    expect(page.locator("body")).to_have_attribute("data-shared", f"sabot-{played.code}.png image/png")
