"""An attacker with an open session and without the password: which actions ask for it, and how often
it may be tried.
"""

from typing import Any

import pytest
from django.test import Client

from players.login import locks
from players.models import Player
from tests.builders import a_player
from tests.people import PASSWORD, a_visitor, events, log_in

AGAIN = "/en/account/security/reauthenticate/"
CLOSE = "/en/account/close/"
DATA = "/en/account/data/"
FILE = f"{DATA}sabot.zip"
CHANGE = "/en/account/security/password/"
NEXT_PASSWORD = "catching-the-tram-8"

pytestmark = pytest.mark.django_db


@pytest.fixture
def player() -> Player:
    return a_player(password=PASSWORD)


@pytest.fixture
def thief(player: Player) -> Client:
    """Somebody with the cookie of a player's session."""
    here = a_visitor()
    log_in(here, player.user)
    return here


def guess_at_closing(thief: Client, password: str) -> Any:
    key = thief.get(CLOSE).context["form"]["key"].value()
    return thief.post(CLOSE, {"key": key, "password": password})  # not sure, so that nothing closes


def guess_at_a_new_password(thief: Client, password: str) -> Any:
    return thief.post(CHANGE, {"oldpassword": password, "password1": NEXT_PASSWORD, "password2": "another-one-9"})


class TestAllThatIsHeldAboutAPlayer:
    """Their passport and bank accounts among it."""

    def test_is_asked_for_with_the_password(self, thief, player):
        assert thief.get(DATA)["Location"] == f"{AGAIN}?next=%2Fen%2Faccount%2Fdata%2F"
        assert thief.post(FILE)["Location"] == DATA
        assert not events("personal.exported")

    def test_is_not_to_be_had_with_another_password(self, thief, player):
        assert thief.post(f"{AGAIN}?next={DATA}", {"password": "wrong", "next": DATA}).status_code == 200
        assert thief.post(FILE)["Location"] == DATA
        assert not events("personal.exported")

    def test_comes_with_the_password_and_without_a_script(self, thief, player):
        assert thief.post(f"{AGAIN}?next={DATA}", {"password": PASSWORD, "next": DATA})["Location"] == DATA
        assert FILE in thief.get(DATA).text
        assert thief.post(FILE)["Content-Type"] == "application/zip"
        assert events("personal.exported", on=str(player))

    def test_is_asked_for_again_a_while_later(self, thief, settings):
        thief.post(AGAIN, {"password": PASSWORD})
        said = thief.session["account_authentication_methods"]
        with_time = thief.session
        with_time["account_authentication_methods"] = [each | {"at": each["at"] - 301} for each in said]
        with_time.save()
        assert thief.post(FILE)["Location"] == DATA


@pytest.mark.parametrize("guess", [guess_at_closing, guess_at_a_new_password])
class TestThePassword:
    """Every form that tells whether a password is right counts as the log-in does."""

    def test_may_be_tried_three_times(self, guess, thief, player):
        for _ in range(3):
            assert locks.locked_since(player.user.email) is None
            guess(thief, "wrong")
        assert locks.locked_since(player.user.email)
        assert "log-in is locked" in guess(thief, PASSWORD).text

    def test_that_is_wrong_is_on_record(self, guess, thief, player):
        guess(thief, "wrong")
        assert len(events("login.failed", on=str(player))) == 1

    @pytest.mark.sweep
    def test_a_correct_one_restarts_the_count(self, guess, thief, player):
        for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong"):
            guess(thief, password)
        assert locks.locked_since(player.user.email) is None
