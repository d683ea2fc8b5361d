"""The page of a solo table receives house notices, by stream or by polling."""

import re
from http import HTTPStatus

import pytest

from games.engine.chemin.state import there
from games.shared.pages import stream_tokens
from games.shared.pages.stream_tokens import Ticket, house_now
from games.solo.views import table_now
from players.access import is_made_by_the_page
from players.models import Session
from tests.builders import a_player, a_table
from tests.notices import a_notice
from tests.people import a_visitor

pytestmark = pytest.mark.django_db

NOW = "/ro/house/now/"
STREAM = re.compile(r'data-stream="([^"]*)"')


@pytest.fixture
def player():
    """A player from Romania."""
    return a_player("RO", real=100_000)


@pytest.fixture
def browser(player):
    """The player's browser, logged in."""
    visitor = a_visitor()
    visitor.force_login(player.user)
    return visitor


def ticket_in(page: str, browser) -> Ticket:
    (address,) = STREAM.findall(page)
    return stream_tokens.read(address, browser.session.session_key)


def test_the_page_has_a_ticket_for_public_events_only(browser, player):
    a_table()
    page = browser.get("/ro/table/baccarat/real/").text
    ticket = ticket_in(page, browser)
    assert ticket == stream_tokens.house_ticket(player.pk, there(ticket.session), "ro", jurisdiction="RO")
    assert (ticket.live_table, ticket.lobby, ticket.staff) == (None, None, None)
    assert f'data-reload="{NOW}"' in page


def test_the_answer_to_a_click_brings_none(browser):
    a_table()
    browser.get("/ro/table/baccarat/real/")
    answer = browser.post("/ro/table/baccarat/real/play/", {"action": "clear"}, headers={"HX-Request": "true"})
    assert answer.status_code == HTTPStatus.OK
    assert STREAM.findall(answer.text) == []


def test_asking_brings_what_there_is_and_a_fresh_ticket_and_is_nothing_that_anybody_did(browser, player):
    notice = a_notice()
    answer = browser.get(NOW)
    assert f'data-key="notice-{notice.pk}"' in answer.text
    assert "mentenanță" in answer.text
    assert ticket_in(answer.text, browser).player == player.pk
    assert "no-store" in answer["Cache-Control"]
    assert is_made_by_the_page(house_now)


def test_a_visitor_who_tries_the_table_has_no_line():
    a_table()
    visitor = a_visitor()
    page = visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"}, follow=True).text
    assert 'class="table-head__acts"' in page
    assert "tables/notices.js" not in page
    assert STREAM.findall(page) == []


def test_a_page_that_asks_for_the_table_shows_it_and_is_nothing_that_anybody_did(browser):
    a_table()
    browser.get("/ro/table/baccarat/real/")
    before = Session.objects.get().acted_at
    answer = browser.post("/ro/table/baccarat/real/play/now/", {"action": "keep"}, headers={"HX-Request": "true"})
    assert 'name="round_id"' in answer.text
    assert Session.objects.get().acted_at == before
    assert is_made_by_the_page(table_now)
