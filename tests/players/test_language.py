"""The choice of language: the same page, remembered."""

import pytest

from tests.builders import a_player
from tests.people import a_visitor

pytestmark = pytest.mark.django_db


def test_keeps_the_page():
    answer = a_visitor().post("/en/language/", {"language": "sv", "next": "/en/terms/?a=1"})
    assert (answer.status_code, answer["Location"]) == (302, "/sv/terms/?a=1")
    assert answer.cookies["django_language"].value == "sv"


def test_is_remembered_with_the_account():
    player, visitor = a_player(), a_visitor()
    visitor.force_login(player.user)
    visitor.post("/en/language/", {"language": "de", "next": "/en/"})
    assert visitor.get("/")["Location"] == "/de/"


@pytest.mark.parametrize("chosen", ["xx", "", "fr"])
def test_that_the_house_does_not_speak_changes_nothing(chosen):
    player, visitor = a_player(), a_visitor()
    visitor.force_login(player.user)
    assert visitor.post("/en/language/", {"language": chosen, "next": "/en/terms/"}).status_code == 404
    player.user.refresh_from_db()
    assert player.user.language == "en"


def test_never_leads_to_another_host():
    answer = a_visitor().post("/en/language/", {"language": "sv", "next": "https://evil.example/"})
    assert answer["Location"] == "/"
