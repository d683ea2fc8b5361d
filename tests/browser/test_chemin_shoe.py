"""A shoe that players played from is dealt again by the reader's own browser: every coup begins where the one before it
ended, from the first card to the cut card.
"""

from collections.abc import Iterator

import psycopg
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from games.models import Round, Shoe
from games.verification.verification_task import publish_seeds
from tests.browser.test_shoe import verdict
from tests.chemin.at_table import a_chemin_table, seated_players
from tests.chemin.evenings import play_until
from tests.harness.browser import PHONE, NewContext
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

# Damage as only the owner of the database tables can do; each statement takes the shoe.
SPOILT = {
    "a card": "UPDATE games_round SET cards = '9H 4D KS 2C' WHERE {second}",
    "where a coup began": "UPDATE games_round SET first_card = first_card + 1 WHERE {second}",
    "a card that no coup took": "UPDATE games_round SET cards = substr(cards, 1, length(cards) - 3) WHERE {long}",
    "the last coup left out": "UPDATE games_liveround SET shoe_id = {another}, number = 30000 WHERE {last}",
    "that something was burned": "UPDATE games_shoe SET burned = 1 WHERE id = %(shoe)s",
}
ROUND = "id = (SELECT id FROM games_round WHERE shoe_id = %(shoe)s {which} LIMIT 1)"
PIECES = {
    "second": ROUND.format(which="AND first_card > 0"),
    "long": ROUND.format(which="AND length(cards) > 11"),
    "another": "(SELECT id FROM games_shoe WHERE id <> %(shoe)s LIMIT 1)",
    "last": ROUND.format(which="ORDER BY first_card DESC"),
}
KEEP = (
    "ALTER TABLE games_round DISABLE TRIGGER USER",
    "ALTER TABLE games_liveround DISABLE TRIGGER USER",
    "ALTER TABLE games_shoe DISABLE TRIGGER USER",
    "CREATE TEMP TABLE kept_round AS TABLE games_round",
    "CREATE TEMP TABLE kept_live_round AS TABLE games_liveround",
)
MEND = (
    "UPDATE games_round AS r SET cards = k.cards, first_card = k.first_card FROM kept_round AS k WHERE k.id = r.id",
    """UPDATE games_liveround AS r SET shoe_id = k.shoe_id, number = k.number
       FROM kept_live_round AS k WHERE k.id = r.id""",
    "UPDATE games_shoe SET burned = 0",
)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page in which nothing may fail, on the console or otherwise."""
    complaints: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    yield page
    assert complaints == []


def a_spent_shoe() -> Shoe:
    """Return a shoe that two players have played through to the cut card, with its seed published."""
    live_table = a_chemin_table()
    seated_players(live_table, 2)
    play_until(live_table, lambda _: Shoe.objects.filter(ended_at__isnull=False).exists(), seed=21)
    publish_seeds()
    return Shoe.objects.get(ended_at__isnull=False)


@pytest.mark.sweep
def test_it_says_so_where_everything_follows_from_the_seed_and_finds_whatever_does_not(
    page: Page, owner: psycopg.Connection, new_context: NewContext, web_server: WebServer
) -> None:
    shoe = a_spent_shoe()
    assert shoe.gone >= shoe.cut == 298
    verdict(page, shoe, "match")
    expect(page.locator("[data-right]:visible")).to_have_count(Round.objects.filter(shoe=shoe).count())
    phone = new_context(base_url=web_server.url, viewport=PHONE).new_page()
    verdict(phone, shoe, "match")
    assert phone.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for statement in KEEP:
        owner.execute(statement)
    for what, statement in SPOILT.items():
        assert owner.execute(statement.format(**PIECES), {"shoe": shoe.pk}).rowcount == 1, what
        verdict(page, shoe, "mismatch")
        for mend in MEND:
            owner.execute(mend)
    verdict(page, shoe, "match")
