"""What there is to see in the house: every page of the matrix, and the states a page can be in.

The tests of every page and `make screenshots` look at the same list.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from uuid import UUID

import psycopg
from django.urls import reverse
from django.utils.translation import override
from playwright.sync_api import Page, expect

from games import replay
from games.models import Table
from games.tables import set_open
from players import service
from players.models import Player, Staff, Topic, User
from tests.browser.at_table import deal, put
from tests.builders import a_place, a_player, a_purse, a_round, a_verified_player
from tests.games.corrupt import corrupt
from tests.matrix import LINES, MONEY, PAGE, ROLES, STAFF, Line, World
from tests.people import a_member_of_staff
from tests.wallet.at_the_bank import a_payment, at_the_bank
from tests.wallet.payout_builders import a_withdrawal, approve
from wallet.models import Mode, Payment
from wallet.payments.asking import ask_about
from wallet.sandbox_bank.orders import Answer

SIZES = {"wide": (1280, 800), "tablet": (768, 1024), "phone": (390, 844), "lying": (844, 390)}  # CSS pixels


class Scene(World):
    """One house in which every page has something on it. Whoever stands at an address is made once."""

    def __init__(self) -> None:
        self._users: dict[str, User | None] = {}

    def user(self, role: str) -> User | None:
        """Who stands at the address."""
        if role not in self._users:
            self._users[role] = super().user(role)
        return self._users[role]

    @cached_property
    def table(self) -> Table:
        """The table of `baccarat`."""
        return Table.objects.get(pk=self.table_id)

    @cached_property
    def golden(self) -> Table:
        """The table of `golden`."""
        return Table.objects.get(pk=self.golden_id)

    @cached_property
    def round_id(self) -> str:
        """A round of the player's, at the table that stands already."""
        return str(a_round(self.player, self.table, player=1000).round_id)

    @cached_property
    def regular(self) -> Player:
        """Has played, won and lost."""
        player = a_player(real=MONEY, free=MONEY)
        for mode in (Mode.REAL, Mode.FREE):
            for bets in ({"player": 1000}, {"banker": 5000, "tie": 1000}, {"tie": 10_000}):
                a_round(player, self.table, mode, **bets)
        return player

    @cached_property
    def credited(self) -> Payment:
        """A deposit that the bank has authorised."""
        return self._answered(Answer.APPROVE)

    @cached_property
    def declined(self) -> Payment:
        """A deposit that the bank has declined."""
        return self._answered(Answer.DECLINE)

    def _answered(self, said: Answer) -> Payment:
        payment = a_payment(a_player())
        at_the_bank(payment, said)
        return ask_about(payment.pk)

    @cached_property
    def bettor(self) -> Player:
        """Has chips on the table."""
        player = a_player(real=MONEY, free=MONEY)
        a_place(player, self.table, player=10_000, tie=1000)
        a_place(player, self.table, Mode.FREE, banker=1000)
        return player

    @cached_property
    def pauper(self) -> Player:
        """Has less than a chip."""
        return a_player(real=100)

    @cached_property
    def golden_bettor(self) -> Player:
        """Has a purse and chips at Golden Baccarat."""
        player = a_player(real=MONEY)
        a_purse(player, 100_000)
        a_place(player, self.golden, player=1000)
        return player

    @cached_property
    def wronged(self) -> Player:
        """Played a round that is annulled; see `go_wrong`."""
        return a_player(real=MONEY)

    @cached_property
    def answered_id(self) -> int:
        """A complaint of the regular's about a round, answered once."""
        part = self.regular.participation_set.filter(mode=Mode.REAL).select_related("round")[0]
        about = service.RoundNamed(part.round_id, part.round.code)
        text = "The banker drew a third card.\nPlease look."
        begun = service.begin(player=self.regular, topic=Topic.COMPLAINT, text=text, about=about)
        staff = a_member_of_staff("support")
        return service.answer(staff=staff, conversation_id=begun.pk, text="We looked: the rule says so.").pk

    @cached_property
    def annulled_id(self) -> UUID:
        """The round that is annulled."""
        return a_round(self.wronged, self.table, player=1000, banker=1000).round_id

    @cached_property
    def withdrawer(self) -> Player:
        """Asked for money twice; the larger sum has been approved by one of two people."""
        player = a_verified_player(real=10 * MONEY)
        a_withdrawal(player)
        approve(a_withdrawal(player, 5 * MONEY), self.first_approver)
        return player

    @cached_property
    def first_approver(self) -> Staff:
        """Whoever approved it first."""
        return a_member_of_staff("finance")

    @cached_property
    def second_approver(self) -> Staff:
        """Whoever may decide next."""
        return a_member_of_staff("finance")

    def go_wrong(self, owner: psycopg.Connection) -> None:
        """Spoil a stored round, have the house find it, and open the table again."""
        corrupt(owner, self.annulled_id)
        replay.replay_finished_rounds()
        set_open(table_id=self.table_id, is_open=True, reason="looked into", by="staff:test")


@dataclass(frozen=True)
class Sight:
    """A page in one state: who looks at it, where it is, what is done there first, and at which sizes it can be."""

    name: str
    who: Callable[[Scene], User | None]
    path: Callable[[Scene], str]
    show: Callable[[Page], None] = lambda page: None
    sizes: tuple[str, ...] = tuple(SIZES)

    def url(self, scene: Scene, language: str = "en") -> str:
        """Return its address in *language*."""
        with override(language):
            return self.path(scene)


def sights() -> tuple[Sight, ...]:
    """Return all there is to see, in the order of the matrix, then the states."""
    return (*_pages(), *STATES)


def _pages() -> Iterator[Sight]:
    seen: Counter[str] = Counter()
    for line in (line for line in LINES if line.is_page):
        seen[line.name] += 1
        number = f" {seen[line.name]}" if seen[line.name] > 1 else ""
        for role in _eyes(line):
            yield Sight(f"{line.name}{number} as {role}", _as(role), _at(line))


def _eyes(line: Line) -> list[str]:
    """The roles that see something of their own: the other player has nothing yet, staff look alike but at home."""
    roles = [role for role in ROLES if line.answers[role] is PAGE]
    if line.name == "staff_home":
        return roles
    kinds = {role: "staff" if role in STAFF else role for role in roles}
    if "anonymous" in roles:
        kinds.pop("other_player", None)
    return [role for role in kinds if list(kinds.values()).index(kinds[role]) == list(kinds).index(role)]


def _as(role: str) -> Callable[[Scene], User | None]:
    return lambda scene: scene.user(role)


def _at(line: Line) -> Callable[[Scene], str]:
    return lambda scene: reverse(line.name, kwargs=dict(line.arguments(scene)))


def _named(name: str, query: str = "", **arguments: object) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs=arguments) + query


REAL_TABLE = _named("table", slug="baccarat", mode=Mode.REAL)
FREE_TABLE = _named("table", slug="baccarat", mode=Mode.FREE)
GOLDEN = _named("table", slug="golden", mode=Mode.REAL)
nobody = _as("anonymous")
player = _as("player")


# --- What is done first -------------------------------------------------------------------------------------------


def play_a_round(page: Page) -> None:
    """Put a chip on a bet and deal."""
    put(page, "player")
    deal(page)


def bet_too_much(page: Page) -> None:
    """Put a chip that the player cannot pay for."""
    page.locator("#bet-player").click()
    expect(page.locator(".call__notice")).to_be_visible()


def open_rebuy(page: Page) -> None:
    """Open the dialog that moves money into the game."""
    page.locator("#act-rebuy").click()
    expect(page.locator("#rebuy")).to_be_visible()


def send_nonsense(page: Page, **fields: str) -> None:
    """Send the form of a page past the browser's own checks."""
    page.locator("main form").first.evaluate("form => { form.noValidate = true }")
    for name, text in fields.items():
        page.locator(f"main form [name={name}]").first.fill(text)
    page.locator("main form button:not([type=button])").first.click()


def log_in_wrongly(page: Page) -> None:
    """Mistype the password."""
    send_nonsense(page, login="nobody@example.com", password="not this one")
    expect(page.locator(".notice--error, .errorlist").first).to_be_visible()


def register_with_nothing(page: Page) -> None:
    """Send the empty form."""
    send_nonsense(page, email="nobody")
    expect(page.locator(".errorlist").first).to_be_visible()


def deposit_nonsense(page: Page) -> None:
    """Ask to deposit no number."""
    send_nonsense(page, amount="a lot")
    expect(page.locator(".errorlist").first).to_be_visible()


def log_in_too_often(page: Page) -> None:
    """Send the empty form until the house has had enough. No password is in it, so each costs the house no hashing."""
    token = page.locator("main form [name=csrfmiddlewaretoken]").input_value()
    while page.request.post(page.url, form={"csrfmiddlewaretoken": token}).status != HTTPStatus.TOO_MANY_REQUESTS:
        pass
    with page.expect_navigation():
        send_nonsense(page)


def send_an_old_token(page: Page) -> None:
    """Send a form that lay on a page from before a log-in."""
    page.locator("main form [name=csrfmiddlewaretoken]").evaluate("token => { token.value = 'old' }")
    send_nonsense(page, login="nobody@example.com", password="not this one")
    expect(page.locator(".trouble")).to_be_visible()


def open_the_menu(page: Page) -> None:
    """Open what stands behind the menu's button where the window is narrow."""
    page.locator(".bar__menu-button").click()
    expect(page.locator("#site-menu")).to_be_visible()


def open_preferences(page: Page) -> None:
    """Open the dialog of themes, cards, sound and motion."""
    page.locator("[data-opens=preferences]:visible").first.click()
    expect(page.locator("#preferences")).to_be_visible()


def open_shortcuts(page: Page) -> None:
    """Open the list of keys."""
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()


def sit_down_as_a_guest(page: Page) -> None:
    """Confirm being of age, where that has not been done, and take a place."""
    if page.locator("#adult").count():
        page.locator("#adult").check()
    if page.locator("#to-play").count():
        page.locator("#to-play").click()
    expect(page.locator("#game")).to_be_visible()


def watch_as_a_guest(page: Page) -> None:
    """Watch a demonstration to its end."""
    if page.locator("#adult").count():
        page.locator("#adult").check()
    page.locator("#to-watch").click()
    page.locator("#rest").click()
    expect(page.locator(".call__result")).to_be_visible()


def open_details(page: Page) -> None:
    """Unfold the first detail."""
    page.locator("main summary").first.click()
    expect(page.locator("main details[open]")).to_have_count(1)


def send_nothing(page: Page) -> None:
    """Send a message that says nothing, past what the browser itself would hold back."""
    page.locator(".form--message").evaluate("form => { form.noValidate = true }")
    page.locator(".form--message .button--go").click()
    expect(page.locator(".form--message .field--error").first).to_be_visible()


def check_a_round(page: Page) -> None:
    """Let the browser do the arithmetic."""
    page.locator("#check button").click()
    expect(page.locator("#check-result [data-verdict]:visible")).to_have_count(1)


def time_out(page: Page) -> None:
    """Show what the page says when the session has ended."""
    page.evaluate("end('timed out')")
    expect(page.locator("#session-over")).to_be_visible()


def warn_of_the_end(page: Page) -> None:
    """Show what the page asks shortly before the session ends."""
    page.evaluate("warn(42)")
    expect(page.locator("#session-warning")).to_be_visible()


def _round(scene: Scene) -> str:
    return reverse("round", kwargs={"round_id": scene.annulled_id})


def _credited(scene: Scene) -> str:
    return reverse("cashier_payment", kwargs={"payment_id": scene.credited.pk})


def _declined(scene: Scene) -> str:
    return reverse("cashier_payment", kwargs={"payment_id": scene.declined.pk})


def _golden_door(scene: Scene) -> str:
    return reverse("guest", kwargs={"slug": scene.golden.slug})


def _staff_round(scene: Scene) -> str:
    return f"{reverse('staff_rounds')}?round={scene.annulled_id}"


def _fair(scene: Scene) -> str:
    played = scene.player.participation_set.get(round_id=scene.round_id).round
    return f"{reverse('fair')}?commitment={played.commitment}&seed={bytes(played.seed).hex()}&decks=8"


def _conversation(name: str) -> Callable[[Scene], str]:
    return lambda scene: reverse(name, kwargs={"conversation_id": scene.answered_id})


def _deciding(page: str) -> Callable[[Scene], str]:
    """A page of the back office on which the player's withdrawals wait."""
    return lambda scene: reverse(page) if scene.withdrawer else ""


STATES = (
    Sight("withdraw with requests", lambda scene: scene.withdrawer.user, _named("cashier_withdraw")),
    Sight("staff_withdrawals with requests", lambda scene: scene.second_approver.user, _deciding("staff_withdrawals")),
    Sight("staff_approvals to decide", lambda scene: scene.second_approver.user, _deciding("staff_approvals")),
    Sight("staff_approvals of one's own", lambda scene: scene.first_approver.user, _deciding("staff_approvals")),
    Sight("table with bets", lambda scene: scene.bettor.user, REAL_TABLE),
    Sight("table with bets in free play", lambda scene: scene.bettor.user, FREE_TABLE),
    Sight("table after a round", lambda scene: scene.regular.user, REAL_TABLE, play_a_round),
    Sight("table after a round in free play", lambda scene: scene.regular.user, FREE_TABLE, play_a_round),
    Sight("table with an error", lambda scene: scene.pauper.user, REAL_TABLE, bet_too_much),
    Sight("golden with bets", lambda scene: scene.golden_bettor.user, GOLDEN),
    Sight("golden with the re-buy dialog", lambda scene: scene.golden_bettor.user, GOLDEN, open_rebuy),
    Sight("history with rounds", lambda scene: scene.regular.user, _named("history")),
    Sight("history with an annulled round", lambda scene: scene.wronged.user, _named("history")),
    Sight("history with a wrong filter", lambda scene: scene.regular.user, _named("history", "?since=x&until=x")),
    Sight("an annulled round", lambda scene: scene.wronged.user, _round),
    Sight("cashier with movements", lambda scene: scene.regular.user, _named("cashier")),
    Sight("cashier with a deposit in progress", lambda scene: scene.payment.player.user, _named("cashier")),
    Sight("a deposit that was credited", lambda scene: scene.credited.player.user, _credited),
    Sight("a deposit that was declined", lambda scene: scene.declined.player.user, _declined),
    Sight("cashier with an error", player, _named("cashier"), deposit_nonsense),
    Sight("statement with movements", lambda scene: scene.regular.user, _named("statement")),
    Sight("statement with a wrong period", player, _named("statement", "?since=2026-02-02&until=2026-02-01")),
    Sight("a complaint with its answer", lambda scene: scene.regular.user, _conversation("service_thread")),
    Sight("a message without words", player, _named("service_new"), send_nothing),
    Sight("staff: a complaint with its answer", _as("support"), _conversation("staff_service_thread")),
    Sight("log-in with an error", nobody, _named("account_login"), log_in_wrongly),
    Sight("registration with errors", nobody, _named("account_signup"), register_with_nothing),
    Sight("a round that checks out", lambda scene: scene.player.user, _fair, check_a_round),
    Sight("the menu of a player", player, _named("lobby"), open_the_menu, sizes=("phone",)),
    Sight("the menu of a visitor", nobody, _named("lobby"), open_the_menu, sizes=("phone",)),
    Sight("the session about to end", player, REAL_TABLE, warn_of_the_end),
    Sight("the session timed out", player, REAL_TABLE, time_out),
    Sight("the preferences", player, REAL_TABLE, open_preferences),
    Sight("the shortcuts", lambda scene: scene.bettor.user, REAL_TABLE, open_shortcuts),
    Sight("a guest at a table", nobody, _named("guest", slug="baccarat"), sit_down_as_a_guest),
    Sight("a guest who watches", nobody, _golden_door, watch_as_a_guest),
    Sight("refused", player, _named("staff_home")),
    Sight("nothing there", nobody, lambda scene: reverse("lobby") + "nowhere/"),
    Sight("an old form", nobody, _named("account_login"), send_an_old_token),
    Sight("too often", nobody, _named("account_login"), log_in_too_often),
    Sight("our fault", nobody, lambda scene: reverse("lobby") + "broken/"),
    Sight("staff: a round", _as("compliance"), _staff_round),
    Sight("staff: no such round", _as("compliance"), _named("staff_rounds", "?round=x")),
    Sight("staff: an incident", _as("compliance"), _named("staff_incidents"), open_details),
    Sight("staff: an event", _as("compliance"), _named("staff_events"), open_details),
    Sight("staff: no such event", _as("compliance"), _named("staff_events", "?on=x&kind=x")),
    Sight("staff: no such journal", _as("finance"), _named("staff_ledger", "?round=x")),
)
