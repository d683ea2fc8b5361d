"""The tables in Gecko and WebKit, the engines of other browsers: ten taps are ten chips, no script fails."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import pytest

from games.engine.chemin.steps.phases import IN_COUP
from games.models import Participation, Phase, SoloSeat
from players.models import Player
from tests.builders import a_player, a_round, a_table
from tests.chemin.at_table import (
    a_chemin_table,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked_at,
    seated_players,
    seen_of,
)
from tests.harness.engines import Engine, firefox, webkit
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, round_at, slip_of, step
from wallet.models import Mode

pytestmark = [pytest.mark.browser, pytest.mark.sweep]

TEN = 10
VISIBLE_CARDS = """
    return [...document.querySelectorAll(arguments[0])].filter((card) =>
        card.checkVisibility({ visibilityProperty: true, opacityProperty: true })).length;
"""
SIZES = {"phone": (390, 844), "desktop": (1280, 800)}


class Opener(Protocol):
    """Opens a browser."""

    def __call__(self, url: str, folder: Path, width: int, height: int) -> AbstractContextManager[Engine]:
        """Open it at a server, with a window of that size."""


@pytest.fixture
def player(web_server: WebServer) -> Player:
    return a_player(real=1_000_000, free=1_000_000)


@pytest.fixture(params=[firefox, webkit], ids=["gecko", "webkit"])
def opener(request: pytest.FixtureRequest) -> Opener:
    """Each engine."""
    opener: Opener = request.param
    return opener


@pytest.fixture(params=SIZES)
def page(
    request: pytest.FixtureRequest, opener: Opener, web_server: WebServer, player: Player, tmp_path: Path
) -> Iterator[Engine]:
    """A window of the engine, logged in; at the end no script may have complained."""
    with opener(web_server.url, tmp_path, *SIZES[request.param]) as engine:
        engine.log_in(player.user)
        yield engine
        assert engine.complaints() == []
        assert engine.run("return document.documentElement.scrollWidth <= innerWidth")


def test_a_round_at_a_solo_table(page: Engine, player: Player):
    a_table()
    page.open("/en/table/baccarat/free/")
    page.tap("#bet-tie", TEN)
    page.wait("document.querySelector('#bet-tie .spot__stake')?.innerText.includes('100.00')")
    assert SoloSeat.objects.get().slip == {"tie": TEN * 10_00}
    assert page.run("return visualViewport.scale") == 1
    page.tap("#act-undo")
    page.wait("document.querySelector('[name=slip_version]').value === '11'")
    assert SoloSeat.objects.get().slip == {"tie": 9 * 10_00}
    page.tap("#act-deal")
    page.wait(
        "document.querySelector('.call__result')?.checkVisibility() && !document.querySelector('#game.game--fresh')"
    )
    part = Participation.objects.get()
    assert part.staked == 9 * 10_00
    assert page.run(VISIBLE_CARDS, "#stage .card") == len(part.round.cards.split())


def test_a_round_at_a_shared_table(page: Engine, player: Player):
    live_table = a_live_table()
    page.open("/en/table/live/real/")
    page.run("document.getElementById('chip-5000').click()")
    page.tap("#bet-player", TEN)
    page.wait("document.querySelector('#bet-player .spot__stake')?.innerText.includes('500.00')")
    assert slip_of(player, round_at(live_table)) == {"player": TEN * 50_00}
    assert page.run("return visualViewport.scale") == 1
    for phase in (Phase.CLOSED, Phase.DEALT, Phase.SETTLED):
        advance_to(live_table, phase)
        page.wait("document.getElementById('live-public').dataset.phase === arguments[0]", phase.value)
    page.wait("document.querySelector('.live-mine__last')?.innerText")
    assert page.run(VISIBLE_CARDS, ".live-stage .card") == len(round_at(live_table).cards.split())
    step(live_table)
    page.wait("Number(document.querySelector('#live-public [data-seconds]')?.innerText) > 0")


def test_a_coup_at_a_chemin_table(page: Engine):
    live_table = a_chemin_table()
    seated_players(live_table, 2)
    a_staked_coup(live_table)
    page.open("/en/table/chemin/real/")
    answer(asked_at(live_table), live_table, "deal_cards")
    while seen_of(live_table).phase in IN_COUP:
        answer_by_the_rule(live_table)
    page.wait("document.querySelector('.middle__result')?.innerText")


PAGES = ("/en/", "/de/history/", "/sv/fair/", "/da/cashier/", "/ro/help/", "/en/protection/")


def test_the_pages_around_the_tables_and_the_check_of_a_round(page: Engine, player: Player):
    a_round(player, a_table(), Mode.FREE, tie=10_00)
    for address in PAGES:
        page.open(address)
        page.wait("document.querySelector('h1')")
        assert page.complaints() == []
    page.open(f"/en/history/{Participation.objects.get().round_id}/")
    page.wait("document.querySelector('a[href*=\"/fair/?\"]')")
    page.open(page.run("return document.querySelector('a[href*=\"/fair/?\"]').getAttribute('href')"))
    page.wait("document.querySelector('[data-verdict=match]').checkVisibility()")
