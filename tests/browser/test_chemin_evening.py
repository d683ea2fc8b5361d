"""Four browsers at a Chemin de Fer table, for an evening, each in a different language: all see every action,
and private cards only by their player. Then the same table with lost connections and a killed server.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Page, expect

from games.chemin.apply import name_of
from games.chemin.pages import rendering
from games.chemin.state import snapshots
from games.engine.chemin import Phase, State
from games.engine.chemin.actions import MakeCall, TableAction
from games.models import CheminCoup, CheminMove, Decider, LiveTable, Participation
from players.models import Player
from tests.browser.at_table import a_window
from tests.browser.chemin_script import (
    CHEMIN,
    PURSE,
    RULES,
    evening,
    seed_for_the_evening,
    the_bank_wins_and_is_kept,
)
from tests.builders import UNHURRIED_CHEMIN, a_player
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    answer,
    answer_by_the_rule,
    asked_at,
    chemin_of,
    finish_cut,
    sit,
    state_of,
    step,
)
from tests.harness.browser import NewContext
from tests.harness.dealer import first, seeds_drawn
from tests.harness.web import ServerStarter, WebServer
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.browser

LANGUAGES = ("en", "sv", "de", "ro")
TABLE = "table/chemin/real/"


@pytest.fixture
def web_server(start_server: ServerStarter) -> Iterator[WebServer]:
    """The house on a shoe that suits the script."""
    with seeds_drawn(first(seed_for_the_evening())):
        yield start_server()


@dataclass
class BrowserPlayer:
    """Someone at a place, and the page they look at."""

    player: Player
    seat_number: int
    page: Page

    @property
    def funds(self) -> str:
        """The balance on the page."""
        return self.page.locator("#live-own .meter--balance .meter__sum").inner_text()


class Salon:
    """The table as four browsers play at it; it follows the script of `tests.browser.chemin_script`."""

    def __init__(self, live_table: LiveTable, seated_players: list[BrowserPlayer]) -> None:
        self.live_table = live_table
        self.seated_players = {browser_player.seat_number: browser_player for browser_player in seated_players}

    @property
    def state(self) -> State:
        return state_of(self.live_table)

    def do(self, action: TableAction) -> None:
        """Press the button, in the player's own browser, and wait until all show the result."""
        if action.seat not in self.seated_players:
            self.answer_for(action)
            return
        chemin, browser_player = chemin_of(self.live_table), self.seated_players[action.seat]
        own = browser_player.page.locator("#live-own")
        expect(own).to_have_attribute("data-asked", str(chemin.question))
        shown = own.get_attribute("data-key") or ""
        if self.state.phase is not Phase.FREE:
            expect(browser_player.page.locator(".decide__turn")).to_be_visible()
            self.expect_nobody_else_asked(browser_player)
        name = name_of(type(action))
        option = f"{name}-{action.call.value}" if isinstance(action, MakeCall) else name
        amount = getattr(action, "amount", None)
        if amount is not None and browser_player.page.locator(f"#amount-{option}").count():
            browser_player.page.locator(f"#amount-{option}").fill(str(amount // 100))
        browser_player.page.locator(f"#act-{option}").click()
        expect(own).not_to_have_attribute("data-key", shown)
        finish_cut(self.live_table)  # before any browser opens what it adds, which would change the script's cards
        self.expect_the_same_everywhere()

    def answer_for(self, action: TableAction) -> None:
        """Act for a player without a browser, and wait until all browsers show the result."""
        amount, call = getattr(action, "amount", None), getattr(action, "call", None)
        answer(asked_at(self.live_table), self.live_table, name_of(type(action)), amount, call)
        finish_cut(self.live_table)
        self.expect_the_same_everywhere()

    def expect_nobody_else_asked(self, browser_player: BrowserPlayer) -> None:
        for other in self.seated_players.values():
            if other is not browser_player:
                expect(other.page.locator(".option")).to_have_count(0)

    def expect_the_same_everywhere(self) -> None:
        """Every page shows the state of the table: the last move, phase, turn, bank, and cards that are face up."""
        state, latest = self.state, rendering.page_board_key(snapshots.read_public(self.live_table.pk))
        for browser_player in self.seated_players.values():
            expect(browser_player.page.locator("#live-board")).to_have_attribute("data-key", latest)
            expect(browser_player.page.locator("#live-public")).to_have_attribute("data-phase", state.phase.value)
            banks = browser_player.page.locator(".seat--bank")
            expect(banks).to_have_count(1 if state.bank else 0)
            if state.bank:
                expect(banks).to_have_id(f"seat-{state.bank.seat}")
            if state.turn:
                expect(browser_player.page.locator(".seat--turn")).to_have_id(f"seat-{state.turn}")
        self.expect_cards_only_where_they_may_be(state)

    def expect_cards_only_where_they_may_be(self, state: State) -> None:
        """Two of four lie face down on every page until they are turned up; the punter alone holds two open."""
        if state.phase is not Phase.PUNTER:
            return
        for browser_player in self.seated_players.values():
            expect(browser_player.page.locator(".middle .card--back")).to_have_count(4)
            holds = browser_player.seat_number == state.turn
            expect(browser_player.page.locator(".decide__hand .card:not(.card--back)")).to_have_count(2 if holds else 0)


@pytest.fixture
def live_table() -> LiveTable:
    """A table whose questions last as long as the test."""
    return a_chemin_table(seat_count=RULES.seat_count, minimum=RULES.minimum, maximum=RULES.maximum)


def take_seats(
    new_context: NewContext, server: WebServer, live_table: LiveTable, number: int = CHEMIN
) -> list[BrowserPlayer]:
    """Four players, or fewer, in seats from 1 on, each in a separate browser, in a different language."""
    seated_players = []
    for seat_number, language in zip(range(1, number + 1), LANGUAGES, strict=False):
        player = a_player(real=PURSE)
        page = a_window(new_context, server, player).new_page()
        page.goto(f"/{language}/{TABLE}")
        page.locator(f"#sit-{seat_number}").click()
        expect(page.locator("#live-own")).to_have_attribute("data-seat", str(seat_number))
        seated_players.append(BrowserPlayer(player, seat_number, page))
    return seated_players


def test_an_evening_of_four(new_context: NewContext, web_server: WebServer, live_table: LiveTable, is_sweep: bool):
    """`make test` plays its first coup, in which the bank wins: banker and punter in browsers, the others without."""
    browsers = CHEMIN if is_sweep else 2
    salon = Salon(live_table, take_seats(new_context, web_server, live_table, browsers))
    for seat_number in range(browsers + 1, CHEMIN + 1):
        sit(a_player(real=PURSE), live_table, seat_number)
    if is_sweep:
        evening(salon)
    else:
        the_bank_wins_and_is_kept(salon)

    coups = list(CheminCoup.objects.order_by("at"))
    assert coups[0].outcome == "banker"
    if is_sweep:
        assert coups[1].outcome == "punter"
        assert [coup.call for coup in coups] == ["", "", "", "banco_solo"]
        assert coups[-1].punter_departs
    assert not CheminMove.objects.exclude(decider__in=(Decider.PLAYER, Decider.HOUSE)).exists()
    for browser_player in salon.seated_players.values():
        has = accounts.balance(browser_player.player.pk, Mode.REAL)
        digits = "".join(each for each in browser_player.funds if each.isdigit())
        assert int(digits) == has
        expect(browser_player.page.locator(".past-coup")).to_have_count(len(coups))
        part = Participation.objects.filter(player=browser_player.player).order_by("-pk").first()
        if not part:
            assert not is_sweep  # in the first coup somebody's turn to stake does not come
            continue
        browser_player.page.goto(f"/en/history/{part.round_id}/")
        expect(browser_player.page.locator("main")).to_contain_text(part.round.code)
    assert [check.rows for check in verify.run() if check.rows] == []


class Lines:
    """A table whose moves are made by the product's functions; players who are asked lose their connection."""

    def __init__(self, live_table: LiveTable, seated_players: list[BrowserPlayer]) -> None:
        self.live_table = live_table
        self.seated_players = {browser_player.player.pk: browser_player for browser_player in seated_players}

    def lose_it(self, phase: Phase) -> None:
        """The player asked is cut off and does not answer: the croupier decides, the others are notified, and the one
        who comes back sees the table as it is.
        """
        state = state_of(self.live_table)
        assert state.phase is phase
        absent = self.seated_players[asked_at(self.live_table).pk]
        window = absent.page.context
        window.set_offline(True)
        expect(absent.page.locator("#live-lost")).not_to_be_empty()
        assert step(self.live_table)
        move = CheminMove.objects.filter(decider=Decider.CROUPIER).order_by("number").last()
        assert move
        assert (move.seat.player_id if move.seat else None) == absent.player.pk
        latest = rendering.page_board_key(snapshots.read_public(self.live_table.pk))
        for browser_player in self.seated_players.values():
            if browser_player is not absent:
                expect(browser_player.page.locator("#live-board")).to_have_attribute("data-key", latest)
                expect(browser_player.page.locator("#live-board .badge").first).to_be_attached()
        window.set_offline(False)
        expect(absent.page.locator("#live-board")).to_have_attribute("data-key", latest)
        expect(absent.page.locator("#live-lost")).to_be_empty()

    def go_to(self, phase: Phase) -> None:
        """Have everybody decide until this is asked: there is a bank, one stakes, and the rule does the rest."""
        while (state := state_of(self.live_table)).phase is not phase:
            if state.phase is Phase.OFFER:
                a_bank(self.live_table)
            elif state.phase is Phase.STAKES and not state.running_coup.stakes:
                answer(asked_at(self.live_table), self.live_table, "lay_stake", 4_000)
            else:
                answer_by_the_rule(self.live_table)


@pytest.fixture
def patient_table() -> LiveTable:
    """A table at which nobody is away for missing turns."""
    return a_chemin_table(seat_count=RULES.seat_count, clock=replace(UNHURRIED_CHEMIN, missed=20))


ASKED = (
    Phase.OFFER,
    Phase.CALLS,
    Phase.STAKES,
    Phase.CARDS,
    Phase.PUNTER,
    Phase.BANKER,
    Phase.CHOICE,
    Phase.SUITE,
    Phase.AUCTION,
)


@pytest.mark.sweep
def test_a_line_is_lost_at_every_decision(
    new_context: NewContext, start_server: ServerStarter, patient_table: LiveTable
):
    lines = Lines(patient_table, take_seats(new_context, start_server(), patient_table))
    for phase in ASKED:
        lines.go_to(phase)
        lines.lose_it(phase)
    decided = CheminMove.objects.filter(decider=Decider.CROUPIER)
    assert decided.count() == len(ASKED)
    assert {"pass", "deal_cards", "give_suite"} < set(decided.values_list("kind", flat=True))
    assert [check.rows for check in verify.run() if check.rows] == []


@pytest.mark.sweep
def test_the_server_is_killed_in_mid_coup(
    new_context: NewContext, start_server: ServerStarter, patient_table: LiveTable
):
    server = start_server()
    lines = Lines(patient_table, take_seats(new_context, server, patient_table))
    lines.go_to(Phase.PUNTER)
    punter = lines.seated_players[asked_at(patient_table).pk]
    own = punter.page.locator(".decide__hand .card")
    expect(own).to_have_count(2)
    held = own.evaluate_all("cards => cards.map((card) => card.getAttribute('aria-label') ?? card.textContent)")

    server.process.kill()
    server.process.wait()
    for browser_player in lines.seated_players.values():
        expect(browser_player.page.locator("#live-lost")).not_to_be_empty()
    start_server(port=server.port)
    for browser_player in lines.seated_players.values():
        expect(browser_player.page.locator("#live-lost")).to_be_empty()
    expect(own).to_have_count(2)
    assert own.evaluate_all("cards => cards.map((card) => card.getAttribute('aria-label') ?? card.textContent)") == held

    punter.page.locator("#act-draw_card, #act-stand").first.click()
    expect(punter.page.locator("#live-public")).not_to_have_attribute("data-phase", "punter")
    while state_of(patient_table).phase is Phase.BANKER:
        answer_by_the_rule(patient_table)
    coup = CheminCoup.objects.order_by("at").last()
    assert coup
    for browser_player in lines.seated_players.values():
        expect(browser_player.page.locator(".past-coup")).to_have_count(CheminCoup.objects.count())
    assert [check.rows for check in verify.run() if check.rows] == []
