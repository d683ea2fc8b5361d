"""A favourite bet from the felt to the panel and back: saved, placed in the next round with one press, taken back."""

import pytest
from playwright.sync_api import Page, expect

from games.models import FavouriteBet, Phase
from tests.browser.at_table import windows_without_complaint
from tests.browser.test_live import choose, opened, put
from tests.builders import a_player
from tests.harness.browser import DESKTOP, PHONE, NewContext
from tests.harness.sweeps import sweep
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, round_at, slip_of, step

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

SMALLEST = 44  # pixels a thumb needs


def show_favourites(page: Page) -> None:
    page.locator("#tab-favourites").click()
    expect(page.locator("#favourites")).to_be_visible()


def back_to_the_table(page: Page) -> None:
    if page.locator("#live-sheet[open]").count():
        page.locator("#sheet-close").click()


@pytest.mark.sweep
@pytest.mark.parametrize("viewport", sweep([DESKTOP, PHONE], always=[PHONE]), ids=["wide", "phone"])
def test_a_favourite_is_saved_placed_in_the_next_round_and_taken_back(
    new_context: NewContext, web_server: WebServer, viewport: dict[str, int]
):
    live_table, player = a_live_table(), a_player(real=1_000_000)
    with windows_without_complaint(new_context, web_server, player, viewport=viewport) as open_page:
        page = opened(open_page, "en")
        choose(page, 5_000)
        put(page, "player", "50.00")
        put(page, "player_pair", "50.00")
        show_favourites(page)
        page.locator("#favourite-name").fill("Player & pair")
        page.locator("#favourite-save").click()
        expect(page.locator(".favourites__status")).to_contain_text(["", "“Player & pair” is saved."])
        favourite = FavouriteBet.objects.get(player=player)
        assert favourite.stakes == {"player": 5_000, "player_pair": 5_000}
        place = page.locator(f"#favourite-{favourite.pk}")
        box = place.bounding_box()
        assert box
        assert min(box["width"], box["height"]) >= SMALLEST

        step(live_table)
        expect(place).to_have_attribute("aria-disabled", "true")
        place.click(force=True)
        advance_to(live_table, Phase.BETTING)
        expect(place).not_to_have_attribute("aria-disabled", "true")
        place.click()
        expect(page.locator("#bet-player_pair .spot__stake")).to_contain_text("50.00")
        expect(page.locator("#bet-player")).to_be_visible()
        assert slip_of(player, round_at(live_table)) == favourite.stakes

        back_to_the_table(page)
        page.locator("#act-undo").click()
        expect(page.locator("#bet-player .spot__stake")).to_have_count(0)
        page.keyboard.press("g")
        expect(page.locator("#bet-player .spot__stake")).to_contain_text("50.00")

        FavouriteBet.objects.filter(pk=favourite.pk).update(stakes={"player": 5_000, "perfect_pair": 5_000_000})
        show_favourites(page)
        place.click()
        where = "#favourites-answer" if viewport == PHONE else ".live-mine [role=alert]"
        expect(page.locator(where)).to_contain_text("The maximum bet on Perfect Pair is")
        assert slip_of(player, round_at(live_table)) == favourite.stakes

        page.locator(".favourite__more summary").click()
        page.locator(f"#favourite-{favourite.pk}-remove").click()
        expect(page.locator("#favourite-back")).to_be_focused()
        page.locator("#favourite-back").press("Enter")
        expect(page.locator(".favourite__name")).to_have_text("Player & pair")
