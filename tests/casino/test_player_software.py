"""Player software: pages name the software and its version, and link to the texts that players must be able to read."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from ops import program
from tests.builders import a_player
from tests.people import PASSWORD, a_visitor, log_in

pytestmark = pytest.mark.django_db


def a_page(name: str = "lobby", *, is_player: bool = False) -> str:
    visitor = a_visitor()
    if is_player:
        log_in(visitor, a_player(password=PASSWORD).user)
    return visitor.get(reverse(name)).content.decode()


def test_gli19_2_6_2_every_page_says_which_program_it_is_of(settings, tmp_path: Path):
    """Every page is made of one template: `tests/pages` looks at each."""
    assert '<meta name="generator" content="Sabot, no release">' in a_page()
    (tmp_path / program.FILE).write_text("Sabot 9.9\n0000  wallet/pay.py\n\n— signed\n")
    settings.BASE_DIR = tmp_path
    assert '<meta name="generator" content="Sabot 9.9">' in a_page("account_login")


def test_gli19_2_6_8_without_cookies_nobody_logs_in_and_the_page_says_why():
    visitor = Client(enforce_csrf_checks=True)
    visitor.get(reverse("account_login"))
    visitor.cookies.clear()
    answer = visitor.post(reverse("account_login"), {"login": "a@example.com", "password": PASSWORD})
    assert answer.status_code == 403
    assert "blocked this page’s cookies" in answer.content.decode()


@pytest.mark.parametrize("is_player", [False, True])
def test_gli19_2_6_9_every_page_leads_to_help_player_protection_and_terms(is_player: bool):
    names = ["help", "terms", *(["protection"] if is_player else [])]
    page = a_page(is_player=is_player)
    assert [name for name in names if f'href="{reverse(name)}"' not in page] == []
