"""Chromium shows the cards of a coup one after the other, and what they decide only after them."""

from itertools import groupby, pairwise

import pytest
from playwright.sync_api import expect

from games.engine.chemin.steps.phases import IN_COUP
from tests.browser.at_table import a_window
from tests.builders import UNHURRIED_CHEMIN, a_player
from tests.chemin.at_table import (
    a_chemin_table,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked_at,
    chemin_of,
    seated_players,
    seen_of,
)
from tests.harness.browser import NewContext
from tests.harness.web import WebServer

pytestmark = [pytest.mark.browser, pytest.mark.turns(3)]

NOTE = """() => {
  const arriving = (hand) => Array.from(hand.querySelectorAll(".card"), ({ className }, place) =>
    className.includes("card--arrives") ? [`${hand.id} ${place}`] : []).flat();
  const count = (part, faces) => part.querySelectorAll(`.middle .card${faces}`).length;
  window.noted = [];
  const note = () => {
    const table = document.getElementById("live-public"), log = document.getElementById("live-board");
    const now = {
      cards: count(table, ""), open: count(table, "[data-due]"),
      arriving: Array.from(table.querySelectorAll(".middle .hand"), arriving).flat(),
      tells: [table.querySelector(".middle__result, .hand--wins"), log.querySelector(".is-result"),
        document.querySelector("#live-own [data-settled]")].some(Boolean),
    };
    if (JSON.stringify(window.noted.at(-1)) !== JSON.stringify(now)) window.noted.push(now);
  };
  note();
  new MutationObserver(note).observe(document, { subtree: true, childList: true, attributes: true });
}"""


def test_cards_come_one_by_one_and_before_what_they_decide(new_context: NewContext, web_server: WebServer) -> None:
    live_table = a_chemin_table(clock=UNHURRIED_CHEMIN)
    seated_players(live_table, 2)
    a_staked_coup(live_table)
    page = a_window(new_context, web_server, a_player(), reduced_motion="no-preference").new_page()
    page.goto("/en/table/chemin/real/")
    expect(page.locator(".middle .card")).to_have_count(0)
    page.evaluate(NOTE)
    answer(asked_at(live_table), live_table, "deal_cards")
    while seen_of(live_table).phase in IN_COUP:
        expect(page.locator("#live-public")).to_have_attribute("data-move", str(chemin_of(live_table).move))
        answer_by_the_rule(live_table)
    expect(page.locator(".middle__result")).to_be_visible()
    expect(page.locator("#live-board .is-result")).to_have_count(1)
    noted = page.evaluate("noted")
    arriving = [cards for cards, _ in groupby(each["arriving"] for each in noted) if cards]
    hands = ("live-hand-player", "live-hand-banker")
    assert arriving[:4] == [[f"{hand} {place}"] for place in (0, 1) for hand in hands]
    final = noted[-1]
    assert final["open"] == final["cards"]
    assert final["tells"]
    assert list(dict.fromkeys(each["cards"] for each in noted)) == list(range(final["cards"] + 1))
    for before, after in pairwise(noted):
        assert after["open"] - before["open"] in (0, 1)
        assert not after["tells"] or after["open"] == final["open"], after
