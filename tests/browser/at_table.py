"""Actions at a table for tests in a browser."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Participation, ShoeCut
from players.models import Player, User
from tests.harness.browser import DESKTOP, NewContext
from tests.harness.owner import as_owner
from tests.harness.web import WebServer
from wallet.ledger import accounts
from wallet.models import Mode

TABLE = "/en/table/baccarat/real/"
# Gives players hours to cut a shoe, so that no browser is too slow; a test ends each half (`open_what_is_bound`).
LONG_CUTS = """
    CREATE FUNCTION tests.last_for_hours() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        NEW.bound_until := NEW.bound_until + interval '1 hour';
        NEW.open_until := NEW.open_until + interval '2 hours';
        RETURN NEW;
    END $$;
    CREATE TRIGGER lasts_for_hours BEFORE INSERT ON games_shoecut
        FOR EACH ROW EXECUTE FUNCTION tests.last_for_hours();
"""
# A page delays timers of more than half an hour until `later` is called.
HOLD_WHAT_IS_LATER = """
    const [wait, held] = [window.setTimeout, []];
    window.setTimeout = (what, after, ...more) => (after > 1_800_000 ? held.push(what) : wait(what, after, ...more));
    window.later = () => held.splice(0).forEach((what) => what());
"""

# The values that a browser without chance adds to the shuffle of a solo round: with scripts, and without.
ADDED = ("0" * 32, "")
WITHOUT_CHANCE = """
    const draw = crypto.getRandomValues.bind(crypto);
    crypto.getRandomValues = (into) => (into.constructor === Uint8Array && into.length === 16 ? into : draw(into));
"""


def without_chance(new_context: NewContext) -> NewContext:
    """Return *new_context* for browsers that add `ADDED`, so that a chosen seed deals the cards that a test needs."""

    def new_context_without_chance(**options: object) -> BrowserContext:
        window = new_context(**options)
        window.add_init_script(WITHOUT_CHANCE)
        return window

    return new_context_without_chance


def log_in(window: BrowserContext, server: WebServer, user: User) -> None:
    """Give a browser the cookie of a session that has begun."""
    client = Client()
    client.force_login(user)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
    window.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": server.url}])


def a_window(new_context: NewContext, server: WebServer, player: Player, **options: object) -> BrowserContext:
    """Return a separate browser context, logged in as the player, without animations."""
    defaults = {"base_url": server.url, "viewport": DESKTOP, "reduced_motion": "reduce"}
    window = new_context(**(defaults | options))
    log_in(window, server, player.user)
    return window


@contextmanager
def windows_without_complaint(
    new_context: NewContext, server: WebServer, player: Player, **defaults: object
) -> Iterator[Callable[..., Page]]:
    """Give a function that opens a page in a separate window, logged in; fail on any error that a browser reported."""
    complaints: list[str] = []

    def open_page(**options: object) -> Page:
        page = a_window(new_context, server, player, **(defaults | options)).new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_page
    assert complaints == []


def at_table(window: BrowserContext) -> Page:
    """Return a tab that shows the table."""
    page = window.new_page()
    page.goto(TABLE)
    return page


def put(page: Page, bet: str = "tie") -> None:
    """Put one chip on a bet and wait until the house has it."""
    before = page.locator("[name=slip_version]").input_value()
    page.locator(f"#bet-{bet}").click()
    expect(page.locator("[name=slip_version]")).not_to_have_value(before)


def deal(page: Page, button: str = "deal") -> None:
    """Deal, and wait until the table is ready for the next round."""
    before = page.locator("[name=round_id]").input_value()
    page.locator(f"#act-{button}").click()
    expect(page.locator("[name=round_id]")).not_to_have_value(before)
    expect(page.locator("#game.game--fresh")).to_have_count(0)


def balance_is_that_of(player: Player, *, rounds: int, money: int) -> None:
    """Check the number of rounds, and the balance against their stakes and payouts."""
    parts = Participation.objects.filter(player=player)
    assert len(parts) == rounds
    changed = sum(part.paid - part.staked for part in parts)
    assert accounts.balance(player.pk, Mode.REAL) == money + changed


def open_what_is_bound(cut: ShoeCut, pages: Collection[Page]) -> None:
    """Let pages that `HOLD_WHAT_IS_LATER` open what their players add to a shoe, in a database with `LONG_CUTS`.

    The time to bind them is over, for the house and for each page, when all are bound and not before.
    """
    for page in pages:
        expect(page.locator("#live-cut[data-added=bound]")).to_have_count(1)
    as_owner("UPDATE games_shoecut SET bound_until = clock_timestamp() WHERE shoe_id = %s", [cut.shoe_id])
    for page in pages:
        page.evaluate("later()")
        expect(page.locator("#live-cut[data-added=opened]")).to_have_count(1)
