"""Sessions end after inactivity or from another browser; automatic requests are not activity."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.conf import settings
from django.db.models import F
from django.test import Client
from django.urls import URLResolver, get_resolver, reverse

from games import tasks
from games.tasks import return_idle_purses
from players.access import is_made_by_the_page
from players.login import sessions
from players.login.sessions import browser_label
from players.models import Ended, Session, User
from players.tasks import end_idle_sessions
from tests.builders import PASSWORD, a_golden_table, a_player, a_purse, a_seat, a_table
from tests.harness.owner import update_as_owner
from tests.people import a_member_of_staff, a_visitor, events, log_in
from wallet.ledger import purse
from wallet.models import Mode

pytestmark = pytest.mark.django_db

PLAYER, STAFF = timedelta(minutes=9), timedelta(minutes=30)
SECOND = timedelta(seconds=1)
TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
ASKED = re.compile(r"""hx-get=['"]{% url '(\w+)'""")
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


def views(resolver: URLResolver) -> Iterator[tuple[str | None, Callable[..., object]]]:
    """Yield every view with the name of its URL."""
    for pattern in resolver.url_patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern)
        else:
            yield pattern.name, pattern.callback


def a_browser(user: User, page: str = "/en/fair/") -> Client:
    """A logged-in browser that has opened a page."""
    visitor = a_visitor(headers={"user-agent": FIREFOX})
    visitor.force_login(user)
    visitor.get(page)
    return visitor


def session_of(visitor: Client) -> Session:

    return Session.objects.get(pk=visitor.session["sid"])


def pass_time(time: timedelta) -> None:
    """Let this time pass for all sessions."""
    update_as_owner(Session.objects.all(), acted_at=F("acted_at") - time, began_at=F("began_at") - time)


def status(visitor: Client, session: Session) -> dict[str, Any]:
    """Return the answer to the page's automatic request."""
    return dict(visitor.get(f"/en/session/{session.pk}/").json())


class TestWithoutAnAction:
    def test_a_player_has_nine_minutes_and_staff_thirty(self):
        assert timedelta(seconds=settings.PLAYER_IDLE_SECONDS) == PLAYER
        assert timedelta(seconds=settings.STAFF_IDLE_SECONDS) == STAFF

    @pytest.mark.parametrize("is_staff", [False, True], ids=["player", "staff"])
    def test_gli19_2_5_4_a_session_ends(self, is_staff):
        limit, page = (STAFF, "/staff/") if is_staff else (PLAYER, "/en/cashier/")
        visitor = a_browser((a_member_of_staff("operator") if is_staff else a_player()).user)
        pass_time(limit - 20 * SECOND)
        assert visitor.get(page).status_code == 200
        pass_time(limit + SECOND)
        answer = visitor.get(page)
        assert answer.status_code == 302
        assert "account/login" in answer["Location"]
        assert "ended=1" in answer["Location"]

    @pytest.mark.sweep
    def test_the_lobby_then_shows_itself_to_a_visitor(self):
        visitor = a_browser(a_player().user)
        pass_time(PLAYER + SECOND)
        page = visitor.get("/en/")
        assert page.status_code == 200
        assert "/en/account/login/" in page.text
        assert "session-over" not in page.text

    @pytest.mark.sweep
    def test_the_end_is_on_record_once(self):
        player = a_player()
        visitor = a_browser(player.user)
        session = session_of(visitor)
        pass_time(PLAYER + SECOND)
        visitor.get("/en/")
        end_idle_sessions()
        (event,) = events("session.ended")
        assert event["on"] == str(player)
        assert event["by"] == "system"
        assert event["data"] == {"session": str(session.pk), "why": "timed out"}
        session.refresh_from_db()
        assert session.ended_at
        assert session.why == Ended.IDLE

    def test_beat_ends_what_no_browser_asks_about(self):
        of_player, of_staff = a_browser(a_player().user), a_browser(a_member_of_staff("operator").user)
        pass_time(PLAYER + SECOND)
        end_idle_sessions()
        assert session_of(of_player).why == Ended.IDLE
        assert session_of(of_staff).ended_at is None

    @pytest.mark.sweep
    def test_every_action_restarts_the_time(self):
        visitor = a_browser(a_player().user)
        for _ in range(3):
            pass_time(PLAYER - 30 * SECOND)
            assert visitor.get("/en/history/").status_code == 200
        assert session_of(visitor).ended_at is None

    @pytest.mark.sweep
    def test_an_action_right_after_another_writes_nothing(self):
        visitor = a_browser(a_player().user)
        before = session_of(visitor).acted_at
        visitor.get("/en/fair/")
        assert session_of(visitor).acted_at == before

    def test_a_form_sent_too_late_does_nothing(self):
        player, table = a_player(real=100_000), a_table()
        visitor = a_browser(player.user)
        place = a_seat(player, table, player=1000)
        pass_time(PLAYER + SECOND)
        visitor.post(f"/en/table/{table.slug}/real/play/", {"action": "deal", "round_id": place.round_id})
        assert player.participation_set.count() == 0

    def test_a_player_has_no_limit(self):
        table, visitor = a_table(), a_visitor()
        visitor.post(f"/en/demo/{table.slug}/start/", {"adult": "on"})
        assert not Session.objects.exists()

    def test_a_purse_goes_back_with_the_session(self):
        player = a_player(real=100_000)
        a_golden_table()
        a_purse(player, 50_000)
        visitor = a_browser(player.user)
        visitor.get("/en/table/golden/real/")
        pass_time(PLAYER + SECOND)
        player.soloseat_set.update(used_at=F("used_at") - PLAYER - SECOND)
        end_idle_sessions()
        return_idle_purses()
        assert session_of(visitor).why == Ended.IDLE
        assert purse.balance(player, Mode.REAL) == 0
        assert tasks.IDLE == PLAYER


class TestWhatAPageAsksByItself:
    def test_does_not_count(self):
        visitor = a_browser(a_player().user)
        session = session_of(visitor)
        pass_time(PLAYER - 60 * SECOND)
        for _ in range(3):
            shown = status(visitor, session)
        assert 50 < shown["left"] <= 60
        pass_time(61 * SECOND)
        assert status(visitor, session) == {"left": 0, "why": "timed out"}

    @pytest.mark.sweep
    @pytest.mark.parametrize("path", ["/service-worker.js", "/en/offline/", "/healthz"])
    def test_nor_does_what_the_browser_keeps_for_later(self, path):
        visitor = a_browser(a_player().user)
        pass_time(PLAYER - 60 * SECOND)
        visitor.get(path)
        pass_time(61 * SECOND)
        assert status(visitor, session_of(visitor))["left"] == 0

    @pytest.mark.sweep
    def test_counts_nothing_whatever_headers_it_carries(self):
        visitor = a_browser(a_player().user)
        pass_time(PLAYER - 60 * SECOND)
        visitor.get(f"/en/session/{session_of(visitor).pk}/", headers={"HX-Request": "true"})
        pass_time(61 * SECOND)
        assert status(visitor, session_of(visitor))["left"] == 0

    @pytest.mark.sweep
    def test_tells_what_other_windows_did(self):
        visitor = a_browser(a_player().user)
        session = session_of(visitor)
        pass_time(PLAYER - 60 * SECOND)
        visitor.get("/en/history/")
        assert status(visitor, session)["left"] > 530

    @pytest.mark.sweep
    def test_staying_counts(self):
        visitor = a_browser(a_player().user)
        session = session_of(visitor)
        pass_time(PLAYER - 60 * SECOND)
        assert visitor.post(f"/en/session/{session.pk}/stay/").json()["left"] > 530

    def test_nobody_can_keep_a_session_alive_that_is_not_theirs(self):
        session = session_of(a_browser(a_player().user))
        pass_time(PLAYER - 60 * SECOND)
        assert a_browser(a_player().user).post(f"/en/session/{session.pk}/stay/").json()["left"] <= 60

    def test_says_of_an_unknown_session_that_it_is_over(self):
        assert a_visitor().get(f"/en/session/{uuid4()}/").json() == {"left": 0, "why": ""}

    def test_is_marked_wherever_a_template_asks_without_a_click(self):
        """A view that a page polls or listens to must be marked."""
        by_itself = re.compile(r'hx-trigger="[^"]*\b(?:every|load|revealed|intersect|sse:)')
        found = [path.read_text() for path in TEMPLATES.rglob("*.html")]
        view = dict(views(get_resolver()))
        names = {name for page in found if by_itself.search(page) for name in ASKED.findall(page)}
        reloads = re.findall(r"""http-equiv="refresh" content="(?:[^"]*?url '(\w+)')?""", "".join(found))
        assert reloads
        names.update(reloads)
        assert {name for name in names if not is_made_by_the_page(view[name])} == set()


class TestOnesOwnSessions:
    def test_gli19_2_8_5_are_listed_with_browser_address_and_times(self):
        player = a_player()
        here, elsewhere = a_browser(player.user), a_browser(player.user)
        page = here.get("/en/account/sessions/").text
        assert page.count("Firefox, Windows") == 2
        assert page.count("This session") == 1
        for visitor in (here, elsewhere):
            session = session_of(visitor)
            assert session.ip == visitor.defaults["REMOTE_ADDR"]
            assert session.ip in page
            assert session.user == player.user
            assert session.began_at <= session.acted_at
            for moment in (session.began_at, session.acted_at):
                assert f'datetime="{moment.astimezone(ZoneInfo("Europe/Stockholm")).isoformat()}"' in page

    @pytest.mark.sweep
    def test_do_not_show_those_of_others_or_those_that_are_over(self):
        player = a_player()
        here, gone = a_browser(player.user), a_browser(player.user)
        a_browser(a_player().user)
        gone.post("/en/account/logout/")
        assert here.get("/en/account/sessions/").text.count("Firefox, Windows") == 1

    def test_end_at_once_one_by_one(self):
        player = a_player()
        here, elsewhere = a_browser(player.user), a_browser(player.user)
        answer = here.post(f"/en/account/sessions/{session_of(elsewhere).pk}/end/", follow=True)
        assert "That session has ended." in answer.text
        gone = elsewhere.get("/en/cashier/")
        assert "ended=1" in gone["Location"]
        assert "Your session has ended" in elsewhere.get(gone["Location"]).text
        assert here.get("/en/cashier/").status_code == 200
        (event,) = events("session.ended")
        assert event["by"] == event["on"] == str(player)
        assert event["data"]["why"] == "ended from another session"

    @pytest.mark.sweep
    def test_end_all_but_this_one(self):
        player = a_player()
        here, *others = (a_browser(player.user) for _ in range(3))
        here.post("/en/account/sessions/end/")
        assert here.get("/en/cashier/").status_code == 200
        assert [other.get("/en/cashier/").status_code for other in others] == [302, 302]

    def test_cannot_be_ended_by_others(self):
        theirs = a_browser(a_player().user)
        a_browser(a_player().user).post(f"/en/account/sessions/{session_of(theirs).pk}/end/")
        assert theirs.get("/en/cashier/").status_code == 200

    @pytest.mark.sweep
    def test_end_with_the_password_they_began_with(self):
        player = a_player()
        visitor = a_browser(player.user)
        player.user.set_password("another one entirely")
        player.user.save()
        session = session_of(visitor)
        assert visitor.get("/en/cashier/").status_code == 302
        session.refresh_from_db()
        assert session.why == Ended.PASSWORD

    def test_end_at_once_when_the_password_is_changed_but_not_this_one(self):
        player = a_player(password=PASSWORD)
        here, elsewhere = a_visitor(), a_browser(player.user)
        log_in(here, player.user, PASSWORD)
        other, new = session_of(elsewhere), "another one entirely"
        form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
        assert here.post(reverse("account_change_password"), form).status_code == 302
        other.refresh_from_db()
        assert other.why == Ended.PASSWORD
        assert here.get("/en/cashier/").status_code == 200
        assert elsewhere.get("/en/cashier/").status_code == 302

    @pytest.mark.sweep
    def test_end_all_at_once(self):
        player = a_player()
        visitor = a_browser(player.user)
        assert sessions.end_all(user=player.user, why=Ended.CLOSED, by="system") == 1
        assert visitor.get("/en/cashier/").status_code == 302


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("browser", "known_as"),
    [
        (FIREFOX, "Firefox, Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36", "Chrome, Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1", "Safari, iPhone"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge, Linux"),
        ("curl/8.5.0", "Unknown browser"),
        ("", "Unknown browser"),
    ],
    ids=["firefox", "chrome", "safari", "edge", "curl", "nothing"],
)
def test_a_browser_is_called_what_its_owner_calls_it(browser, known_as):
    assert browser_label(browser) == known_as


def test_an_old_cookie_that_comes_late_does_not_take_a_log_in_away():
    """The service worker was asked for with the session of before the log-in, and its answer removed the new one."""
    visitor = a_browser(a_player().user)
    name = settings.SESSION_COOKIE_NAME
    late = a_visitor()
    late.cookies[name] = "of-a-session-that-is-gone"
    assert name not in late.get("/service-worker.js").cookies
    assert visitor.post("/en/account/logout/").cookies[name].value == ""
