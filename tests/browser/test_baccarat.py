"""A round of Baccarat as a person plays it, in real Chromium against the real server."""

import re
from collections.abc import Callable, Iterator
from itertools import product

import pytest
from playwright.sync_api import Locator, Page, Request, Route, ViewportSize, expect

from games.engine.coup import Outcome, deal
from games.engine.shoe import shuffle
from games.labels import announcement, card_name
from games.models import Participation, Round, SoloSeat
from games.tables.status import close_table
from players.models import Player
from tests.browser.at_table import ADDED, windows_without_complaint, without_chance
from tests.builders import PASSWORD, a_player, a_table
from tests.harness.browser import DESKTOP, PHONE, NewContext, wait_in
from tests.harness.dealer import first, seeds_drawn
from tests.harness.web import ServerStarter, WebServer
from tests.servers.search import seed_where
from wallet.ledger import accounts
from wallet.models import Mode
from wallet.money import format_money

pytestmark = pytest.mark.browser

MONEY = 1_000_000
TABLE = "/en/table/baccarat/real/"

# A round with six cards that Banker wins, so that every step of the dealing is seen.
BANKER_IN_SIX = seed_where(lambda coup: len(coup.cards) == 6 and coup.outcome is Outcome.BANKER, player_values=ADDED)


@pytest.fixture
def new_context(new_context: NewContext) -> NewContext:
    """Browsers that add a fixed value to the chosen seed."""
    return without_chance(new_context)


@pytest.fixture
def web_server(start_server: ServerStarter) -> Iterator[WebServer]:
    """The house; the first round anyone opens is won by Banker in six cards."""
    with seeds_drawn(first(BANKER_IN_SIX)):
        yield start_server()


@pytest.fixture
def player(web_server: WebServer) -> Player:
    a_table()
    return a_player(real=MONEY, free=MONEY, password=PASSWORD)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player, reduced_motion="no-preference") as open_page:
        yield open_page


def meter(page: Page, name: str) -> str:
    return page.locator(f".meter--{name} .meter__sum").inner_text().replace("\n", "")


def shows(page: Page, name: str, amount: int) -> None:
    """Wait until a meter shows this amount, in minor units of SEK."""
    wait_in(
        page,
        "([selector, text]) => document.querySelector(selector).innerText.trim() === text",
        [f".meter--{name} .meter__sum", format_money(amount, "SEK", "en")],
    )


def shows_at_once(page: Page, name: str, amount: int) -> None:
    """Check the amount of a meter without a script that waits."""
    expect(page.locator(f".meter--{name} .meter__sum")).to_have_text(format_money(amount, "SEK", "en"))


def place(page: Page, bet: str = "banker") -> None:
    """Put one chip on a bet and wait until the house has it."""
    before = page.locator("[name=slip_version]").input_value()
    page.locator(f"#bet-{bet}").click()
    expect(page.locator("[name=slip_version]")).not_to_have_value(before)


def dealt(page: Page) -> None:
    """Wait until a round is shown completely."""
    expect(page.locator(".call__result")).to_be_visible()
    expect(page.locator("#game.game--fresh")).to_have_count(0)


def test_a_round_from_log_in_to_game_logs(page: Page, player: Player):
    page.goto("/en/account/login/")
    page.get_by_label("E-mail").fill(player.user.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.goto(TABLE)
    place(page)
    shows(page, "bet", 1000)
    shows(page, "balance", MONEY - 1000)
    page.locator("#act-deal").click()
    dealt(page)
    part = Participation.objects.get()
    assert part.paid == 1950
    shows(page, "win", 1950)
    shows(page, "balance", part.balance_after)
    page.get_by_role("link", name="Game logs").first.click()
    expect(page.get_by_text(part.round.code).first).to_be_visible()
    assert accounts.balance(player.pk, Mode.REAL) == part.balance_after == MONEY + 950


def test_no_result_is_shown_before_its_cards(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    page.evaluate(  # it looks from before the click on, however long that takes
        """() => { window.seen = (async () => {
            const seen = [];
            const game = () => document.querySelector('#game.game--fresh');
            while (!game()) await new Promise(requestAnimationFrame);
            // By frames alone, a busy machine would miss a step.
            const next = () => new Promise((resolve) => {
                const observer = new MutationObserver(resolve);
                observer.observe(game() ?? document.body, { attributes: true, attributeFilter: ['data-shown'] });
                requestAnimationFrame(() => { observer.disconnect(); resolve(); });
            });
            const visible = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
            const shown = (selector) => [...document.querySelectorAll(selector)].filter(visible).length;
            while (game()) {
                seen.push({
                    cards: shown('.card'), scores: shown('.hand__score'), call: shown('.call__result'),
                    lit: shown('.spot__lit') + shown('.hand__won'), paid: shown('.spot__paid'),
                    win: document.querySelector('.meter--win .meter__sum').innerText,
                    spoken: document.getElementById('spoken').innerText,
                });
                await next();
            }
            return seen;
        })(); }"""
    )
    page.locator("#act-deal").click()
    seen = page.evaluate("window.seen")
    unfinished = [each for each in seen if each["cards"] < 6]
    assert {each["cards"] for each in seen} >= {1, 2, 3, 4, 5, 6}, "cards come one after another"
    assert [each["cards"] for each in seen] == sorted(each["cards"] for each in seen)
    for each in unfinished:
        assert (each["scores"], each["call"], each["lit"], each["paid"]) == (0, 0, 0, 0)
        assert "19" not in each["win"]
        assert "wins" not in each["spoken"]


@pytest.mark.sweep
def test_third_cards_come_last_and_lie_across(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    page.locator("#act-deal").click()
    dealt(page)
    orders = page.locator(".card").evaluate_all(
        "cards => cards.map(c => [+c.dataset.due, c.classList.contains('card--third')])"
    )
    assert sorted(orders) == [[1, False], [2, False], [3, False], [4, False], [5, True], [6, True]]
    played = Round.objects.get()
    shown = page.locator(".card").evaluate_all(
        "cards => Object.fromEntries(cards.map(c => [c.dataset.due, c.innerText.trim()]))"
    )
    assert [shown[str(order)].replace("10", "T") for order in range(1, 7)] == [code[0] for code in played.cards.split()]


@pytest.mark.sweep
def test_with_reduced_motion_the_result_is_shown_at_once(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    place(page)
    page.evaluate(
        """() => {
          window.seen = new Set();
          const look = () => {
            const cards = Array.from(document.querySelectorAll(".card"));
            window.seen.add(cards.filter(card => card.checkVisibility({ visibilityProperty: true })).length);
            requestAnimationFrame(look);
          };
          look();
        }"""
    )
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    assert page.evaluate("() => [...window.seen]") == [0, 6]  # never a few of them


def test_neither_a_double_click_on_deal_nor_the_back_button_stakes_twice(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    page.locator("#act-deal").dblclick()
    dealt(page)
    assert Round.objects.count() == 1
    page.goto("/en/history/")
    page.go_back()
    page.locator("#act-deal").click()
    expect(page.locator(".call__notice")).to_be_visible()
    assert Round.objects.count() == 1


def middle(spot: Locator) -> tuple[float, float]:
    """Return the middle of an area for a click. `Locator.click` is too careful for quick clicks: it swallows one if the
    table is replaced in the meantime.
    """
    box = spot.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.sweep
def test_rapid_clicks_on_a_bet_all_count(enter):
    page = enter()
    page.goto(TABLE)
    where = middle(page.locator("#bet-tie"))
    for _ in range(6):
        page.mouse.click(*where)
    shows(page, "bet", 6000)


@pytest.mark.sweep
def test_a_click_counts_where_the_answer_to_the_last_one_comes_between_press_and_release(enter):
    page = enter()
    page.goto(TABLE)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request) if request.method == "POST" else None)
    page.route("**/play/", hold, times=1)
    where = middle(page.locator("#bet-tie"))
    with page.expect_request("**/play/"):
        page.mouse.click(*where)
    version = page.locator("[name=slip_version]").input_value()
    page.mouse.down()
    held[0].continue_()
    expect(page.locator("[name=slip_version]")).not_to_have_value(version)
    page.mouse.up()
    shows(page, "bet", 2000)
    page.locator("#act-clear").click()
    shows(page, "bet", 0)
    assert len(sent) == 3  # two chips, one clearing: no click counted twice


@pytest.mark.sweep
def test_two_tabs_show_one_table_and_play_one_round(enter, player):
    one = enter(reduced_motion="reduce")  # a tab behind another is let have its turn once a second
    one.goto(TABLE)
    place(one)
    two = one.context.new_page()
    two.goto(TABLE)
    shows(two, "bet", 1000)
    one.locator("#act-deal").click()
    dealt(one)
    dealt(two)
    expect(two.locator("[name=round_id]")).to_have_value(one.locator("[name=round_id]").input_value())
    two.locator("#act-deal").click()
    expect(two.locator(".call__notice")).to_contain_text("Place a bet first")
    assert Round.objects.count() == 1
    assert meter(two, "balance") == meter(one, "balance")


@pytest.mark.sweep
def test_bets_survive_a_reload_and_undo_still_knows_them(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    page.locator("#act-double").click()
    shows(page, "bet", 2000)
    page.reload()
    shows(page, "bet", 2000)
    page.locator("#act-undo").click()
    shows(page, "bet", 1000)


@pytest.mark.sweep
def test_play_never_reloads_the_page(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    page.evaluate("window.stillHere = true")
    place(page)
    for button in ("deal", "rebet_deal"):
        code = page.locator(".seal b").all_inner_texts()
        page.locator(f"#act-{button}").click()
        expect(page.locator(".call__result")).to_be_visible()
        expect(page.locator(".seal b")).not_to_have_text(code[0] if code else "-")
    assert Round.objects.count() == 2
    assert page.evaluate("window.stillHere")


def test_a_whole_round_without_javascript(enter):
    page = enter(java_script_enabled=False)
    page.goto(TABLE)
    page.locator("#bet-banker").click()
    page.locator("#act-deal").click()
    expect(page.locator(".card")).to_have_count(6)
    expect(page.locator(".call__result")).to_be_visible()
    shows_at_once(page, "win", 1950)


@pytest.mark.sweep
def test_enter_on_a_chip_stakes_nothing(enter):
    page = enter()
    page.goto(TABLE)
    page.locator("[name=chip]").nth(1).check(force=True)
    page.keyboard.press("Enter")
    place(page, "tie")
    assert SoloSeat.objects.get().slip == {"tie": 5000}


@pytest.mark.sweep
def test_enter_on_a_chip_stakes_nothing_without_javascript(enter):
    page = enter(java_script_enabled=False)
    page.goto(TABLE)
    page.locator("[name=chip]").first.focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    shows_at_once(page, "bet", 0)
    expect(page.locator(".call__notice")).to_have_count(0)


@pytest.mark.sweep
def test_a_text_of_ones_own_outlives_clicks_and_rounds(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    page.locator("#player-value").fill("min egen")
    place(page)
    expect(page.locator("#player-value")).to_have_value("min egen")
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    assert Round.objects.get().player_value.endswith(" min egen")
    expect(page.locator("#player-value")).to_have_value("min egen")


@pytest.mark.sweep
def test_win_counts_up_without_leading_noughts(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    page.evaluate(
        """() => {
            window.seen = [];
            const look = () => {
                seen.push(document.querySelector('.meter--win .meter__sum').innerText.trim());
                requestAnimationFrame(look);
            };
            look();
        }"""
    )
    page.locator("#act-deal").click()
    dealt(page)
    shows(page, "win", 1950)
    counted = set(page.evaluate("seen"))
    assert len(counted) > 3, "it does count"
    assert not [each for each in counted if not re.fullmatch(r"SEK\s(0|[1-9][0-9]*)\.[0-9]{2}", each)]


@pytest.mark.sweep
def test_the_cashier_keeps_the_focus_where_it_is_needed(enter):
    page = enter(viewport=PHONE)
    page.goto("/en/cashier/")
    page.locator("#deposit").click()
    expect(page.locator("#id_amount")).to_be_focused()
    page.locator("#top-up").click()
    expect(page.get_by_text("of play money.")).to_be_visible()
    expect(page.locator("#top-up")).to_be_focused()
    frame = page.locator(".table-frame")
    assert frame.evaluate("frame => frame.scrollWidth <= frame.clientWidth"), "no amount is out of sight"


@pytest.mark.sweep
def test_a_table_closed_under_a_page_lets_the_chips_go(enter):
    page = enter()
    page.goto(TABLE)
    place(page)
    close_table(table_id=SoloSeat.objects.get().table_id, reason="test", by="staff:1")
    page.locator("#bet-tie").click()
    expect(page.locator(".table-head .badge--off")).to_be_visible()
    expect(page.locator("#act-deal")).to_have_attribute("aria-disabled", "true")
    page.locator("#act-clear").click()
    shows(page, "bet", 0)
    page.reload()
    expect(page.locator(".call__notice")).to_contain_text("This table is closed.")


def test_a_whole_round_by_keyboard(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "bet-banker":
            break
    page.keyboard.press("Enter")
    shows(page, "bet", 1000)
    assert page.evaluate("document.activeElement.id") == "bet-banker", "the focus stays where it was"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "act-deal":
            break
    page.keyboard.press("Enter")
    expect(page.locator(".call__result")).to_be_visible()
    assert Round.objects.count() == 1


@pytest.mark.sweep
def test_cards_totals_and_result_are_spoken_in_order(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    place(page)
    page.locator("#act-deal").click()
    dealt(page)
    lines = page.locator("#spoken p").all_inner_texts()
    cards = [number for number, line in enumerate(lines) if " of " in line]
    result = next(number for number, line in enumerate(lines) if "Banker wins" in line)
    assert len(cards) == 6
    assert max(cards) < result


@pytest.mark.sweep
def test_everything_needed_to_play_is_in_one_view_in_every_language(enter, languages):
    page = enter()
    for language, viewport in product(languages, (DESKTOP, PHONE)):
        page.set_viewport_size(viewport)
        page.goto(f"/{language}/table/baccarat/real/")
        place(page)
        in_one_view(page, viewport)


def in_one_view(page: Page, viewport: ViewportSize) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out at the side"
    for selector in (
        "#bet-player",
        "#bet-tie",
        "#bet-banker",
        "#act-deal",
        ".meter--bet",
        ".meter--balance",
        ".meter--win",
    ):
        box = page.locator(selector).bounding_box()
        assert box is not None, selector
        assert box["y"] + box["height"] <= viewport["height"], f"{selector} needs scrolling"
        assert box["x"] >= 0, selector
        assert box["x"] + box["width"] <= viewport["width"], selector


@pytest.mark.sweep
def test_the_real_and_free_switch_keeps_the_money_apart(enter, player):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    page.get_by_role("link", name="Free play").click()
    place(page, "tie")
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    assert accounts.balance(player.pk, Mode.REAL) == MONEY
    assert Participation.objects.get().mode == "F"


@pytest.mark.sweep
def test_a_value_of_ones_own_is_mixed_in_and_the_browser_checks_the_round(enter):
    page = enter(reduced_motion="reduce")
    page.goto(TABLE)
    seal = page.locator("#commitment").inner_text().replace("\n", "")
    page.locator("#player-value").fill("min egen – blåbär")
    place(page)
    page.locator("#act-deal").click()
    dealt(page)
    played = Round.objects.get()
    assert re.fullmatch("[0-9a-f]{32} min egen – blåbär", played.player_value)
    assert played.commitment == seal, "the seal shown before the deal is the round's"
    coup = deal(shuffle(bytes(played.seed or b""), 1, played.player_value))
    assert played.cards == " ".join(card.code for card in coup.cards)
    page.goto(f"/en/history/{played.pk}/")
    page.locator('a[href*="/fair/?"]').click()
    expect(page.locator("#answer .call__result")).to_have_text(announcement(coup))
    expect(page.locator("#check-result")).to_be_focused()
    expect(page.locator("#check-result")).to_be_in_viewport()
    shown = page.locator("#answer .card").evaluate_all("cards => cards.map(card => card.getAttribute('aria-label'))")
    assert sorted(shown) == sorted(card_name(card) for card in coup.cards)
