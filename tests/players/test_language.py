"""The choice of language: the same page, and remembered."""

import re

import pytest
from django.conf import settings
from django.utils.html import escape
from django.utils.translation import override

from players.login.forms import RegistrationForm
from tests.builders import a_player
from tests.harness.sweeps import sample
from tests.matrix import LINES, PAGE, Line, World
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


LANGUAGES = [code for code, _name in settings.LANGUAGES]
# The offline page has nothing that needs the house.
PAGES = [line for line in LINES if line.is_page and line.name != "offline"]


def readers(line: Line) -> list[str]:
    """Return the roles that can see the page."""
    return [role for role in ("anonymous", "player") if line.answers[role] is PAGE]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("line", "role"),
    sample(
        (
            pytest.param(line, role, id=f"{line.name} {number} {role}")
            for number, line in enumerate(PAGES)
            for role in readers(line)
        ),
        12,
    ),
)
def test_keeps_every_page_with_its_query(line: Line, role: str):
    world, visitor = World(), a_visitor()
    user = world.user(role)
    if user:
        visitor.force_login(user)
    page = f"{line.url(world)}?from=2026-01-02&to=%C3%A5+b"
    shown = visitor.get(page)
    assert f'name="next" value="{escape(page)}"' in shown.text, "the page's own address is sent along"

    answer = visitor.post("/en/language/", {"language": "ro", "next": page}, follow=True)

    assert answer.redirect_chain == [(page.replace("/en/", "/ro/", 1), 302)]
    assert answer.status_code == 200
    assert '<html lang="ro"' in answer.text
    assert answer["Content-Language"] == "ro"


@pytest.mark.parametrize(
    ("wanted", "language"),
    [
        ("da-DK,da;q=0.9,en;q=0.8", "da"),
        ("ro-MD, en;q=0.5", "ro"),
        ("de-CH", "de"),
        ("sv", "sv"),
        ("nb, fi;q=0.9", "en"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_of_the_first_visit_is_the_browser_s(wanted: str, language: str):
    visitor = a_visitor(headers={"accept-language": wanted})
    assert visitor.get("/")["Location"] == f"/{language}/"


def test_chosen_once_goes_before_the_browser_s():
    visitor = a_visitor(headers={"accept-language": "da"})
    visitor.post("/da/language/", {"language": "sv", "next": "/da/"})
    assert visitor.get("/")["Location"] == "/sv/"


def test_of_the_account_goes_before_the_cookie_s():
    player, visitor = a_player(), a_visitor()
    visitor.post("/en/language/", {"language": "sv", "next": "/en/"})
    player.user.language = "de"
    player.user.save()
    visitor.force_login(player.user)
    assert visitor.get("/")["Location"] == "/de/"


@pytest.mark.parametrize("name", sample(["lobby", "fair", "terms", "help", "rules"], 2))
@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_public_pages_name_themselves_in_every_language(name: str, language: str):
    world = World()
    line = next(line for line in PAGES if line.name == name)
    text = a_visitor().get(line.url(world, language)).text
    named = re.findall(r'<link rel="alternate" hreflang="(\w+)" href="([^"]+)">', text)
    assert named == [(code, f"http://testserver{line.url(world, code)}") for code in LANGUAGES]


def test_pages_of_a_player_are_no_search_engine_s():
    world, visitor = World(), a_visitor()
    visitor.force_login(world.player.user)
    assert "hreflang" not in visitor.get("/en/history/").text
    assert "hreflang" not in a_visitor().get("/en/account/login/").text


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("sv", ["SE:SEK"]),
        ("da", ["DK:DKK"]),
        ("ro", ["RO:RON"]),
        ("de", ["DE:EUR"]),
        ("en", ["GB:GBP", "GB:EUR"]),
    ],
)
def test_of_the_registration_puts_its_country_first_and_chooses_none(language: str, first: list[str]):
    with override(language):
        residence = RegistrationForm()["residence"]
        offered = [key for key, _label in residence.field.choices]
    assert offered[1 : 1 + len(first)] == first
    assert (offered[0], residence.value()) == ("", None)
