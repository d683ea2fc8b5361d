"""New terms must be accepted before play, and before nothing else (GLI-19 v3.0, 2.8.5)."""

import pytest
from django.conf import settings

from games.errors import NotEligible
from players.account import terms
from players.models import Agreement, Player
from tests.builders import a_player, a_round, a_table
from tests.harness.sweeps import sample
from tests.people import a_visitor, events
from tests.players.test_sessions import a_browser

pytestmark = pytest.mark.django_db

LANGUAGES = [code for code, _ in settings.LANGUAGES]
TABLE = "/en/table/baccarat/real/"
AGREE = "/en/terms/agree/"


@pytest.fixture
def player() -> Player:
    """A player who has accepted the previous terms."""
    return a_player(real=100_000)


@pytest.fixture
def new_terms(player, monkeypatch) -> str:
    """Return the version of terms that came into force afterwards."""
    version = "the next"
    monkeypatch.setattr(terms, "VERSION", version)
    return version


@pytest.mark.sweep
def test_terms_agreed_to_are_not_asked_for_again(player):
    a_table()
    visitor = a_browser(player.user)
    assert not terms.outstanding(player)
    assert visitor.get(TABLE).status_code == 200
    assert visitor.get(f"{AGREE}?next=/en/fair/")["Location"] == "/en/fair/"


def test_gli19_2_8_5_new_terms_come_before_play_and_lead_back_to_the_table(player, new_terms):
    a_table()
    visitor = a_browser(player.user)
    page = visitor.get(TABLE, follow=True)
    assert page.redirect_chain == [(f"{AGREE}?next=%2Fen%2Ftable%2Fbaccarat%2Freal%2F", 302)]
    assert f"Version {new_terms}," in page.text
    assert terms.text("en") in page.text
    assert terms.changes("en") in page.text
    answer = visitor.post(AGREE, {"version": new_terms, "next": TABLE})
    assert answer["Location"] == TABLE
    assert visitor.get(TABLE).status_code == 200


def test_no_round_is_dealt_before(player, new_terms):
    table = a_table()
    with pytest.raises(NotEligible):
        a_round(player, table, player=1000)
    assert not player.participation_set.exists()


@pytest.mark.sweep
def test_everything_else_stays_open(player, new_terms):
    visitor = a_browser(player.user)
    for path in ("/en/", "/en/cashier/", "/en/history/", "/en/account/", "/en/account/sessions/", "/en/terms/"):
        assert visitor.get(path).status_code == 200, path


def test_gli19_2_8_5_agreeing_is_kept_and_on_record_once(player, new_terms):
    visitor = a_browser(player.user)
    for _ in range(2):
        visitor.post(AGREE, {"version": new_terms})
    assert Agreement.objects.filter(player=player, terms_version=new_terms).count() == 1
    (event,) = events("terms.agreed")
    assert event["by"] == event["on"] == str(player)
    assert event["data"] == {"terms": new_terms}


@pytest.mark.parametrize("version", sample(["1", "", "3"], 1))
def test_only_what_was_shown_is_agreed_to(player, new_terms, version):
    answer = a_browser(player.user).post(AGREE, {"version": version})
    assert answer.status_code == 200
    assert terms.outstanding(player)


@pytest.mark.parametrize(
    "onward", sample(["https://evil.example/", "//evil.example", "javascript:alert(1)", "home", "a word"], 1)
)
def test_leads_to_no_other_house(player, new_terms, onward):
    answer = a_browser(player.user).post(AGREE, {"version": new_terms, "next": onward})
    assert answer["Location"] == "/en/"


@pytest.mark.parametrize("language", sample(LANGUAGES, 1))
def test_what_changed_is_said_in_every_language(language):
    assert terms.changes(language)
    assert len({terms.changes(code) for code in LANGUAGES}) == len(LANGUAGES)


def test_is_for_players_only():
    assert "account/login" in a_visitor().get(AGREE)["Location"]
