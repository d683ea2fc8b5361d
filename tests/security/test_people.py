"""Attempts to log in as somebody else or to learn who has an account: sessions, log-ins, and how often
each may be tried.
"""

import re
from base64 import b64decode, b64encode
from datetime import UTC, datetime

import pytest
import time_machine
from django.contrib.auth import SESSION_KEY
from django.core import signing
from django.core.signing import BadSignature
from django.db import IntegrityError, ProgrammingError, transaction
from django.test import Client
from django.urls import reverse

from players.login import locks
from players.login.sessions import row_key, store_of
from players.models import BrowserSession, User
from tests.builders import a_player
from tests.harness.hashing import QuickArgon2
from tests.harness.owner import as_owner, disable
from tests.harness.sweeps import sample
from tests.people import PASSWORD, a_member_of_staff, a_visitor, give_code, log_in

LOG_IN = "/en/account/login/"
FORGOTTEN = "/en/account/password/forgotten/"
NOW = datetime.now(UTC).replace(second=1, microsecond=0)  # log-ins end by the clock of the database
NEXT_PASSWORD = "catching-the-tram-8"

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player(password=PASSWORD)


def with_session(key: str) -> Client:
    """Return a browser of somebody who knows the key of a session."""
    visitor = a_visitor()
    visitor.cookies["sessionid"] = key
    return visitor


def key_of(visitor: Client) -> str:
    """Return the key of a browser's session."""
    return str(visitor.session.session_key)


def is_in(visitor: Client) -> bool:
    return SESSION_KEY in visitor.session and visitor.get("/en/account/security/").status_code == 200


class TestASession:
    """A person who plants a key, or knows one from before, gains nothing."""

    def planted(self) -> tuple[Client, str]:
        """Return a browser with a session whose key somebody else knows."""
        visitor = a_visitor()
        session = visitor.session
        session["planted"] = True
        session.save()
        visitor.cookies["sessionid"] = str(session.session_key)
        return visitor, str(session.session_key)

    def test_begins_again_with_the_log_in(self, player):
        victim, key = self.planted()
        log_in(victim, player.user)
        assert is_in(victim)
        assert key_of(victim) != key
        assert not BrowserSession.objects.filter(pk=row_key(key)).exists()
        assert not is_in(with_session(key))

    def test_gli19_b_2_4_is_nobody_s_who_reads_its_row(self, player):
        victim = a_visitor()
        log_in(victim, player.user)
        (row,) = BrowserSession.objects.all()
        assert is_in(victim)
        assert key_of(victim) not in (row.session_key, row.session_data)
        assert key_of(victim) not in str(store_of(row).decode(row.session_data))
        assert not is_in(with_session(row.session_key))

    def test_tells_nobody_who_reads_its_row_the_code_that_was_mailed(self, player, mailoutbox):
        visitor = a_visitor()
        visitor.post(FORGOTTEN, {"email": player.user.email})
        (row,) = BrowserSession.objects.all()
        code = store_of(row).decode(row.session_data)["account_password_reset_verification"]["code"]
        held = b64decode(row.session_data)
        assert code.encode() not in held
        assert b"account_password_reset" not in held
        with pytest.raises(BadSignature):
            signing.loads(row.session_data, salt=store_of(row).key_salt)
        assert visitor.post(f"{FORGOTTEN}code/", {"code": code})["Location"] == f"{FORGOTTEN}new/"

    @pytest.mark.parametrize("data", ["", "AAAA", b64encode(bytes(40)).decode()])
    def test_that_somebody_has_spoilt_is_empty(self, player, data):
        visitor = a_visitor()
        log_in(visitor, player.user)
        BrowserSession.objects.update(session_data=data)
        assert not is_in(visitor)

    def test_is_not_copied_into_the_row_of_somebody_else(self, player):
        """The login role may write to the table of sessions: what a row holds is encrypted for that row."""
        thief, victim = a_visitor(), a_visitor()
        log_in(thief, a_player(password=PASSWORD).user)
        log_in(victim, player.user)
        theirs = BrowserSession.objects.get(pk=row_key(key_of(victim)))
        assert is_in(thief)
        BrowserSession.objects.filter(pk=row_key(key_of(thief))).update(session_data=theirs.session_data)
        assert not is_in(with_session(key_of(thief)))
        assert is_in(with_session(key_of(victim)))

    def test_gli19_b_2_4_that_ends_leaves_no_row(self, player):
        victim = a_visitor()
        log_in(victim, player.user)
        victim.post("/en/account/logout/")
        assert not BrowserSession.objects.exists()

    def test_begins_again_with_the_second_factor(self):
        user = a_member_of_staff("support", password=PASSWORD).user
        victim, planted = self.planted()
        log_in(victim, user)
        between = key_of(victim)
        assert not is_in(victim)  # the password alone is not enough
        give_code(victim, user)
        assert is_in(victim)
        assert key_of(victim) not in (planted, between)
        for key in (planted, between):
            assert not is_in(with_session(key))

    def test_begins_again_with_a_new_password_and_ends_every_other(self, player):
        here, elsewhere = a_visitor(), a_visitor()
        for visitor in (here, elsewhere):
            log_in(visitor, player.user)
        key = key_of(here)
        form = {"oldpassword": PASSWORD, "password1": NEXT_PASSWORD, "password2": NEXT_PASSWORD}
        here.post("/en/account/security/password/", form)
        assert is_in(here)
        assert key_of(here) != key
        assert not is_in(with_session(key))
        assert not is_in(elsewhere)

    def test_is_gone_after_the_log_out_for_a_holder_of_its_key(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        key = key_of(visitor)
        assert is_in(with_session(key))  # it is one that lets in
        visitor.post("/en/account/logout/")
        assert not BrowserSession.objects.filter(pk=row_key(key)).exists()
        assert not is_in(with_session(key))

    def test_is_taken_from_a_cookie_alone(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        key = key_of(visitor)
        for asked in (f"?sessionid={key}", f"?session={key}", f";jsessionid={key}"):
            assert a_visitor().get(f"/en/account/security/{asked}").status_code in (302, 404)

    def test_gli19_b_2_4_has_a_key_that_nobody_guesses(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        assert re.fullmatch(r"[a-z0-9]{32}", key_of(visitor))  # 165 bits

    @pytest.mark.parametrize("key", ["", "short", "a" * 32, "../../etc/passwd", "x" * 5000, "'; --"])
    def test_is_not_made_by_naming_one(self, key, player):
        visitor = with_session(key)
        assert not is_in(visitor)
        log_in(visitor, player.user)
        assert key_of(visitor) != key


@pytest.fixture
def hashed(monkeypatch) -> list[str]:
    """The password hashes that the house computes: the only part of a log-in that takes measurable time."""
    done: list[str] = []
    true = QuickArgon2.encode

    def encode(self, password: str, salt: str) -> str:
        done.append("encode")
        return true(self, password, salt)

    verify = QuickArgon2.verify

    def verified(self, password: str, encoded: str) -> bool:
        done.append("verify")
        return verify(self, password, encoded)

    monkeypatch.setattr(QuickArgon2, "encode", encode)
    monkeypatch.setattr(QuickArgon2, "verify", verified)
    return done


class TestWhoIsHere:
    """Nobody learns it: same words, same status, and the same work, which is the hash of one password."""

    def people(self) -> dict[str, str]:
        """E-mail addresses in every account state."""
        closed, locked = a_player(password=PASSWORD).user, a_player(password=PASSWORD)
        disable(closed)
        locks.lock(player=locked, reason="for a test", by=a_member_of_staff("compliance"))
        return {
            "has an account": a_player(password=PASSWORD).user.email,
            "works here": a_member_of_staff("support", password=PASSWORD).user.email,
            "has an account without a password": a_player().user.email,
            "has closed it": closed.email,
            "is locked out of it": locked.user.email,
            "was never here": "nobody@example.com",
        }

    def test_a_wrong_password_takes_the_same_work_and_says_the_same(self, hashed):
        shown = {}
        for who, email in self.people().items():
            hashed.clear()
            answer = a_visitor().post(LOG_IN, {"login": email, "password": "wrong"})
            shown[who] = (answer.status_code, plain(answer, email), len(hashed))
        assert len({(status, words, work) for status, words, work in shown.values()}) == 1, shown
        assert shown["was never here"][2] == 1

    def test_a_right_password_of_an_account_that_nobody_may_use_takes_it_too(self, hashed):
        people = self.people()
        for who in ("has closed it", "is locked out of it"):
            hashed.clear()
            visitor = a_visitor()
            visitor.post(LOG_IN, {"login": people[who], "password": PASSWORD})
            assert hashed, who
            assert SESSION_KEY not in visitor.session

    @pytest.mark.sweep
    def test_a_forgotten_password_says_the_same_to_all_and_hashes_for_none(self, hashed):
        people = self.people()  # whose passwords are hashed as they are made
        hashed.clear()
        shown = set()
        for email in people.values():
            answer = a_visitor().post(FORGOTTEN, {"email": email}, follow=True)
            shown.add((answer.status_code, tuple(answer.redirect_chain), plain(answer, email)))
        assert len(shown) == 1
        assert hashed == []

    def test_a_pass_key_asks_everybody_the_same(self):
        """It names no pass keys that it would take: those it names are somebody's."""
        asked = a_visitor().get(reverse("mfa_login_webauthn")).json()["request_options"]["publicKey"]
        assert asked["challenge"]
        assert asked.get("allowCredentials", []) == []


def plain(answer, email: str) -> str:
    """Return the text of a page without the parts that differ each time."""
    text = re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", answer.text)
    return text.replace(email, "").replace(email.replace("@", "&#64;"), "")


class TestHowOften:
    """Requests that guess or flood are counted; too many are refused in the reader's language, with the time to try
    again. For forms at a table, the bank's messages and API clients: `tests/players/test_rates.py`,
    `tests/players/test_token_rates.py`; of second factors: `tests/players/test_security.py`.
    """

    FORMS = {
        "a log-in": ("/{}/account/login/", {}, 30),
        "a registration": ("/{}/account/register/", {}, 20),
        "a forgotten password": ("/{}/account/password/forgotten/", {"email": "nobody@example.com"}, 3),
    }

    @pytest.mark.parametrize(("address", "form", "most"), sample(FORMS.values(), 1))
    @pytest.mark.parametrize(
        ("language", "words"), sample([("de", "Zu viele Versuche"), ("sv", "För många försök")], 1)
    )
    def test_a_form_for_visitors(self, address, form, most, language, words):
        visitor = a_visitor()
        with time_machine.travel(NOW, tick=False):
            answers = [visitor.post(address.format(language), form) for _ in range(most + 1)]
        assert {answer.status_code for answer in answers[:-1]} <= {200, 302}
        refused = answers[-1]
        assert refused.status_code == 429
        assert int(refused["Retry-After"]) > 0
        assert f'<html lang="{language}"' in refused.text
        assert words in refused.text

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("address", "form"),
        [
            ("/en/cashier/deposit/", {"amount": "1"}),
            ("/en/cashier/withdraw/", {"amount": "1"}),
        ],
    )
    def test_a_form_of_a_player(self, address, form, settings, player):
        settings.FORMS_PER_SECOND = 2
        visitor = a_visitor()
        visitor.force_login(player.user)
        with time_machine.travel(NOW, tick=False):
            answers = [visitor.post(address, form) for _ in range(5)]
        assert [answer.status_code for answer in answers].index(429) == 4
        assert answers[-1]["Retry-After"] == "1"  # the pace is one of two seconds, of which one is over

    @pytest.mark.sweep
    def test_a_letter_to_the_house(self, player):
        visitor = a_visitor()
        visitor.force_login(player.user)
        with time_machine.travel(NOW, tick=False):
            answers = [visitor.post("/en/service/new/", {"topic": "question"}) for _ in range(31)]
        assert [answer.status_code for answer in answers] == [200] * 30 + [429]
        assert answers[-1]["Retry-After"] == "59"

    def tries(self, most: int, **headers: str) -> list[int]:
        """Log-ins from one address that says it is another each time."""
        visitor = Client(REMOTE_ADDR="192.0.2.99")
        with time_machine.travel(NOW, tick=False):
            return [
                visitor.post(
                    LOG_IN, {}, headers={name: value.format(number) for name, value in headers.items()}
                ).status_code
                for number in range(most)
            ]

    SPOOFS = ("X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP", "CF-Connecting-IP", "X-Client-IP")

    @pytest.mark.sweep
    @pytest.mark.parametrize("header", sample(SPOOFS, 1))
    def test_nobody_is_somebody_else_by_a_header(self, header):
        value = "for=198.51.100.{}" if header == "Forwarded" else "198.51.100.{}"
        assert self.tries(31, **{header: value})[-1] == 429

    def test_behind_the_proxy_the_last_address_counts_which_the_proxy_wrote(self, settings):
        settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
        spoofed = {"X-Forwarded-For": "198.51.100.{}, 203.0.113.7"}
        assert self.tries(31, **spoofed)[-1] == 429
        visitor = Client(REMOTE_ADDR="192.0.2.99")
        with time_machine.travel(NOW, tick=False):
            other = visitor.post(LOG_IN, {}, headers={"X-Forwarded-For": "198.51.100.1, 203.0.113.8"})
        assert other.status_code == 200  # another visitor behind the same proxy


def test_nobody_is_made_somebody_who_may_do_anything(player):
    """Django's own superuser, who has every permission: the database has none."""
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
        User.objects.filter(pk=player.user.pk).update(is_superuser=True)
    with pytest.raises(IntegrityError, match="players_user_no_superuser"), transaction.atomic():
        as_owner("UPDATE players_user SET is_superuser = true WHERE id = %s", [player.user.pk])
