"""Four browsers at a Chemin de Fer table, for an evening, each in a language of its own: what one does the others see,
and each sees what is theirs alone. Then the same table with lines that are lost, and a server that is killed.
"""

from dataclasses import dataclass, replace

import pytest
from playwright.sync_api import Page, expect

from games.chemin import rendering, snapshots
from games.chemin.apply import name_of
from games.engine.chemin import Phase, State
from games.engine.chemin.actions import MakeCall, TableAction
from games.models import CheminCoup, CheminMove, Decider, LiveTable, Participation
from players.models import Player
from tests.browser.at_table import a_window
from tests.browser.guests_script import (
    GUESTS,
    PURSE,
    RULES,
    evening,
    seed_for_the_evening,
    the_bank_is_lost,
    the_bank_wins_and_is_kept,
)
from tests.builders import UNHURRIED_GUESTS, a_player
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    answer,
    answer_by_the_rule,
    asked_at,
    chemin_of,
    state_of,
    step,
)
from tests.harness.browser import NewContext
from tests.harness.web import ServerStarter, WebServer
from wallet.invariants import verify
from wallet.ledger import accounts
from wallet.models import Mode

pytestmark = pytest.mark.browser

LANGUAGES = ("en", "sv", "de", "ro")
TABLE = "table/chemin/real/"


@pytest.fixture
def web_server(start_server: ServerStarter) -> WebServer:
    """The house on a shoe that suits the script."""
    return start_server(
        application="tests.servers.chosen:application", environment={"CHOSEN_SEEDS": seed_for_the_evening()}
    )


@dataclass
class Guest:
    """Someone at a place, and the page they look at."""

    player: Player
    place: int
    page: Page

    @property
    def funds(self) -> str:
        """What the page says they have."""
        return self.page.locator("#live-own .meter--balance .meter__sum").inner_text()


class Salon:
    """The table as four browsers play at it; it follows the script of `tests.browser.guests_script`."""

    def __init__(self, live_table: LiveTable, guests: list[Guest]) -> None:
        self.live_table = live_table
        self.guests = {guest.place: guest for guest in guests}

    @property
    def state(self) -> State:
        return state_of(self.live_table)

    def do(self, action: TableAction) -> None:
        """Press the button, in the guest's own browser, and wait until all four show what became of it."""
        chemin, guest = chemin_of(self.live_table), self.guests[action.seat]
        own = guest.page.locator("#live-own")
        expect(own).to_have_attribute("data-asked", str(chemin.question))
        shown = own.get_attribute("data-key") or ""
        if self.state.phase is not Phase.FREE:
            expect(guest.page.locator(".decide__turn")).to_be_visible()
            self.expect_nobody_else_asked(guest)
        name = name_of(type(action))
        option = f"{name}-{action.call.value}" if isinstance(action, MakeCall) else name
        amount = getattr(action, "amount", None)
        if amount is not None and guest.page.locator(f"#amount-{option}").count():
            guest.page.locator(f"#amount-{option}").fill(str(amount // 100))
        guest.page.locator(f"#act-{option}").click()
        expect(own).not_to_have_attribute("data-key", shown)
        self.expect_the_same_everywhere()

    def expect_nobody_else_asked(self, guest: Guest) -> None:
        for other in self.guests.values():
            if other is not guest:
                expect(other.page.locator(".option")).to_have_count(0)

    def expect_the_same_everywhere(self) -> None:
        """Every page stands where the table stands: what was done last, phase, turn, bank, and cards that lie open."""
        state, latest = self.state, rendering.board_mark(snapshots.read_public(self.live_table.pk))
        for guest in self.guests.values():
            expect(guest.page.locator("#live-board")).to_have_attribute("data-key", latest)
            expect(guest.page.locator("#live-public")).to_have_attribute("data-phase", state.phase.value)
            banks = guest.page.locator(".place--bank")
            expect(banks).to_have_count(1 if state.bank else 0)
            if state.bank:
                expect(banks).to_have_id(f"place-{state.bank.seat}")
            if state.turn:
                expect(guest.page.locator(".place--turn")).to_have_id(f"place-{state.turn}")
        self.expect_cards_only_where_they_may_be(state)

    def expect_cards_only_where_they_may_be(self, state: State) -> None:
        """Two of four lie face down on every page until they are turned up; the punter alone holds two open."""
        if state.phase is not Phase.PUNTER:
            return
        for guest in self.guests.values():
            expect(guest.page.locator(".middle .card--back")).to_have_count(4)
            holds = guest.place == state.turn
            expect(guest.page.locator(".decide__hand .card:not(.card--back)")).to_have_count(2 if holds else 0)


@pytest.fixture
def live_table() -> LiveTable:
    """A table whose questions last as long as the test."""
    return a_chemin_table(places=RULES.places, minimum=RULES.minimum, maximum=RULES.maximum)


def take_places(new_context: NewContext, server: WebServer, live_table: LiveTable) -> list[Guest]:
    """Four players at places 1 to 4, each in a browser of their own, in a language of their own."""
    guests = []
    for place, language in zip(range(1, GUESTS + 1), LANGUAGES, strict=True):
        player = a_player(real=PURSE)
        page = a_window(new_context, server, player).new_page()
        page.goto(f"/{language}/{TABLE}")
        page.locator(f"#sit-{place}").click()
        expect(page.locator("#live-own")).to_have_attribute("data-seat", str(place))
        guests.append(Guest(player, place, page))
    return guests


def test_an_evening_of_four(new_context: NewContext, web_server: WebServer, live_table: LiveTable, is_sweep: bool):
    """`make test` plays its first two coups."""
    salon = Salon(live_table, take_places(new_context, web_server, live_table))
    if is_sweep:
        evening(salon)
    else:
        the_bank_wins_and_is_kept(salon)
        the_bank_is_lost(salon)

    coups = list(CheminCoup.objects.order_by("at"))
    assert [coup.outcome for coup in coups][:2] == ["banker", "punter"]
    if is_sweep:
        assert [coup.call for coup in coups] == ["", "", "", "banco_solo"]
        assert coups[-1].punter_departs
    assert not CheminMove.objects.exclude(decider__in=(Decider.GUEST, Decider.HOUSE)).exists()
    for guest in salon.guests.values():
        has = accounts.balance(guest.player.pk, Mode.REAL)
        digits = "".join(each for each in guest.funds if each.isdigit())
        assert int(digits) == has
        expect(guest.page.locator(".past-coup")).to_have_count(len(coups))
        part = Participation.objects.filter(player=guest.player).order_by("-pk").first()
        assert part
        guest.page.goto(f"/en/history/{part.round_id}/")
        expect(guest.page.locator("main")).to_contain_text(part.round.code)
    assert [check.rows for check in verify.run() if check.rows] == []


class Lines:
    """A table played through the house's own verbs, at which those who are asked lose their line."""

    def __init__(self, live_table: LiveTable, guests: list[Guest]) -> None:
        self.live_table = live_table
        self.guests = {guest.player.pk: guest for guest in guests}

    def lose_it(self, phase: Phase) -> None:
        """Whoever is asked is cut off and does not answer: the croupier decides, the others are told so, and the one
        who comes back sees the table as it is.
        """
        state = state_of(self.live_table)
        assert state.phase is phase
        absent = self.guests[asked_at(self.live_table).pk]
        window = absent.page.context
        window.set_offline(True)
        expect(absent.page.locator("#live-lost")).not_to_be_empty()
        assert step(self.live_table)
        move = CheminMove.objects.filter(decider=Decider.CROUPIER).order_by("number").last()
        assert move
        assert (move.seat.player_id if move.seat else None) == absent.player.pk
        latest = rendering.board_mark(snapshots.read_public(self.live_table.pk))
        for guest in self.guests.values():
            if guest is not absent:
                expect(guest.page.locator("#live-board")).to_have_attribute("data-key", latest)
                expect(guest.page.locator("#live-board .badge").first).to_be_attached()
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
    return a_chemin_table(places=RULES.places, clock=replace(UNHURRIED_GUESTS, missed=20))


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
    lines = Lines(patient_table, take_places(new_context, start_server(), patient_table))
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
    lines = Lines(patient_table, take_places(new_context, server, patient_table))
    lines.go_to(Phase.PUNTER)
    punter = lines.guests[asked_at(patient_table).pk]
    own = punter.page.locator(".decide__hand .card")
    expect(own).to_have_count(2)
    held = own.evaluate_all("cards => cards.map((card) => card.getAttribute('aria-label') ?? card.textContent)")

    server.process.kill()
    server.process.wait()
    for guest in lines.guests.values():
        expect(guest.page.locator("#live-lost")).not_to_be_empty()
    start_server(port=server.port)
    for guest in lines.guests.values():
        expect(guest.page.locator("#live-lost")).to_be_empty()
    expect(own).to_have_count(2)
    assert own.evaluate_all("cards => cards.map((card) => card.getAttribute('aria-label') ?? card.textContent)") == held

    punter.page.locator("#act-draw_card, #act-stand").first.click()
    expect(punter.page.locator("#live-public")).not_to_have_attribute("data-phase", "punter")
    while state_of(patient_table).phase is Phase.BANKER:
        answer_by_the_rule(patient_table)
    coup = CheminCoup.objects.order_by("at").last()
    assert coup
    for guest in lines.guests.values():
        expect(guest.page.locator(".past-coup")).to_have_count(CheminCoup.objects.count())
    assert [check.rows for check in verify.run() if check.rows] == []
