"""A variant that no file outside its folder knows is laid out and playable, at a solo table and at a shared one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connections
from playwright.sync_api import Page, expect

from games.models import Participation, Phase, Shape, Table
from games.rounds import reference_data
from games.shared import phases
from games.tables import status
from games.tables.versions import make_table
from games.variants import VARIANTS
from tests import sixth
from tests.browser.at_table import deal, put, windows_without_complaint
from tests.builders import UNHURRIED, a_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import ServerStarter, WebServer
from tests.live.at_table import advance_to, live_table_of, round_at, slip_of

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

LAYOUT = (Path(__file__).parents[1] / "harness" / "layout.js").read_text()
BETS = ["player", "banker", "tie", "twins", "mirror", "calm"]
SIZES = pytest.mark.parametrize("size", sweep([DESKTOP, PHONE], always=[PHONE]), ids=["wide", "phone"])
AREAS = """() => [...document.querySelectorAll(".spots .spot")].map((spot) => {
  const box = spot.getBoundingClientRect();
  return { code: spot.dataset.bet, top: Math.round(box.top), left: Math.round(box.left), width: Math.round(box.width) };
})"""


@pytest.fixture(autouse=True)
def one_more() -> Iterator[None]:
    """Register the variant in the test process too."""
    with sixth.one_more():
        yield


@pytest.fixture
def web_server(start_server: ServerStarter) -> WebServer:
    """A house that knows the variant."""
    return start_server(application="tests.servers.sixth:application")


def a_sixth_table(shape: Shape) -> Table:
    is_shared = shape is Shape.SHARED
    with connections["owner"].cursor() as cursor:
        reference_data.store_highest_odds(cursor)  # as `manage.py migrate` does with a release that has the variant
        reference_data.store_bet_combinations(cursor)
    table = make_table(
        slug="sixth",
        name="Sixth",
        variant="sixth",
        shape=shape,
        limits=sixth.sixth_limits(is_shared=is_shared),
        clock=UNHURRIED if is_shared else None,
        by="staff:test",
    )
    return status.open_table(table_id=table.pk, reason="for a test", by="staff:test")


def rows_of(page: Page) -> list[list[str]]:
    """Return the bets in the order of the page, row by row and from left to right."""
    found = sorted(page.evaluate(AREAS), key=lambda area: (area["top"], area["left"]))
    tops = sorted({area["top"] for area in found})
    return [[area["code"] for area in found if area["top"] == top] for top in tops]


def declared(size: object) -> list[list[str]]:
    """Return the bets in the order in which the variant declares them."""
    felt = VARIANTS["sixth"].felt
    layout = felt.wide if size == DESKTOP else felt.narrow
    return [[code for code, _ in row.bets] for row in layout]


@SIZES
def test_a_sixth_variant_is_played_at_a_solo_table(new_context: NewContext, web_server: WebServer, size, tmp_path):
    a_sixth_table(Shape.SOLO)
    player = a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player, viewport=size) as open_page:
        page = open_page()
        page.goto("/en/table/sixth/real/")
        assert rows_of(page) == declared(size)
        for bet in BETS:
            put(page, bet)
        assert page.evaluate(LAYOUT) == []
        deal(page)
        assert rows_of(page) == declared(size)
        assert page.evaluate(LAYOUT) == []
        page.screenshot(path=tmp_path / "solo.png")
        page.locator("#act-rebet").click()
    assert {wager.bet for wager in Participation.objects.get(player=player).wagers.all()} == set(BETS)


@SIZES
def test_a_sixth_variant_is_played_at_a_shared_table(new_context: NewContext, web_server: WebServer, size, tmp_path):
    live_table = live_table_of(a_sixth_table(Shape.SHARED))
    assert phases.advance(live_table.pk)
    player = a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player, viewport=size) as open_page:
        page = open_page()
        page.goto("/en/table/sixth/real/")
        assert rows_of(page) == declared(size)
        for bet in BETS:
            page.locator(f"#bet-{bet}").click()
            expect(page.locator(f"#bet-{bet} .spot__stake")).to_be_visible()
        assert set(slip_of(player, round_at(live_table))) == set(BETS)
        assert page.evaluate(LAYOUT) == []
        page.screenshot(path=tmp_path / "shared.png")
        advance_to(live_table, Phase.SETTLED)
        expect(page.locator(".live-mine__sum")).to_be_visible()
        assert rows_of(page) == declared(size)
        assert page.evaluate(LAYOUT) == []
    assert {wager.bet for wager in Participation.objects.get(player=player).wagers.all()} == set(BETS)
