"""A write is done once: a repeated call gets the first answer, also when many arrive at the same time."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Event
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import IntegrityError, connections, transaction
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.test import APIRequestFactory

from players.api import calls, tokens
from players.api.problems import INVALID, Problem
from players.api.reading import StrictJSON
from players.models import ApiCall, ApiToken, Scope
from players.tasks import forget_old_calls
from tests.builders import a_player

TOGETHER = 6


class NotThisTime(Exception):
    """Something broke in the middle."""


def a_token() -> ApiToken:
    token, _key = tokens.make(user=a_player().user, name="a test", scopes=[Scope.PLAY], days=1)
    return token


def a_request(token: ApiToken, key: str, body: dict[str, Any] | None = None, path: str = "/api/v1/here/") -> Request:
    """A write as a view gets it."""
    sent = APIRequestFactory().post(path, json.dumps(body or {}), content_type="application/json")
    request = Request(sent, parsers=[StrictJSON()])
    request.META["HTTP_IDEMPOTENCY_KEY"] = key
    request.auth = token
    return request


class Action:
    """An action that answers with the number of its runs."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> Response:
        """Run the action and count it."""
        self.times += 1
        return Response({"times": self.times}, 201)


@pytest.mark.django_db
class TestOneAfterAnother:
    def test_a_repeated_call_gets_the_first_answer_and_does_nothing(self):
        token, action = a_token(), Action()
        first, second = (calls.once(a_request(token, "a", {"stake": 5}), action) for _ in range(2))
        assert (first.status_code, first.data) == (second.status_code, second.data) == (201, {"times": 1})
        assert (calls.REPEATED in first, second[calls.REPEATED]) == (False, "true")

    def test_the_spelling_of_a_body_does_not_make_another_call(self):
        token, action = a_token(), Action()
        calls.once(a_request(token, "a", {"stake": 5, "on": "tie"}), action)
        calls.once(a_request(token, "a", {"on": "tie", "stake": 5}), action)
        assert action.times == 1

    @pytest.mark.parametrize("other", [{"body": {"stake": 6}}, {"path": "/api/v1/there/"}])
    def test_a_key_says_one_thing_only(self, other):
        token, action = a_token(), Action()
        calls.once(a_request(token, "a", {"stake": 5}), action)
        with pytest.raises(Problem) as refused:
            calls.once(a_request(token, "a", **({"body": {"stake": 5}} | other)), action)
        assert (refused.value.kind.code, refused.value.kind.status) == ("idempotency-key-reused", 409)
        assert action.times == 1

    def test_keys_are_each_tokens_own(self):
        action = Action()
        assert [calls.once(a_request(a_token(), "a"), action).data["times"] for _ in range(2)] == [1, 2]

    @pytest.mark.parametrize("key", ["", "a" * 101, "a\x7f", "å", "a\x00"])
    def test_a_key_is_short_and_printable(self, key):
        action = Action()
        with pytest.raises(Problem) as refused:
            calls.once(a_request(a_token(), key), action)
        assert refused.value.kind.code == "idempotency-key-missing"
        assert action.times == 0

    def test_a_refusal_is_an_answer_as_well(self):
        token, tries = a_token(), []

        def refuse() -> Response:
            tries.append(1)
            raise Problem(INVALID, "Not like this.", why="a test")

        first, second = (calls.once(a_request(token, "a"), refuse) for _ in range(2))
        assert first.data == second.data
        assert first.data["why"] == "a test"
        assert first.status_code == second.status_code == 400
        assert second.content_type == "application/problem+json"
        assert len(tries) == 1

    def test_what_breaks_keeps_no_key(self):
        token, action = a_token(), Action()

        def fail() -> Response:
            raise NotThisTime

        with pytest.raises(NotThisTime):
            calls.once(a_request(token, "a"), fail)
        assert not ApiCall.objects.exists()
        assert calls.once(a_request(token, "a"), action).data == {"times": 1}

    def test_nobody_forgets_an_answer_within_a_week(self):
        token = a_token()
        for key in ("young", "old"):
            calls.once(a_request(token, key), Action())
        with pytest.raises(IntegrityError), transaction.atomic():
            ApiCall.objects.all().delete()
        assert calls.forget_old() == 0
        assert ApiCall.objects.count() == 2


def test_after_a_week_an_answer_is_forgotten(cloned_db, owner: psycopg.Connection):
    token = a_token()
    for key in ("young", "old"):
        calls.once(a_request(token, key), Action())
    owner.execute("ALTER TABLE players_api_call DISABLE TRIGGER USER")
    owner.execute("UPDATE players_api_call SET at = at - %s WHERE key = 'old'", [calls.KEPT + timedelta(seconds=1)])
    owner.execute("ALTER TABLE players_api_call ENABLE TRIGGER USER")
    forget_old_calls()
    assert [call.key for call in ApiCall.objects.all()] == ["young"]


BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def somebody_waits(superuser: psycopg.Connection) -> bool:
    """Return whether a statement in this database waits for another's transaction."""
    (number,) = superuser.execute(BLOCKED).fetchone() or (0,)
    return bool(number)


def in_threads(work: Any, number: int = TOGETHER) -> list[Any]:
    """Return the results of several threads, each with its own connection."""

    def one(_: int) -> Any:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(one, range(number)))


def test_without_the_row_of_its_key_a_call_is_done_as_often_as_it_comes(cloned_db):
    """Show what the key prevents."""
    ready, action = Barrier(TOGETHER), Action()

    def call() -> Any:
        ready.wait()
        with transaction.atomic():
            return action().data["times"]

    in_threads(call)
    assert action.times == TOGETHER


def test_calls_at_the_same_moment_are_done_once_and_get_the_same_answer(cloned_db):
    token, ready, action, key = a_token(), Barrier(TOGETHER), Action(), str(uuid4())

    def call() -> Any:
        ready.wait()
        return calls.once(a_request(token, key), action).data

    assert in_threads(call) == [{"times": 1}] * TOGETHER
    assert action.times == 1
    assert ApiCall.objects.count() == 1


def test_a_repeat_waits_for_the_call_in_progress_and_runs_if_that_fails(cloned_db):
    token, action = a_token(), Action()
    within, other_waits = Event(), Event()

    def break_off() -> Response:
        within.set()
        other_waits.wait()
        raise NotThisTime

    def first() -> Any:
        try:
            with pytest.raises(NotThisTime):
                calls.once(a_request(token, "a"), break_off)
        finally:
            connections.close_all()

    def second() -> Any:
        try:
            within.wait()
            return calls.once(a_request(token, "a"), action).data
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as threads:
        begun, waiting = threads.submit(first), threads.submit(second)
        within.wait()
        with psycopg.connect(cloned_db.superuser_url, autocommit=True) as superuser:
            while not somebody_waits(superuser):
                assert not waiting.done()
        other_waits.set()
        begun.result()
        assert waiting.result() == {"times": 1}
