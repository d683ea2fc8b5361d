"""A reader's own browser deals a round again: the same cards as the engine, for any seed, value and number of decks."""

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any
from urllib.parse import urlencode

import pytest
from django.utils.translation import override
from playwright.sync_api import BrowserContext, Page, Route, expect

from games.engine.cards import FULL_DECK, Card
from games.engine.commitments import Binding, Purpose, entropy_of
from games.engine.coup import Coup, Side, deal
from games.engine.dealing import coup_at, cut_card_is_out, opening
from games.engine.shoe import shuffle
from games.labels import announcement, card_name
from tests.harness.browser import NewContext
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, round_at
from tests.vectors import ROUNDS as ROUNDS_PUBLISHED
from tests.vectors import SHOES as SHOES_PUBLISHED

pytestmark = [pytest.mark.browser, pytest.mark.turns(3), pytest.mark.usefixtures("in_english")]

SEED = sha256(b"a round").digest()
ROUND_ID, TABLE, RULES = "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", 7, "ab" * 32
SIX_CARDS = next(
    seed
    for seed in (sha256(b"%d" % number).digest() for number in range(1000))
    if len(deal(shuffle(seed, 1)).cards) == 6
)
DIGITS = tuple(product(range(10), repeat=4))
VALUES = (
    "",
    " ",
    "0",
    "lucky",
    " spaces stay \t",
    "Straße, kök, Ångström, știință",
    "e\u0301 is not \u00e9",  # the same to the eye, other bytes to the shuffle
    "九萬 🀄️ 👩‍👩‍👧",
    "\u202eright to left שלום",
    "x" * 64,
    "🂡" * 64,  # a salt longer than one block of SHA-256
)
ROUNDS = [
    (sha256(f"{value} {decks} {number}".encode()).digest(), value, decks)
    for value in VALUES
    for decks in range(1, 9)
    for number in range(12)
]
SHOES = [sha256(b"shoe %d" % number).digest() for number in range(40)]
DEAL_THROUGH = """async (seeds) => {
    const answers = [];
    for (const seed of seeds) {
        const cards = await shuffled(thirtyTwoBytes(seed), "", 8);
        const rounds = dealtThrough(cards).map((each) => [each.first, each.cards.map(code).join(" ")]);
        answers.push([burned(cards), code(cards[0]), rounds]);
    }
    return answers;
}"""
DEAL_AGAIN = """async (rounds) => {
    const answers = [];
    for (const [seed, value, decks] of rounds) {
        const cards = await shuffled(thirtyTwoBytes(seed), value, decks);
        answers.push([cards, dealt(cards)]);
    }
    return answers;
}"""


PUBLISHED = """async (cases) => {
    const answers = [];
    for (const { purpose, id, table, decks, rules, seed, player_value } of cases) {
        const bytes = thirtyTwoBytes(seed);
        const cards = await shuffled(bytes, player_value, decks);
        const { player, banker } = dealt(cards);
        const inOrder = [player[0], banker[0], player[1], banker[1], ...player.slice(2), ...banker.slice(2)];
        const order = new TextEncoder().encode(cards.map(code).join(" "));
        const seal = await commitment(bytes, { purpose, round: id, table, decks, rules });
        answers.push([seal, hex(await sha256(order)), inOrder.map(code).join(" ")]);
    }
    return answers;
}"""
TREES = """async (cases) => {
    const { leadsToRoot, leaf, root } = await import("/static/js/verification/card_tree.js");
    const answers = [];
    for (const { purpose, id, table, decks, rules, seed, entropy, coup, root: published } of cases) {
        const bytes = thirtyTwoBytes(seed);
        const cards = (await shuffled(bytes, entropy, decks)).map(code);
        const salted = await salts(bytes, entropy, decks);
        const leaves = await Promise.all(cards.map((card, place) => leaf({ place, card, salt: salted[place] })));
        const seal = await commitment(bytes, { purpose, round: id, table, decks, rules });
        const ways = [];
        for (const card of coup) {
            ways.push(await leadsToRoot(card, cards.length, published));
            ways.push(await leadsToRoot({ ...card, card: card.card === "AC" ? "KS" : "AC" }, cards.length, published));
            ways.push(await leadsToRoot({ ...card, place: card.place ^ 1 }, cards.length, published));
            ways.push(await leadsToRoot({ ...card, path: card.path.slice(1) }, cards.length, published));
        }
        answers.push([seal, salted.slice(0, 3), leaves.slice(0, 3).map(hex), hex(await root(leaves)), ways]);
    }
    return answers;
}"""
ENTROPY = """async (cases) => {
    const { entropyOf } = await import("/static/js/verification/shoe_chance.js");
    return Promise.all(cases.map(entropyOf));
}"""
RUN = """async (given) => {
    const { hex, salts, burned, code, commitment, dealt, dealtThrough, sha256, shuffled, thirtyTwoBytes } =
        await import("/static/js/verification/shuffle.js"); // which the page has loaded: the policy allows no other
    return JSON.stringify(await (SCRIPT)(JSON.parse(given)));
}"""


def run(page: Page, script: str, given: object) -> Any:
    """Run a function in the page with what shuffle.js exports; as text, since Playwright takes seconds to wrap every
    number by itself.
    """
    return json.loads(page.evaluate(RUN.replace("SCRIPT", script), json.dumps(given)))


@pytest.fixture
def web_server(kept_server: WebServer) -> WebServer:
    return kept_server


@pytest.fixture(scope="module")
def shoe(server_of_module: WebServer) -> str:
    """The address of a shoe in play."""
    return f"/en/fair/shoe/{round_at(a_live_table()).shoe_id}/"


@pytest.fixture
def in_english() -> Iterator[None]:
    """Expect English text, even if an earlier test has left another language active."""
    with override("en"):
        yield


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page in which nothing may fail, on the console or otherwise."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert complaints == []


def commitment(seed: bytes, purpose: Purpose = Purpose.SOLO, decks: int = 1) -> str:
    """Return the commitment to a seed of the round, or the shoe, to which `link` leads."""
    return Binding(purpose, ROUND_ID, TABLE, decks, RULES).commitment(seed)


def link(
    seed: bytes,
    *,
    seal: str | None = None,
    value: str = "",
    decks: int = 1,
    language: str = "en",
    first: int = 1,
    purpose: Purpose = Purpose.SOLO,
) -> str:
    query = {"commitment": seal or commitment(seed, purpose, decks), "seed": seed.hex(), "value": value}
    query |= {"purpose": purpose.value, "round": ROUND_ID, "table": str(TABLE), "rules": RULES}
    return f"/{language}/fair/?{urlencode(query | {'decks': str(decks), 'first': str(first)})}"


def fill(page: Page, seed: str, seal: str, value: str = "", decks: str = "1") -> None:
    for field, text in (("seed", seed), ("commitment", seal), ("value", value), ("decks", decks)):
        page.locator(f"#{field}").fill(text)
    page.get_by_role("button", name="Verify").click()


def verdict(page: Page, which: str) -> None:
    expect(page.locator("[data-verdict]:visible")).to_have_count(1)
    expect(page.locator(f"[data-verdict={which}]")).to_be_visible()


def hand_shown(page: Page, side: str) -> list[str | None]:
    return [card.get_attribute("aria-label") for card in page.locator(f"#answer .hand--{side} .card").all()]


def in_writing(card: Card) -> str:
    return ("10" if card.rank.letter == "T" else card.rank.letter) + card.suit.symbol


def shows(page: Page, coup: Coup, cards: tuple[Card, ...]) -> None:
    """Check that the page lays out this coup, says who won and lists all cards."""
    for side in Side:
        assert hand_shown(page, side) == [card_name(card) for card in coup.hand(side)]
        expect(page.locator(f"#answer .hand--{side} .hand__score")).to_have_text(coup.score(side))
    expect(page.locator("#answer .call__result")).to_have_text(announcement(coup))
    page.locator("#answer summary").click()
    assert page.locator("#order li").all_inner_texts() == [in_writing(card) for card in cards]


def test_the_browser_deals_what_the_engine_dealt_for_any_seed_value_and_decks(page: Page) -> None:
    page.goto("/en/fair/")
    answers = run(page, DEAL_AGAIN, [(seed.hex(), value, decks) for seed, value, decks in ROUNDS])
    assert len(answers) == len(ROUNDS) > 1000
    for (seed, value, decks), (order, hands) in zip(ROUNDS, answers, strict=True):
        cards = shuffle(seed, decks, value)
        assert [FULL_DECK[place] for place in order] == list(cards), (value, decks)
        coup = deal(cards)
        dealt = {side: tuple(FULL_DECK[place] for place in hand) for side, hand in hands.items()}
        assert dealt == {"player": coup.player, "banker": coup.banker}
    assert_the_tableau_is_the_engines(page)


def assert_the_tableau_is_the_engines(page: Page) -> None:
    """Every combination of two totals and two third cards."""
    place = [next(place for place, card in enumerate(FULL_DECK) if card.points == points) for points in range(10)]
    openings = [(place[p], place[b], place[0], place[0], place[x], place[y]) for p, b, x, y in DIGITS]
    found = run(page, "(openings) => openings.map((cards) => dealt(cards))", openings)
    for front, hands in zip(openings, found, strict=True):
        coup = deal(FULL_DECK[each] for each in front)
        assert (len(hands["player"]), len(hands["banker"])) == (len(coup.player), len(coup.banker)), coup


@pytest.mark.sweep
def test_a_link_from_a_replay_checks_the_round_at_once(page: Page) -> None:
    for value, decks in (("", 1), ("Straße 九 \"<b>'", 1), ("lucky", 8)):
        page.goto(link(SEED, value=value, decks=decks))
        verdict(page, "match")
        cards = shuffle(SEED, decks, value)
        shows(page, deal(cards), cards)


def test_the_browser_deals_a_shoe_through_as_the_engine_does(page: Page) -> None:
    page.goto("/en/fair/")
    answers = run(page, DEAL_THROUGH, [seed.hex() for seed in SHOES])
    for seed, (burned, burn_card, rounds) in zip(SHOES, answers, strict=True):
        cards = shuffle(seed, 8)
        begins = opening(cards)
        assert (burned, burn_card) == (begins.burned, begins.burn_card.code)
        gone, is_last, expected = begins.burned, False, []
        while not is_last:
            is_last = cut_card_is_out(gone, begins.cut)
            coup = coup_at(cards, gone)
            expected.append([gone, " ".join(card.code for card in coup.cards)])
            gone += len(coup.cards)
        assert rounds == expected


@pytest.mark.sweep
def test_a_round_from_the_middle_of_a_shoe_is_dealt_from_there(page: Page) -> None:
    cards = shuffle(SEED, 8)
    page.goto(link(SEED, decks=8, first=78, purpose=Purpose.SHOE))
    verdict(page, "match")
    coup = coup_at(cards, 77)
    shows(page, coup, cards)
    assert page.locator("#order li.mini--dealt").all_inner_texts() == [in_writing(card) for card in coup.cards]
    for first in ("0", "412", "1.5", ""):
        page.locator("#first").fill(first)
        page.get_by_role("button", name="Verify").click()
        verdict(page, "first")


def test_the_published_rounds_are_dealt_and_committed_to(page: Page) -> None:
    page.goto("/en/fair/")
    answers = run(page, PUBLISHED, ROUNDS_PUBLISHED)
    expected = [[case["commitment"], case["order_sha256"], case["cards"]] for case in ROUNDS_PUBLISHED]
    assert answers == expected


def test_the_published_shoes_are_committed_to_card_by_card(page: Page, shoe: str) -> None:
    page.goto(shoe)  # which has loaded the script
    answers = run(page, TREES, SHOES_PUBLISHED)
    for case, (seal, salts, leaves, root, ways) in zip(SHOES_PUBLISHED, answers, strict=True):
        assert (seal, salts, leaves) == (case["commitment"], case["first_salts"], case["first_leaves"])
        assert root == case["root"]
        assert ways == [True, False, False, False] * len(case["coup"])


def test_what_was_added_to_the_published_shoes_is_mixed_in_and_nothing_that_is_spoilt(page: Page, shoe: str) -> None:
    page.goto(shoe)
    cut = [case for case in SHOES_PUBLISHED if "chances" in case]
    assert run(page, ENTROPY, [case["chances"] for case in cut]) == [case["entropy"] for case in cut]
    lines, line = max((case["chances"] for case in cut), key=len), "beacon 52db 1000 b446"
    first, *rest = lines
    spoilt = [[*rest, first], [first.replace(" ", " 0"), *rest], [line, *lines], [*lines, line, line]]
    assert run(page, ENTROPY, [[], *spoilt]) == [""] * 5
    assert run(page, ENTROPY, [[*lines, line], [line]]) == [entropy_of([*lines, line]), entropy_of([line])]


def test_a_link_from_the_replay_of_a_solo_round_holds_the_seal_to_what_it_names(page: Page) -> None:
    case = next(each for each in ROUNDS_PUBLISHED if each["decks"] == 8 and each["player_value"])
    named = {"purpose": case["purpose"], "round": case["id"], "table": case["table"], "rules": case["rules"]}
    of_round = {"commitment": case["commitment"], "seed": case["seed"], "value": case["player_value"], "decks": 8}
    page.goto(f"/en/fair/?{urlencode(of_round | named)}")
    verdict(page, "match")
    cards = shuffle(bytes.fromhex(case["seed"]), 8, case["player_value"])
    shows(page, deal(cards), cards)
    for field, other in (("table", "18"), ("round", case["id"][:-1] + "0"), ("rules", "0" * 64)):
        page.goto(f"/en/fair/?{urlencode(of_round | named | {field: other})}")
        verdict(page, "mismatch")


def test_a_seed_under_another_seal_is_found_out(page: Page) -> None:
    page.goto(link(SIX_CARDS, seal=commitment(SEED)))
    verdict(page, "mismatch")
    fill(page, SIX_CARDS.hex().upper(), f"  {commitment(SIX_CARDS).upper()} ")
    verdict(page, "match")
    expect(page.locator("#answer .card--third")).to_have_count(2)


@pytest.mark.sweep
def test_one_letter_of_the_value_changes_the_cards(page: Page) -> None:
    page.goto(link(SEED, value="lucky"))
    verdict(page, "match")
    fill(page, SEED.hex(), commitment(SEED), "lucky ")
    cards = shuffle(SEED, 1, "lucky ")
    expect(page.locator("#order li").first).to_have_text(in_writing(cards[0]))
    shows(page, deal(cards), cards)


@pytest.mark.sweep
def test_what_makes_no_sense_is_said_in_a_sentence(page: Page) -> None:
    page.goto(link(SEED))
    seed, seal = SEED.hex(), commitment(SEED)
    for given_seed, given_seal, decks, which in (
        ("", seal, "1", "seed"),
        (seed[:-1], seal, "1", "seed"),
        (seed[:-1] + "g", seal, "1", "seed"),
        (seed, seal, "1", "match"),
        (seed, "", "1", "seal"),
        (seed, seal[:-2], "1", "seal"),
        (seed, seal, "0", "decks"),
        (seed, seal, "1", "match"),
        (seed, seal, "9", "decks"),
        (seed, seal, "1.5", "decks"),
        (seed, seal, "", "decks"),
    ):
        fill(page, given_seed, given_seal, decks=decks)
        verdict(page, which)
        expect(page.locator("#answer")).to_be_visible(visible=which == "match")


@pytest.mark.sweep
def test_nobody_presses_the_button_before_the_check_has_come(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/verification/round.js*", hold)
    page.goto("/en/fair/", wait_until="commit")
    button = page.get_by_role("button", name="Verify")
    expect(button).to_be_disabled()
    held[0].continue_()
    expect(button).to_be_enabled()


@pytest.mark.sweep
def test_where_the_browser_has_no_web_crypto_the_page_says_why(page: Page) -> None:
    page.add_init_script("Object.defineProperty(window.crypto, 'subtle', { value: undefined });")
    page.goto(link(SEED))
    verdict(page, "insecure")
    expect(page.get_by_text("https")).to_be_visible()


@pytest.mark.sweep
def test_without_javascript_the_page_leads_to_the_script(new_context: NewContext, web_server: WebServer) -> None:
    page = new_context(base_url=web_server.url, java_script_enabled=False).new_page()
    page.goto("/en/fair/")
    expect(page.get_by_text("Verification needs JavaScript")).to_be_visible()
    expect(page.get_by_role("button", name="Verify", exact=True)).to_be_hidden()
