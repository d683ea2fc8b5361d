"""The browser's value for the shuffle at a solo table, and its check of each round against stored values."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db.models import QuerySet
from playwright.sync_api import Page, Route, expect

from games.deals import trusted_keys
from games.models import Round, Table
from players.models import Player
from tests.browser.at_table import TABLE, deal, put, windows_without_complaint
from tests.browser.test_demo import come_in
from tests.builders import PASSWORD, a_player, a_table
from tests.harness import sweeps
from tests.harness.browser import NewContext
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

HEX = re.compile(r"[0-9a-f]{32}")
ANOTHER_SEED = "5" * 64
KEPT = """() => new Promise((resolve) => {
    indexedDB.open("sabot").onsuccess = ({ target: { result } }) => {
        result.transaction("rounds").objectStore("rounds").getAll().onsuccess = (all) => resolve(all.target.result);
    };
})"""


@pytest.fixture(scope="module")
def table(server_of_module: WebServer) -> Table:
    """The solo table of all tests here."""
    return a_table()


@pytest.fixture
def web_server(kept_server: WebServer, table: Table) -> WebServer:
    return kept_server


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=1_000_000, password=PASSWORD)


@pytest.fixture
def enter(new_context: NewContext, web_server: WebServer, player: Player) -> Iterator[Callable[..., Page]]:
    """Open a window, logged in, and fail on any error that the browser reported."""
    with windows_without_complaint(new_context, web_server, player, reduced_motion="reduce") as open_page:
        yield open_page


def tamper(page: Page, pattern: str, replacement: str) -> None:
    """Change the answers to clicks on their way to the browser, as a server that deals other cards would."""

    page.route("**/play/", lambda route: swap_in(route, pattern, replacement))


def swap_in(route: Route, pattern: str, replacement: str) -> None:
    answer = route.fetch()
    route.fulfill(response=answer, body=re.sub(pattern, replacement, answer.text()))


def rounds_of(player: Player) -> QuerySet[Round]:
    """Return the player's rounds, in the order of play."""
    return Round.objects.filter(participation__player=player).order_by("at")


def saved_proof(page: Page) -> dict[str, object]:
    with page.expect_download() as download:
        page.locator("#not-verified a").click()
    found: dict[str, object] = json.loads(Path(download.value.path()).read_text())
    return found


def test_each_round_has_a_fresh_value_and_is_verified_without_a_click(enter, player):
    page = enter()
    page.goto(TABLE)
    announced = [""]
    for bet in ("tie", "player"):
        expect(page.locator("#added code")).not_to_have_text(announced[-1])
        announced.append(page.locator("#added code").inner_text())
        put(page, bet)
        expect(page.locator("#added code")).to_have_text(announced[-1])
        deal(page)
        expect(page.locator("#verified")).to_be_visible()
    page.locator("#player-value").fill(" blåbär ♣ ")
    deal(page, "rebet_deal")
    expect(page.locator("#verified")).to_be_visible()
    expect(page.locator("#verified")).to_have_accessible_name(re.compile("the dealer signed them with your stakes"))
    expect(page.locator("#not-verified")).to_be_hidden()
    expect(page.locator("#not-added")).to_be_hidden()
    sent = list(rounds_of(player).values_list("player_value", flat=True))
    assert sent[:2] == announced[1:]
    assert all(HEX.fullmatch(value) for value in sent[:2])
    assert re.fullmatch(r"[0-9a-f]{32} blåbär ♣", sent[2])
    assert len({value[:32] for value in sent}) == 3
    kept = {each["round"]: each for each in page.evaluate(KEPT)}
    for played in rounds_of(player):
        assert kept[str(played.pk)]["commitment"] == played.commitment
        assert kept[str(played.pk)]["sent"] == [played.player_value]
    page.reload()
    expect(page.locator("#verified")).to_be_visible()


# Parts of the answer to DEAL that a server that deals other cards might change.
UNSEALED = {
    "another seed": (r'data-seed="\w+"', f'data-seed="{ANOTHER_SEED}"'),
    "no seed": (r' data-seed="\w+"', ""),
    "another card": (r'(data-due="1">\s*<span class="card__face"><span class="card__rank">)(\w+)', r"\1X"),
}
UNSIGNED = {
    "another signature": (r'data-signature="\w\w', 'data-signature="00'),
    "no signature": (r' data-signature="\w+"', ""),
    "of another run": (r'data-epoch="\w+"', 'data-epoch="00"'),
    "another stake than is shown": (r'data-stake="\d+"', 'data-stake="1"'),
}


def tried(changes: dict[str, tuple[str, str]]) -> list[tuple[str, tuple[str, str]]]:
    """Return the changes that this run tries."""
    return list(changes.items()) if sweeps.IS_SWEEP else sweeps.drawn(list(changes.items()), 2)


def tampered_rounds(page: Page, changes: dict[str, tuple[str, str]], said: str) -> Iterator[tuple[str, str]]:
    """Play a round for each of the *changes* to its answer; yield its name and seal once the page has *said* it.
    `make test` tries two of them, other ones each day.

    A fault stays on the page until it is left, so each round has its own visit.
    """
    for number, (name, (pattern, replacement)) in enumerate(tried(changes)):
        page.goto(TABLE)
        if number:
            expect(page.locator("#verified"), f"the round before {name}, as the house knows it").to_be_visible()
        expect(page.locator("#not-verified"), name).to_be_hidden()
        seal = page.locator("#commitment").inner_text()
        put(page)
        tamper(page, pattern, replacement)
        deal(page)
        expect(page.locator("#not-verified"), name).to_contain_text(said)
        expect(page.locator("#verified"), name).to_be_hidden()
        yield name, seal
        page.unroute_all()


def test_a_round_that_does_not_follow_from_its_seal_is_reported_and_proven(enter, player):
    page = enter()
    for name, seal in tampered_rounds(page, UNSEALED, "The cards do not follow from what was sealed."):
        played = rounds_of(player).latest("at")
        proof = saved_proof(page)
        assert (proof["round"], proof["commitment"]) == (str(played.pk), seal), name
        assert proof["sent"] == [played.player_value], name
        kept = {each["round"]: each.get("proof") for each in page.evaluate(KEPT)}
        assert kept[str(played.pk)] == proof["proof"], name
    assert rounds_of(player).count() == len(tried(UNSEALED))


def test_a_round_that_the_dealer_has_not_signed_is_reported(enter, player):
    page = enter()
    for name, _seal in tampered_rounds(page, UNSIGNED, "The dealer has not signed this round"):
        assert saved_proof(page)["keys"] == trusted_keys(), name
    assert rounds_of(player).count() == len(tried(UNSIGNED))


def test_a_dealer_that_was_not_known_with_the_seal_does_not_count(enter):
    """A house with a separate dealer, whose key it publishes afterwards."""
    page = enter()
    page.route(f"**{TABLE}", lambda route: swap_in(route, r'data-keys="\w+"', f'data-keys="{ANOTHER_SEED}"'))
    page.goto(TABLE)
    expect(page.locator("#added")).to_be_visible()
    page.unroute_all()
    page.reload()
    put(page)
    deal(page)
    expect(page.locator("#not-verified")).to_contain_text("The dealer has not signed this round")


def test_a_browser_that_knows_no_such_signatures_says_so(enter):
    page = enter()
    page.add_init_script(
        """const { importKey } = crypto.subtle;
        crypto.subtle.importKey = function (format, key, algorithm, ...more) {
            if (algorithm.name === "Ed25519") throw new DOMException("unknown", "NotSupportedError");
            return importKey.call(this, format, key, algorithm, ...more);
        };"""
    )
    page.goto(TABLE)
    put(page)
    deal(page)
    expect(page.locator("#verified")).to_be_visible()
    expect(page.locator("#verified")).to_have_accessible_name(re.compile("cannot verify the dealer’s signature"))


def test_another_seal_than_the_one_shown_first_is_found(enter):
    """A server that swaps the seal of a round after the page has shown it."""
    page = enter()
    page.goto(TABLE)
    expect(page.locator("#added")).to_be_visible()
    page.evaluate(
        """() => new Promise((resolve) => {
            indexedDB.open("sabot").onsuccess = ({ target: { result } }) => {
                const transaction = result.transaction("rounds", "readwrite");
                transaction.objectStore("rounds").openCursor().onsuccess = ({ target: { result: cursor } }) =>
                    cursor?.update({ ...cursor.value, commitment: "0".repeat(64) });
                transaction.oncomplete = resolve;
            };
        })"""
    )
    page.reload()
    put(page)
    deal(page)
    expect(page.locator("#not-verified")).to_contain_text("The cards do not follow from what was sealed.")


def test_a_value_that_the_browser_did_not_send_is_reported(enter, player):
    page = enter()
    page.goto(TABLE)
    put(page)

    def swap(route: Route) -> None:
        data = re.sub(r"player_value=[0-9a-f]{32}", "player_value=" + "7" * 32, route.request.post_data or "")
        route.continue_(post_data=data)

    page.route("**/play/", swap)
    deal(page)
    expect(page.locator("#not-verified")).to_contain_text("a different value from the one your browser sent")
    assert rounds_of(player).get().player_value == "7" * 32


def test_the_demo_game_is_verified_too(new_context, web_server):
    page = new_context(base_url=web_server.url, reduced_motion="reduce").new_page()
    come_in(page, "#to-play")
    page.locator("#bet-tie").click()
    expect(page.locator("[name=slip_version]")).to_have_value("1")
    deal(page)
    expect(page.locator("#verified")).to_be_visible()
    put(page)
    tamper(page, r'data-seed="\w+"', f'data-seed="{ANOTHER_SEED}"')
    deal(page)
    expect(page.locator("#not-verified")).to_be_visible()


def test_without_javascript_the_page_says_that_nothing_is_added(enter, player):
    page = enter(java_script_enabled=False)
    page.goto(TABLE)
    expect(page.locator("#not-added")).to_contain_text("your browser adds nothing to the shuffle")
    expect(page.locator("#not-added")).to_be_visible()
    expect(page.locator("#added")).to_be_hidden()
    page.locator("#bet-tie").click()
    page.locator("#player-value").fill("min egen")
    page.locator("#act-deal").click()
    expect(page.locator(".call__result")).to_be_visible()
    assert rounds_of(player).get().player_value == "min egen"
