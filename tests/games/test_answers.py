"""The answer to a click at a solo table has what changed. Put into the page, it gives the page that a reload gives."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client

from games.tables.status import close_table, open_table
from tests.builders import a_golden_table, a_player, a_purse, a_table
from tests.games.at_pages import MONEY
from tests.harness.dom import OOB, Element, apply_parts, read, sent_by

BETS = {"next-round", "meter-bet", "balance", "win", "check-slot"}
ROUND = BETS | {"stage", "call", "last-round", "commitment"}
AROUND = {"banner"}
# An answer brings the dealer's signature of its round; a reloaded page says where it is.
SIGNED = ("data-epoch", "data-deal", "data-stakes", "data-signature", "data-proof")


@dataclass
class Open:
    """A page of a table in a browser."""

    visitor: Client
    address: str

    def __post_init__(self) -> None:
        self.page = self.reloaded()

    def reloaded(self) -> Element:
        return read(self.visitor.get(self.address).text)

    def click(self, action: str, chip: int = 1000) -> list[str]:
        """Press a button; return the ids of the parts that the answer replaces."""
        form = self.page.by_id("slip")
        sent = sent_by(form) | {"action": action, "chip": str(chip)}
        answer = self.visitor.post(form.attributes["hx-post"], sent, headers={"HX-Request": "true"})
        assert answer.status_code == 200
        return apply_parts(self.page, answer.text)


def as_seen(page: Element) -> Any:
    """Return the parts of a page that clicks change, after the deal, without what is new on each page."""
    seen = []
    for name in ("game", "table-state", "banner"):
        part = page.by_id(name)
        for element in list(part.elements()):
            given = element.attributes
            if "data-until" in given:
                part.remove(element)
            given.pop("data-fresh", None)
            given.pop(OOB, None)
            if given.get("id") == "last-round":
                for attribute in SIGNED:
                    given.pop(attribute, None)
            if given.get("name") in ("csrfmiddlewaretoken", "idempotency_key", "key", "stage"):
                given.pop("value", None)
            if given.get("type") == "radio":
                given.pop("checked", None)  # the browser keeps the chip that was chosen
        seen.append(part.outline())
    return seen


def notices(page: Element) -> list[Element]:
    """Return what the table says about the last click alone: a reload does not say it again."""
    return [each for each in page.elements() if "call__notice" in each.attributes.get("class", "")]


def shows_result(page: Element) -> bool:
    """Return whether cards or result of a round are on the table."""
    return any({"card", "call__result"} & set(each.attributes.get("class", "").split()) for each in page.elements())


@pytest.fixture
def player(db):
    return a_player(real=MONEY, free=MONEY)


def at(player, slug: str) -> Open:
    client = Client()
    client.force_login(player.user)
    return Open(client, f"/en/table/{slug}/real/")


@pytest.mark.parametrize(
    "clicks",
    [
        [
            "bet:player",
            "bet:tie",
            "double",
            "undo",
            "clear",
            "undo",
            "deal",
            "rebet_deal",
            "rebet_deal",
            "rebet",
            "double_deal",
        ],
        ["keep", "deal", "bet:banker", "bet:nothing", "deal", "bet:tie", "clear", "rebet_deal"],
    ],
)
def test_each_answer_makes_the_page_that_a_reload_gives(player, clicks):
    a_table()
    table = at(player, "baccarat")
    for action in clicks:
        replaced = set(table.click(action))
        if not notices(table.page):
            assert as_seen(table.page) == as_seen(table.reloaded()), action
        assert replaced >= (ROUND if action.endswith("deal") else BETS) | AROUND, action
        assert "game" not in replaced


def test_the_answer_to_a_chip_leaves_the_cards_to_a_page_that_shows_them(player):
    a_table()
    table = at(player, "baccarat")
    table.click("bet:player")
    table.click("deal")
    table.page = table.reloaded()
    assert shows_result(table.page)
    assert "stage" in table.click("bet:player")  # the page showed the cards of the last round
    assert not shows_result(table.page)
    assert "stage" not in table.click("bet:player")
    assert "call" in table.click("bet:nothing")  # an error
    assert {"stage", "call"} <= set(table.click("bet:player"))  # and its end
    at(player, "baccarat").click("deal")  # in another tab
    assert "stage" in table.click("bet:player")
    assert "stage" in table.click("bet:player")  # the page spoke of the round that it had not shown
    assert as_seen(table.page) == as_seen(table.reloaded())


def test_the_answer_to_another_round_leaves_the_buttons_and_is_small(player):
    a_table()
    table = at(player, "baccarat")
    table.click("bet:player")
    assert "play" in table.click("deal")
    assert "play" not in table.click("rebet_deal")
    sent = sent_by(table.page.by_id("slip")) | {"action": "rebet_deal"}
    answer = table.visitor.post("/en/table/baccarat/real/play/", sent, headers={"HX-Request": "true"})
    assert len(answer.content) < 5600  # 4,400 to 5,220 by the cards


def test_a_table_with_a_purse_shows_the_offer_to_rebuy(player):
    a_golden_table()
    a_purse(player, 4000)
    table = at(player, "golden")
    for action in ("bet:player", "take:player", "bet:player", "bet:player", "deal", "deal", "deal"):
        replaced = table.click(action)
        assert {"rebuy-sums", "now-player"} <= set(replaced)
        if not notices(table.page):
            assert as_seen(table.page) == as_seen(table.reloaded()), action


def test_a_table_that_closes_or_opens_is_sent_whole(player):
    table = a_table()
    page = at(player, "baccarat")
    assert "game" not in page.click("bet:player")
    close_table(table_id=table.pk, reason="closed", by="staff:test")
    replaced = page.click("keep")
    assert {"game", "table-state"} <= set(replaced)
    assert page.page.by_id("bet-player").attributes["aria-disabled"] == "true"
    assert page.page.by_id("table-state").text == "closed"
    assert as_seen(page.page) == as_seen(page.reloaded())
    assert "game" not in page.click("keep")
    open_table(table_id=table.pk, reason="open", by="staff:test")
    assert {"game", "table-state"} <= set(page.click("keep"))
    assert "aria-disabled" not in page.page.by_id("bet-player").attributes
