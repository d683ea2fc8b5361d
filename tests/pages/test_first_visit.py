"""An empty page says so and offers a next step; a failed form says where to go."""

import re
from itertools import pairwise

import pytest
from django.conf import settings

from tests.builders import a_golden_table, a_player, a_table
from tests.people import PASSWORD, a_visitor, log_in

pytestmark = pytest.mark.django_db

LANGUAGES = [code for code, _ in settings.LANGUAGES]


@pytest.fixture
def newcomer():
    visitor = a_visitor()
    visitor.force_login(a_player().user)
    return visitor


def next_step(page: str) -> tuple[str, str]:
    """Return the sentence of the first empty state on a page, and where its button leads."""
    found = re.search(r'class="empty">.*?<p>(.*?)</p>\s*<a [^>]*href="(.*?)"', page, re.DOTALL)
    assert found, "no empty state with a next step"
    return found[1], found[2]


def test_a_lobby_without_tables_leads_to_how_the_house_deals():
    message, address = next_step(a_visitor().get("/en/").text)
    assert message.startswith("No table is open yet because the casino is still being set up.")
    assert address == "/en/fair/"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("/en/history/", "You have not played any real-money rounds yet."),
        ("/en/cashier/", "You have no real-money transactions yet."),
        ("/en/cashier/?mode=free", "You have no play-money transactions yet."),
    ],
)
def test_an_empty_list_leads_to_the_tables(newcomer, page, message):
    said, address = next_step(newcomer.get(page).text)
    assert said.startswith(message)
    assert address == ("/en/?money=free" if "free" in page else "/en/")


@pytest.mark.parametrize(
    ("mode", "message"), [("real", "There is no money in your account yet."), ("free", "You have no play money.")]
)
def test_a_table_without_money_leads_to_the_cashier(newcomer, mode, message):
    a_table()
    call = newcomer.get(f"/en/table/baccarat/{mode}/").text.split('class="call"')[1].split('class="spots')[0]
    assert message in call
    assert 'href="/en/cashier/' in call


def test_a_table_with_money_says_how_to_begin():
    a_table()
    visitor = a_visitor()
    visitor.force_login(a_player(real=1000).user)
    assert "Choose a chip, put it on a bet, then deal." in visitor.get("/en/table/baccarat/real/").text


@pytest.mark.sweep
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("who", ["visitor", "player"])
def test_no_step_of_the_lobbys_headings_is_left_out(who, language):
    a_table()
    a_golden_table()
    visitor = a_visitor()
    if who == "player":
        visitor.force_login(a_player().user)
    levels = [int(level) for level in re.findall(r"<h(\d)", visitor.get(f"/{language}/").text.split("<dialog")[0])]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def focused(page: str) -> list[str]:
    return re.findall(r'<input [^>]*name="(\w+)"[^>]* autofocus', page)


def test_after_a_wrong_password_the_password_has_the_focus():
    player = a_player(password=PASSWORD)
    assert focused(log_in(a_visitor(), player.user, "something else").text) == ["password"]


def test_a_log_in_without_anything_begins_at_the_address():
    assert focused(a_visitor().post("/en/account/login/", {}).text) == ["login"]


def test_a_form_that_nobody_sent_leaves_the_focus_alone():
    assert focused(a_visitor().get("/en/account/login/").text) == []


@pytest.mark.sweep
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_missing_page_says_what_to_do_next(language):
    answer = a_visitor().get(f"/{language}/nowhere/")
    assert answer.status_code == 404
    assert f'<html lang="{language}">' in answer.text
    assert '<a class="button button--go" href="/">' in answer.text.split('class="trouble"')[1]
