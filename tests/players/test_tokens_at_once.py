"""Two concurrent calls of one API client, two tokens created at once, and two first requests of a browser: the race
first, then the lock.
"""

from collections.abc import Callable
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db.models import QuerySet
from django.db.models.signals import pre_save

from players.api import tokens
from players.api.problems import Problem
from players.api.views import session_for
from players.login import sessions
from players.login.current_user import SESSION_ID
from players.models import ApiToken, Player, Scope, Session
from tests.builders import a_player
from tests.people import a_visitor, events
from tests.players.test_tokens import a_token
from tests.wallet.test_at_once import at_once

HERE = "192.0.2.7"


@pytest.fixture
def player(cloned_db) -> Player:
    return a_player()


@pytest.fixture
def token(player) -> ApiToken:
    return a_token(player.user, Scope.PLAY)[0]


def acting(token: ApiToken) -> Callable[[], UUID]:
    """Return a call that changes something, after its authentication."""
    found = ApiToken.objects.select_related("user__player__jurisdiction").get(pk=token.pk)
    return lambda: session_for(found, HERE)


def making(player: Player) -> Callable[[], str]:
    def make() -> str:
        try:
            a_token(player.user)
        except tokens.TooMany:
            return "too many"
        return "made"

    return make


def unlocked(monkeypatch: pytest.MonkeyPatch, module: object, step: str) -> None:
    """Remove row locks, and let both arrive at *step* before either continues."""
    both, go_on = Barrier(2), getattr(module, step)

    def waiting(*one: Any, **said: Any) -> Any:
        both.wait(timeout=30)
        return go_on(*one, **said)

    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_how: rows)
    monkeypatch.setattr(module, step, waiting)


def test_without_the_lock_two_calls_would_begin_two_sessions(token, monkeypatch):
    unlocked(monkeypatch, sessions, "begin_for_api_client")
    assert len(set(at_once([acting(token), acting(token)]))) == 2
    assert Session.objects.count() == 2


def test_two_calls_begin_one_session(token):
    assert len(set(at_once([acting(token), acting(token)]))) == 1
    assert Session.objects.count() == 1
    assert len(events("session.began")) == 1


def test_without_the_lock_there_would_be_more_tokens_than_may_be(player, monkeypatch):
    for _ in range(tokens.MOST - 1):
        a_token(player.user)
    unlocked(monkeypatch, tokens, "digest_of")
    assert at_once([making(player), making(player)]) == ["made", "made"]
    assert tokens.running(player.user).count() == tokens.MOST + 1


def test_there_are_never_more_tokens_than_may_be(player):
    for _ in range(tokens.MOST - 1):
        a_token(player.user)
    assert sorted(at_once([making(player), making(player)])) == ["made", "too many"]
    assert tokens.running(player.user).count() == tokens.MOST


def test_a_token_revoked_in_the_meantime_begins_no_session(player, token):
    act = acting(token)
    tokens.revoke(token_id=token.pk, by=str(player))
    with pytest.raises(Problem) as refused:
        act()
    assert refused.value.kind.code == "token-refused"
    assert not Session.objects.exists()


def test_two_first_requests_of_a_session_without_a_row_share_the_one_that_the_first_makes(player):
    browser = a_visitor()
    browser.force_login(player.user)
    bare = browser.session
    bare.pop(SESSION_ID, None)
    bare.save()
    Session.objects.all().delete()
    both = Barrier(2)

    def wait(**_said: object) -> None:
        both.wait(timeout=60)

    def asked() -> int:
        tab = a_visitor()
        tab.cookies = browser.cookies
        return tab.get("/en/account/").status_code

    pre_save.connect(wait, sender=Session)  # both have looked for the row, and none has made it
    try:
        assert at_once([asked, asked]) == [200, 200]
    finally:
        pre_save.disconnect(wait, sender=Session)
    assert [str(each.pk) for each in Session.objects.all()] == [browser.session[SESSION_ID]]
    assert len(events("session.began")) == 1
