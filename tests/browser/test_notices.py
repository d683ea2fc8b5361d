"""Notices to everybody, in real Chromium: on every kind of page at every size and in every language, and told
to pages that are open, of which nothing moves.
"""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect
from pytest_django import DjangoDbBlocker

from games.models import Round
from games.shared.pages import stream_tokens
from players.login import sessions
from players.models import Ended
from players.staff import notices
from players.staff.notices import span
from tests.browser.at_table import TABLE, a_window, deal, put
from tests.browser.test_every_page import OTHER_THEMES, expect_none, faults_of_sizes, faults_of_themes
from tests.builders import a_player, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext, wait_in
from tests.harness.gallery import Gallery, open_gallery
from tests.harness.sweeps import sample, sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table
from tests.notices import HOUR, a_notice
from tests.people import a_member_of_staff
from tests.sights import Sight, sights
from wallet import house_stop

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

IN_PLACE = ("lobby as anonymous", "lobby as player", "account as player", "staff_home as operator")
TWO_TABLES = "multi_table"  # the name of the address
BY_A_SIGN = (
    "table with bets",
    "live table, settled",
    "Chemin de Fer table, staking",
    "golden with bets",
    f"{TWO_TABLES} as player",
)
NAMED = {sight.name: sight for sight in sights()}
SIZES = ("wide", "phone", "lying")
NARROWEST: ViewportSize = {"width": 320, "height": 640}
POSITIONS = """() => Array.from(document.querySelectorAll("main a, main button, main input"), (each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [each.id || each.className || each.textContent.trim(), ...[x, y, width, height].map(Math.round)];
}).filter(([, , , width]) => width)"""
STREAM = re.compile(f"://[^/]+{stream_tokens.PATH}")
A_WHILE = 15_000  # milliseconds after which a notice is no longer new
NOW_AND_THEN = 16_000  # milliseconds within which a page without a stream asks
STREAMS = """
    window.streams = [];
    window.EventSource = class extends EventSource {
        constructor(address) { super(address); window.streams.push(this); }
    };
"""
# Controls of the page that a notice banner covers.
COVERED = """() => Array
    .from(document.querySelectorAll(".bar :is(a, button), main :is(a, button, label, h1, .hand, .card)"))
    .filter((each) => each.checkVisibility({ visibilityProperty: true }) && !each.matches(".bar__brand"))
    .filter((each) => {
        const { left, top, width, height } = each.getBoundingClientRect();
        return document.elementFromPoint(left + width / 2, top + height / 2)?.closest(".banner, .banner-status");
    }).map((each) => each.id || each.className)"""


@pytest.fixture(scope="module")
def gallery(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    browser: Browser,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gallery]:
    """A house with something on every page, which has been stopped and announces maintenance."""
    log = tmp_path_factory.mktemp("notices") / "web.log"
    with django_db_blocker.unblock(), open_gallery(browser, log) as opened:
        for name in (*IN_PLACE, *BY_A_SIGN):
            opened.open(NAMED[name])  # the bets are placed before the stop
        a_notice()
        house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
        yield opened


@pytest.fixture
def fits(is_sweep: bool) -> Callable[[Page, Sight], None]:
    """Fail on any layout fault at each size."""
    sizes = SIZES if is_sweep else SIZES[:2]
    return lambda page, sight: expect_none(faults_of_sizes(page, tuple(size for size in sizes if size in sight.sizes)))


@pytest.fixture
def themes(is_sweep: bool) -> tuple[str, ...]:
    """Return the themes that are tried in addition to the default one: all of them in the sweep."""
    return OTHER_THEMES if is_sweep else ()


def open_text(page: Page) -> None:
    page.locator(".banner__sign").click()
    expect(page.locator(".banner__text")).to_be_visible()


@pytest.mark.sweep
@pytest.mark.parametrize("name", sample(IN_PLACE, 1))
def test_most_pages_show_the_words_themselves_in_every_language(gallery: Gallery, name: str, fits, themes, languages):
    for language in ["en"] if name.startswith("staff") else languages:
        page = gallery.open(NAMED[name], language)
        expect(page.locator(".banner__text")).to_be_visible()
        expect(page.locator(".banner__sign")).to_be_hidden()
        fits(page, NAMED[name])
    expect_none(faults_of_themes(page, themes))


@pytest.mark.sweep
@pytest.mark.parametrize("name", sample(BY_A_SIGN, 1))
def test_a_table_shows_a_sign_that_opens_the_words_in_every_language(
    gallery: Gallery, name: str, fits, themes, languages
):
    for language in languages:
        page = gallery.open(NAMED[name], language)
        expect(page.locator(".banner__text")).to_be_hidden()
        fits(page, NAMED[name])
        for size in (PHONE, NARROWEST):
            page.set_viewport_size(size)
            assert page.evaluate(COVERED) == []
        open_text(page)
        fits(page, NAMED[name])
    expect_none(faults_of_themes(page, themes))


def test_an_open_table_is_notified_and_nothing_on_it_moves(new_context: NewContext, web_server: WebServer):
    a_live_table()
    window = a_window(new_context, web_server, a_player("RO", real=100_000), viewport=PHONE)
    page = window.new_page()
    page.goto("/ro/table/live/real/")
    expect(page.locator("#live-own")).to_be_visible()
    page.wait_for_load_state("networkidle")
    before = page.evaluate(POSITIONS)
    notice = a_notice()
    expect(page.locator("#banner-status")).to_contain_text(span(notice, "ro", "Europe/Bucharest"))
    assert page.evaluate(POSITIONS) == before
    assert page.evaluate(COVERED) == []
    page.locator(".banner__sign").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".banner__text")).to_contain_text("mentenanță")
    page.locator(".banner__close").click()
    expect(page.locator(".banner__text")).to_be_hidden()
    notices.withdraw(notice_id=notice.pk, reason="postponed", by=a_member_of_staff("operator"))
    expect(page.locator(".banner__sign")).to_have_count(0)
    expect(page.locator("#banner-status")).to_be_empty()
    assert page.evaluate(POSITIONS) == before


def at_a_solo_table(window: BrowserContext) -> Page:
    """Return a page that shows the cards of a round."""
    page = window.new_page()
    page.add_init_script(STREAMS)
    page.goto(TABLE)
    put(page)
    deal(page)
    return page


def test_a_solo_table_is_notified_without_a_click_and_nothing_on_it_moves(
    new_context: NewContext, web_server: WebServer
):
    a_table()
    page = at_a_solo_table(a_window(new_context, web_server, a_player(real=100_000), viewport=PHONE))
    before, cards = page.evaluate(POSITIONS), page.locator("#game .card").count()
    notice = a_notice()
    expect(page.locator("#banner-status")).to_contain_text(span(notice, "en", "Europe/Stockholm"))
    house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
    expect(page.locator("#banner-status")).to_contain_text("Play is stopped")
    expect(page.locator(".banner__sign")).to_be_visible()
    assert page.evaluate(POSITIONS) == before
    assert page.evaluate(COVERED) == []
    assert page.locator("#game .card").count() == cards > 0
    expect(page.locator(".call__notice")).to_contain_text("Play is stopped at the moment.")
    for added in ("#bet-player", "#act-deal", "#act-rebet_deal"):
        expect(page.locator(added)).to_have_attribute("aria-disabled", "true")
    house_stop.resume_house(reason="It is out.", by=a_member_of_staff("supervisor"))
    expect(page.locator("#act-rebet_deal")).not_to_have_attribute("aria-disabled", "true")
    assert page.evaluate(POSITIONS) == before
    assert Round.objects.count() == 1


@pytest.mark.sweep
def test_a_solo_table_asks_now_and_then_where_no_stream_gets_through(new_context: NewContext, web_server: WebServer):
    a_table()
    page = a_window(new_context, web_server, a_player(real=100_000)).new_page()
    page.route(STREAM, lambda route: route.abort())
    page.clock.install()
    with page.expect_response("**/house/now/"):
        page.goto(TABLE)
    notice = a_notice()
    with page.expect_response("**/house/now/"):
        page.clock.run_for(NOW_AND_THEN)
    expect(page.locator("#banner-status")).to_contain_text(span(notice, "en", "Europe/Stockholm"))


@pytest.mark.sweep
def test_the_end_of_the_session_leaves_a_solo_table_as_it_is_until_a_click(
    new_context: NewContext, web_server: WebServer
):
    a_table()
    player = a_player(real=100_000)
    page = at_a_solo_table(a_window(new_context, web_server, player))
    before = page.evaluate(POSITIONS)
    sessions.end_all(user=player.user, why=Ended.ELSEWHERE, by=str(player))
    wait_in(page, "() => streams.length === 1 && streams[0].readyState === EventSource.CLOSED")
    assert page.evaluate(POSITIONS) == before
    expect(page.locator("#session-over")).to_be_hidden()
    page.locator("#act-rebet_deal").click()
    page.wait_for_url("**/account/login/**")


@pytest.mark.sweep
def test_a_solo_table_without_a_stream_is_notified_with_the_next_click(new_context: NewContext, web_server: WebServer):
    a_table()
    page = a_window(new_context, web_server, a_player(real=100_000), viewport=PHONE).new_page()
    for line in (STREAM, "**/house/now/"):
        page.route(line, lambda route: route.abort())
    page.goto(TABLE)
    notice = a_notice()
    put(page)
    expect(page.locator("#banner-status")).to_contain_text(span(notice, "en", "Europe/Stockholm"))
    expect(page.locator(".banner__sign")).to_be_visible()
    expect(page.locator("#game .banner")).to_have_count(0)
    notices.withdraw(notice_id=notice.pk, reason="postponed", by=a_member_of_staff("operator"))
    put(page)
    expect(page.locator(".banner__sign")).to_have_count(0)


@pytest.mark.sweep
def test_the_text_stays_open_while_more_notices_come(new_context: NewContext, web_server: WebServer):
    a_live_table()
    a_notice()
    page = a_window(new_context, web_server, a_player(real=100_000)).new_page()
    page.goto("/en/table/live/real/")
    open_text(page)
    house_stop.stop_house(reason="A fire.", by=a_member_of_staff("supervisor"))
    expect(page.locator(".banner__text")).to_contain_text("Play is stopped")
    expect(page.locator(".banner__text")).to_be_visible()
    assert page.evaluate("document.activeElement.className") == "banner__sign"


@pytest.mark.sweep
def test_an_open_lobby_is_notified_and_so_are_the_other_windows(new_context: NewContext, web_server: WebServer):
    a_live_table()
    a_table()
    window = a_window(new_context, web_server, a_player(real=100_000))
    account, lobby = window.new_page(), window.new_page()
    account.goto("/en/account/")
    lobby.goto("/en/")
    lobby.wait_for_load_state("networkidle")
    before = lobby.evaluate(POSITIONS)
    notice = a_notice()
    for page in (lobby, account):
        expect(page.locator("#banner-status")).to_contain_text("Maintenance")
    assert lobby.evaluate(POSITIONS) == before
    open_text(lobby)
    notices.withdraw(notice_id=notice.pk, reason="postponed", by=a_member_of_staff("operator"))
    for page in (lobby, account):
        expect(page.locator(".banner__sign")).to_have_count(0)


@pytest.mark.sweep
def test_a_removed_notice_leaves_its_space_in_the_page(new_context: NewContext, web_server: WebServer):
    a_live_table()
    notice = a_notice()
    page = a_window(new_context, web_server, a_player(real=100_000)).new_page()
    page.goto("/en/")
    expect(page.locator(".banner__text")).to_be_visible()
    page.wait_for_load_state("networkidle")
    before = page.evaluate(POSITIONS)
    notices.withdraw(notice_id=notice.pk, reason="postponed", by=a_member_of_staff("operator"))
    expect(page.locator(".banner__text")).to_have_count(0)
    assert page.evaluate(POSITIONS) == before
    a_notice(6 * HOUR)
    expect(page.locator(".banner__text")).to_be_visible()
    assert page.evaluate(POSITIONS) == before


@pytest.mark.sweep
def test_it_comes_without_a_script_too(new_context: NewContext, web_server: WebServer):
    a_table()
    a_notice()
    page = a_window(new_context, web_server, a_player(real=100_000), java_script_enabled=False).new_page()
    page.goto("/en/table/baccarat/real/")
    open_text(page)


@pytest.mark.sweep
@pytest.mark.parametrize("size", sweep([PHONE, DESKTOP], always=[PHONE]), ids=["phone", "wide"])
def test_a_notice_covers_nothing_and_lights_the_sign_for_a_while(
    new_context: NewContext, web_server: WebServer, size: ViewportSize
):
    a_live_table()
    page = a_window(new_context, web_server, a_player(real=100_000), viewport=size).new_page()
    page.clock.install()
    page.add_init_script("new BroadcastChannel('sabot.banner').onmessage = () => { window.isTold = true; }")
    page.goto("/en/table/live/real/")
    wait_in(page, "() => window.isTold")  # the line tells what there is, once; after that this test is alone
    page.evaluate(
        "new BroadcastChannel('sabot.banner').postMessage({ language: 'en', html: "
        "'<aside id=banner class=banner data-key=x><button class=banner__sign></button>'"
        " + '<div class=banner__text popover><p>' + 'word '.repeat(400) })"
    )
    expect(page.locator("#banner-status")).to_contain_text("word word")
    assert page.evaluate(COVERED) == []
    expect(page.locator(".banner--new .banner__sign")).to_be_visible()
    page.clock.run_for(A_WHILE)
    expect(page.locator(".banner--new")).to_have_count(0)
    expect(page.locator(".banner__sign")).to_be_visible()
    expect(page.locator("#banner-status")).to_be_empty()
