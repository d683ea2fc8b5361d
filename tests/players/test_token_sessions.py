"""The session of a token: started by its first change, kept by activity, ended like any other.

So the protection of players covers API clients too.
"""

from datetime import timedelta
from uuid import UUID

import pytest

from players.api import tokens
from players.api.views import running, session_for
from players.models import ApiToken, Ended, LimitKind, Period, Player, RegisterCheck, Scope, Session
from players.protection import eligibility, exclusions, play_sessions
from players.protection.eligibility import Code
from players.protection.limits import set_limit
from players.tasks import end_idle_sessions
from tests.builders import a_player
from tests.harness.owner import as_owner
from tests.people import events
from tests.players.test_sessions import a_browser, pass_time
from tests.players.test_tokens import a_token
from tests.servers.register import PATH

pytestmark = pytest.mark.django_db

IDLE = timedelta(minutes=9)
SECOND = timedelta(seconds=1)
HERE = "192.0.2.7"


def as_found(token: ApiToken) -> ApiToken:
    """Return the token as the next call loads it."""
    return ApiToken.objects.select_related("user__player__jurisdiction").get(pk=token.pk)


def acts(token: ApiToken) -> UUID:
    """Let an API client change something."""
    return session_for(as_found(token), HERE)


@pytest.fixture
def player() -> Player:
    return a_player(real=100_000)


@pytest.fixture
def token(player) -> ApiToken:
    return a_token(player.user, Scope.PLAY)[0]


class TestASession:
    def test_begins_with_the_first_thing_that_is_changed(self, player, token):
        assert running(as_found(token)) is None
        began = acts(token)
        session = Session.objects.get()
        assert (session.pk, session.user, session.ip) == (began, player.user, HERE)
        assert session.browser == "API client: Chart"
        assert running(as_found(token)) == began
        (event,) = events("session.began")
        assert (event["by"], event["data"]) == (str(player), {"session": str(began)})

    @pytest.mark.sweep
    def test_is_one_for_all_api_clients_of_a_player(self, player, token):
        other = a_token(player.user, Scope.PLAY)[0]
        began = acts(token)
        assert acts(other) == began
        assert tokens.revoke(token_id=token.pk, by=str(player))
        assert running(as_found(other)) == began
        assert tokens.revoke(token_id=other.pk, by=str(player))
        assert Session.objects.get(pk=began).why == Ended.REVOKED

    def test_is_nobody_else_s(self, player, token):
        assert acts(a_token(a_player().user, Scope.PLAY)[0]) != acts(token)

    def test_goes_on_while_the_api_client_acts(self, token):
        began = acts(token)
        for _ in range(3):
            pass_time(IDLE - 20 * SECOND)
            assert acts(token) == began

    def test_ends_after_nine_minutes_without_and_the_next_thing_begins_another(self, player, token):
        began = acts(token)
        pass_time(IDLE + SECOND)
        assert running(as_found(token)) is None
        assert acts(token) != began
        (event,) = events("session.ended")
        assert event["data"] == {"session": str(began), "why": Ended.IDLE}
        assert len(events("session.began")) == 2

    def test_is_ended_by_beat_where_nothing_comes_any_more(self, token):
        began = acts(token)
        pass_time(IDLE + SECOND)
        end_idle_sessions()
        assert Session.objects.get(pk=began).why == Ended.IDLE

    def test_has_the_registers_asked_as_a_log_in_does(self, token, settings):
        settings.PLAYER_REGISTERS = {"SE": PATH}
        acts(token)
        assert RegisterCheck.objects.exists()

    def test_ends_with_its_token(self, player, token):
        began = acts(token)
        tokens.revoke(token_id=token.pk, by=str(player))
        assert Session.objects.get(pk=began).why == Ended.REVOKED

    def test_is_seen_by_its_owner_who_can_end_it(self, player, token):
        began = acts(token)
        visitor = a_browser(player.user)
        assert "API client: Chart" in visitor.get("/en/account/sessions/").text
        visitor.post(f"/en/account/sessions/{began}/end/")
        assert running(as_found(token)) is None
        assert acts(token) != began


class TestProtection:
    def test_a_reality_check_waits_for_an_answer_in_the_session_of_a_api_client(self, player, token):
        began = acts(token)
        play_sessions.read_session(player, began)
        assert eligibility.check_play(player, real=True, session=began) is None
        as_owner("UPDATE players_playsession SET began = began - interval '61 minutes'")
        ineligibility = eligibility.check_play(player, real=True, session=acts(token))
        assert ineligibility
        assert ineligibility.code is Code.CHECK
        play_sessions.answer_check(player=player, session=began, goes_on=True)
        assert eligibility.check_play(player, real=True, session=began) is None

    def test_another_token_is_no_way_around_it(self, player, token):
        acts(token)
        as_owner("UPDATE players_playsession SET began = began - interval '61 minutes'")
        ineligibility = eligibility.check_play(player, real=True, session=acts(a_token(player.user, Scope.PLAY)[0]))
        assert ineligibility
        assert ineligibility.code is Code.CHECK

    def test_time_that_is_used_up_is_used_up_for_api_clients(self, player, token):
        set_limit(player=player, kind=LimitKind.TIME, period=Period.DAY, amount=3600, by=str(player))
        began = acts(token)
        assert eligibility.check_play(player, real=True, session=began) is None
        as_owner(
            "INSERT INTO players_playtime (player_id, day, seconds, last_at)"
            " VALUES (%s, (now() AT TIME ZONE %s)::date, 3600, clock_timestamp())",
            [player.pk, player.jurisdiction.time_zone],
        )
        ineligibility = eligibility.check_play(player, real=True, session=acts(token))
        assert ineligibility
        assert ineligibility.code is Code.USED_UP

    def test_an_exclusion_keeps_api_clients_out_of_play(self, player, token):
        exclusions.exclude_self(player=player, months=12, by=str(player))
        ineligibility = eligibility.check_play(player, real=True, session=acts(token))
        assert ineligibility
        assert ineligibility.code is Code.EXCLUDED
