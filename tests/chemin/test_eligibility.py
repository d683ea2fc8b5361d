"""Access to Chemin de Fer tables: for players with its currency and kind of money.

Features of punto banco tables are not available.
"""

from uuid import uuid4

import pytest
from django.test import Client

from tests.builders import a_chemin_live_table, a_player
from tests.harness.sweeps import sample
from tests.live.at_table import a_live_table
from tests.people import a_visitor

pytestmark = pytest.mark.django_db
ANOTHER_CURRENCY = "This table is not available in your currency."
OF_SHARED_TABLES = (
    "table/{}/free/now/",
    "table/{}/free/statistics/",
    "table/{}/free/chips/",
    "table/{}/free/favourites/",
    "table/{}/free/framed/",
    "multi-table/{}:free/add/",
    "multi-table/pairs:free,{}:free/",
)


@pytest.fixture
def browser() -> Client:
    browser = a_visitor()
    browser.force_login(a_player(real=100_000, free=100_000).user)
    return browser


@pytest.mark.sweep
@pytest.mark.parametrize("mode", ["real", "free"])
def test_a_player_with_another_currency_is_informed(browser: Client, mode: str) -> None:
    a_chemin_live_table("EUR")
    answer = browser.get(f"/en/table/chemin/{mode}/")
    assert answer.status_code == 404
    assert ANOTHER_CURRENCY in answer.text


@pytest.mark.parametrize("method", ["get", "post"])
def test_a_practice_table_is_not_there_for_real_money(browser: Client, method: str) -> None:
    a_chemin_live_table(seat_count=5, house_players=3)
    answer = getattr(browser, method)("/en/table/chemin/real/chat/")
    assert answer.status_code == (404 if method == "get" else 405)
    assert browser.get("/en/table/chemin/free/chat/").status_code == 200


@pytest.mark.sweep
@pytest.mark.parametrize("address", sample(OF_SHARED_TABLES, 3))
def test_what_shared_tables_have_is_not_there(browser: Client, address: str) -> None:
    a_chemin_live_table()
    a_live_table()
    a_live_table("pairs", slug="pairs")
    answers = {getattr(browser, method)(f"/en/{address.format('chemin')}").status_code for method in ("get", "post")}
    assert 404 in answers
    assert answers <= {404, 405}
    assert browser.get(f"/en/{address.format('live')}").status_code != 404


@pytest.mark.sweep
def test_it_is_not_offered_next_to_another_table(browser: Client) -> None:
    a_chemin_live_table()
    a_live_table()
    a_live_table("pairs", slug="pairs")
    page = browser.get("/en/multi-table/live:free/add/").text
    assert "/en/multi-table/live:free,pairs:free/" in page
    assert "chemin" not in page


@pytest.mark.parametrize(
    ("address", "fields"),
    [
        ("play/", {"action": "deal"}),
        ("bet/", {"action": "keep", "round_id": str(uuid4())}),
        ("re-buy/", {"amount": "10", "key": str(uuid4())}),
        ("leave/", {"key": str(uuid4())}),
    ],
)
def test_no_bet_of_another_game_is_taken_there(browser: Client, address: str, fields: dict[str, str]) -> None:
    a_chemin_live_table()
    assert browser.post(f"/en/table/chemin/free/{address}", fields).status_code == 404


def test_players_who_have_not_logged_in_are_not_let_in_to_try() -> None:
    a_chemin_live_table()
    assert a_visitor().get("/en/demo/chemin/").status_code == 404
