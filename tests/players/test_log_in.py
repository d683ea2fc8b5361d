"""Log-in and log-out: one message for every failure, a lock after too many, events for all."""

import html
import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth import SESSION_KEY
from django.test import Client

from audit.models import Event, Personal
from players.account import registration
from tests.builders import a_player, a_table
from tests.harness.owner import disable
from tests.harness.sweeps import sample
from tests.people import PASSWORD, a_member_of_staff, a_visitor, events, give_code, log_in
from wallet.money import format_money

WRONG = "The e-mail address or password is incorrect."
TOO_MANY = "Too many attempts. Wait a few minutes, then try again."
ENDED = "Your session has ended. Log in to continue."

pytestmark = pytest.mark.django_db


@pytest.fixture
def player():
    return a_player(password=PASSWORD)


def without_token(answer, email: str) -> str:
    """Return the page without parts that differ between any two requests: tokens, nonces, and the
    typed address.
    """
    return re.sub(r'(csrfmiddlewaretoken" value|nonce)="[^"]*"', "", answer.text).replace(email, "")


class TestLoggingIn:
    @pytest.mark.sweep
    def test_begins_a_session_with_an_id(self, player):
        visitor = a_visitor()
        answer = log_in(visitor, player.user)
        assert (answer.status_code, answer["Location"]) == (302, "/")
        (began,) = events("session.began", on=str(player))
        assert began["by"] == str(player)
        assert began["data"] == {"session": visitor.session["sid"]}
        assert list(began["personal"]) == ["ip"]

    @pytest.mark.sweep
    def test_gli19_2_5_3_shows_the_balance_and_the_ways_to_deposit_and_withdraw(self):
        player = a_player(real=123_450, password=PASSWORD)
        visitor = a_visitor()
        log_in(visitor, player.user)
        for address in ("/en/", "/en/history/", "/en/account/"):
            page = visitor.get(address).text
            assert format_money(123_450, "SEK", "en") in html.unescape(page)
            assert 'href="/en/cashier/"' in page
        cashier = visitor.get("/en/cashier/").text
        assert 'id="deposit"' in cashier
        assert 'href="/en/cashier/withdraw/"' in cashier

    @pytest.mark.sweep
    def test_leads_to_the_lobby_in_the_players_language(self, player):
        registration.choose_language(user=player.user, language="ro")
        visitor = a_visitor()
        log_in(visitor, player.user)
        assert visitor.get("/")["Location"] == "/ro/"

    @pytest.mark.sweep
    def test_leads_staff_to_the_back_office(self):
        visitor, user = a_visitor(), a_member_of_staff("support", password=PASSWORD).user
        assert log_in(visitor, user)["Location"] == "/en/account/login/code/"
        assert give_code(visitor, user)["Location"] == "/"
        assert visitor.get("/")["Location"] == "/staff/"

    @pytest.mark.sweep
    def test_takes_the_address_however_it_is_written(self, player):
        assert log_in(a_visitor(), player.user, login=f" {player.user.email.upper()} ").status_code == 302

    def test_gives_the_session_another_key(self, player):
        visitor = a_visitor()
        session = visitor.session
        session["before"] = 1
        session.save()
        before = session.session_key
        log_in(visitor, player.user)
        assert visitor.session.session_key != before

    @pytest.mark.sweep
    @pytest.mark.parametrize("address", ["/en/history/", "/sv/terms/?x=1"])
    def test_comes_back_to_the_page(self, player, address):
        assert log_in(a_visitor(), player.user, next=address)["Location"] == address

    @pytest.mark.parametrize(
        "address",
        sample(
            [
                "https://evil.example/",
                "//evil.example",
                "/\\evil.example",
                "javascript:alert(1)",
                "http://localhost/",
                "x y",
            ],
            2,
        ),
    )
    def test_never_leads_to_another_host(self, player, address):
        assert log_in(a_visitor(), player.user, next=address)["Location"] == "/"

    @pytest.mark.sweep
    def test_of_a_closed_account_says_so_to_its_owner_only(self, player):
        disable(player.user)
        answer = log_in(a_visitor(), player.user)
        assert answer.status_code == 403
        assert "closed" in answer.text
        assert WRONG in log_in(a_visitor(), player.user, "wrong").text
        assert not events("session.began", on=str(player))

    def test_ends_at_once_where_the_account_is_closed(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        disable(player.user)
        assert visitor.get("/en/history/").status_code == 302


class TestAFailure:
    def test_gli19_2_5_3_reads_the_same_for_a_wrong_name_and_a_wrong_password(self, player):
        wrong_password = log_in(a_visitor(), player.user, "wrong")
        wrong_name = log_in(a_visitor(), player.user, login="nobody@example.com")
        assert WRONG in wrong_password.text
        assert without_token(wrong_password, player.user.email) == without_token(wrong_name, "nobody@example.com")

    def test_is_on_record_with_address_and_name_behind_hashes(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user, "wrong")
        (failed,) = events("login.failed", on=str(player))
        assert failed["by"] == "anonymous"
        event = Event.objects.get(kind="login.failed", on=str(player))
        kept = dict(Personal.objects.filter(event=event).values_list("field", "value"))
        assert kept == {"tried": player.user.email, "ip": visitor.defaults["REMOTE_ADDR"]}
        assert player.user.email.encode() not in bytes(event.body)

    def test_with_a_name_nobody_has_is_on_record_too(self, player):
        before = len(events("login.failed", on="log-in"))
        log_in(a_visitor(), player.user, login="nobody@example.com")
        assert len(events("login.failed", on="log-in")) == before + 1

    def test_twenty_times_from_one_address_is_asked_to_wait(self):
        visitor = a_visitor()
        for number in range(20):
            answer = visitor.post("/en/account/login/", {"login": f"nobody{number}@example.com", "password": "wrong"})
            assert WRONG in answer.text, number
        answer = visitor.post("/en/account/login/", {"login": "nobody20@example.com", "password": "wrong"})
        assert TOO_MANY in answer.text

    @pytest.mark.sweep
    def test_thirty_requests_a_minute_from_one_address_get_the_429_page_of_the_house(self):
        visitor = a_visitor()
        with time_machine.travel(datetime.now(UTC), tick=False):  # keeps the minute
            for _ in range(30):
                assert visitor.post("/sv/account/login/", {}).status_code == 200
            answer = visitor.post("/sv/account/login/", {})
        assert answer.status_code == 429
        assert '<html lang="sv"' in answer.text


class TestTheLastLogIn:
    """GLI-19 v3.0, 2.5.3: the last log-in is shown at the next one."""

    def said(self, visitor) -> str:
        return visitor.get("/en/").text

    @pytest.mark.sweep
    def test_is_not_reported_to_a_person_who_was_never_here(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        assert "Last log-in" not in self.said(visitor)

    @pytest.mark.sweep
    def test_is_reported_with_the_failures_since(self, player):
        log_in(a_visitor(), player.user)
        player.user.refresh_from_db()
        zone = player.jurisdiction.time_zone
        last = player.user.last_login.astimezone(ZoneInfo(zone))
        log_in(a_visitor(), player.user, "wrong")
        log_in(a_visitor(), player.user, "wrong")
        visitor = a_visitor()
        log_in(visitor, player.user)
        page = self.said(visitor)
        assert f"Last log-in: {last.day} {last:%B %Y}, {last:%H:%M:%S} ({zone}). 2 failed attempts since then." in page
        assert "Last log-in" not in self.said(visitor)

    @pytest.mark.sweep
    def test_is_reported_to_staff(self):
        user = a_member_of_staff("operator", password=PASSWORD).user
        user.last_login = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        user.save()
        visitor = a_visitor()
        log_in(visitor, user)
        give_code(visitor, user)
        assert "Last log-in: 2 January 2026, 03:04:05 (UTC)." in visitor.get("/staff/").text


class TestLoggingOut:
    def test_ends_the_session_on_record(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        session = visitor.session["sid"]
        answer = visitor.post("/da/account/logout/")
        assert (answer.status_code, answer["Location"]) == (302, "/da/")
        assert SESSION_KEY not in visitor.session
        (ended,) = events("session.ended", on=str(player))
        assert ended["data"] == {"session": session, "why": "logged out"}

    def test_takes_a_click_not_a_link(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        assert visitor.get("/en/account/logout/").status_code == 405
        assert SESSION_KEY in visitor.session


class TestAnEndedSession:
    """A page that is still open after its session ended."""

    def led_to(self, answer) -> str:
        return a_visitor().get(answer).text

    def test_of_a_fragment_is_said_on_the_log_in_page_which_leads_back_to_the_page(self):
        answer = a_visitor().get(
            "/en/history/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/en/cashier/?a=1"}
        )
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer["HX-Redirect"] == "/en/account/login/?next=%2Fen%2Fcashier%2F%3Fa%3D1&ended=1"
        page = self.led_to(answer["HX-Redirect"])
        assert ENDED in page
        assert '<input type="hidden" name="next" value="/en/cashier/?a=1">' in page

    @pytest.mark.sweep
    @pytest.mark.parametrize(
        ("referer", "back"),
        [
            ("http://testserver/sv/cashier/?a=1", "%2Fsv%2Fcashier%2F%3Fa%3D1"),
            ("https://evil.example/en/", "%2F"),
            ("", "%2F"),
        ],
    )
    def test_of_a_form_leads_back_to_the_page_that_held_it(self, referer, back):
        answer = a_visitor().post("/sv/cashier/top-up/", headers={"Referer": referer})
        assert (answer.status_code, answer["Location"]) == (302, f"/sv/account/login/?next={back}&ended=1")

    def test_is_not_claimed_of_someone_who_never_had_one(self):
        answer = a_visitor().get("/en/history/?before=7")
        assert answer["Location"] == "/en/account/login/?next=%2Fen%2Fhistory%2F%3Fbefore%3D7"
        assert ENDED not in self.led_to(answer["Location"])

    @pytest.mark.sweep
    def test_is_not_claimed_of_a_player_who_never_logged_in(self):
        a_table()
        visitor = a_visitor()
        visitor.post("/en/demo/baccarat/start/", {"adult": "on", "to": "play"})
        answer = visitor.get("/en/history/")
        assert answer["Location"] == "/en/account/login/?next=%2Fen%2Fhistory%2F"

    def test_is_recognised_by_its_cookie(self, player):
        visitor = a_visitor()
        log_in(visitor, player.user)
        visitor.session.flush()
        assert visitor.get("/en/history/")["Location"].endswith("&ended=1")


class TestAForgedForm:
    def test_is_refused_with_a_page_of_the_house(self, player):
        answer = Client(enforce_csrf_checks=True).post("/en/account/login/", {})
        assert answer.status_code == 403
        assert "This page has expired" in answer.text
        assert "cookies" in answer.text
        assert 'href="/en/account/login/"' in answer.text

    @pytest.mark.parametrize("htmx", sample([True, False], 1))
    def test_of_a_player_whose_cookies_are_gone_leads_to_the_log_in_and_says_why(self, htmx):
        visitor = Client(enforce_csrf_checks=True)
        headers = {"HX-Request": "true"} if htmx else {}
        answer = visitor.post("/en/table/baccarat/real/play/", {"action": "deal"}, headers=headers)
        log_in_page = visitor.get(answer["HX-Redirect" if htmx else "Location"])
        assert "Your session has ended. Log in to continue." in log_in_page.text

    def test_from_a_fragment_reloads_its_page(self):
        answer = Client(enforce_csrf_checks=True).post("/en/account/logout/", headers={"HX-Request": "true"})
        assert (answer.status_code, answer["HX-Refresh"]) == (403, "true")
