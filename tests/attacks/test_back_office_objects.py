"""A role cannot learn indirectly what it may not see: not from a badge, a list, a file, or another role's number."""

import re
from uuid import uuid4

import pytest
from django.urls import reverse

from players.models import Session
from players.protection import exclusions
from tests.builders import a_player, a_submission
from tests.people import a_member_of_staff, a_visitor

pytestmark = pytest.mark.django_db


def desk(role: str):
    visitor = a_visitor()
    visitor.force_login(a_member_of_staff(role).user)
    return visitor


def test_finance_learns_nowhere_that_somebody_is_excluded():
    player = a_player(real=1000)
    a_submission(player, family_name="Ekelund")
    exclusions.exclude(player=player, days=None, reason="asked by phone", by=a_member_of_staff("support"))
    finance, support = desk("finance"), desk("support")
    others = a_player()  # two are found, so that the search shows them
    pages = [f"/staff/players/{player.pk}/{more}" for more in ("", "money/", "payments/", "notes/")]
    for page in pages:
        assert "excluded" in support.get(page).text
        assert "xclu" not in _body(finance.get(page).text), page
    a_submission(others, family_name="Ekelund")
    search = "/staff/players/?who=Ekelund"
    assert "excluded" in support.get(search).text
    assert "xclu" not in _body(finance.get(search).text)


def test_finance_finds_no_sessions_and_no_answers_of_registers_among_the_lists():
    player, finance = a_player(), desk("finance")
    Session.objects.create(id=uuid4(), user=player.user, ip="192.0.2.7", browser="Firefox")
    for name in ("players_session", "players_registercheck", "players_exclusion"):
        for page in ("", "_file"):
            assert finance.get(reverse(f"staff_list_{name}{page}")).status_code == 403, (name, page)


def _body(text: str) -> str:
    """Return a page without its navigation."""
    return re.sub(r"<nav.*?</nav>", "", text, flags=re.DOTALL)
