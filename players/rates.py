"""Rate limits of web requests by player or IP address, and sampling of recorded refusals."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache, wraps
from http import HTTPStatus
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.db import connection
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from redis import Redis
from redis.exceptions import RedisError

from players.login.current_user import player_of

Args = ParamSpec("Args")
Request = TypeVar("Request", bound=HttpRequest)
View = Callable[Concatenate[Request, Args], HttpResponseBase]

SECONDS = 2
MINUTE = 60
HOUR = 3600
STARTS = 30  # a minute: starts of demo games and similar forms
WATCHED = 600  # a minute: looks at shared tables from one address, of which a page takes one every two seconds
FIRST = 20  # refusals per hour, kind and actor that are each recorded
THEN = frozenset(10**power for power in range(2, 10))  # the counts of further refusals that are recorded


def at_a_human_pace(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than ``settings.FORMS_PER_SECOND`` forms a second, over two seconds."""
    return _paced(view, "pace", SECONDS, lambda: SECONDS * settings.FORMS_PER_SECOND)


def now_and_then(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than `STARTS` forms within a minute."""
    return _paced(view, "starts", MINUTE, lambda: STARTS)


def at_the_pace_of_watchers(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than `WATCHED` requests for the public part of a table within a minute."""
    return _paced(view, "watched", MINUTE, lambda: WATCHED)


def at_the_pace_of_mirrors(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 to more than ``settings.LOG_REQUESTS_PER_MINUTE`` requests for files of the public log."""
    return _paced(view, "log", MINUTE, lambda: settings.LOG_REQUESTS_PER_MINUTE)


def one_at_a_time(view: View[Request, Args]) -> View[Request, Args]:
    """Answer 429 while an earlier document for the same player is still being made or sent, in any process.

    It would not help to wait: those who wait would hold the threads that others need, as does a reader who takes a
    document slowly. All views with this decorator share the lock, which PostgreSQL takes back with its connection.
    """

    @wraps(view)
    def alone(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        turn = _Turn(f"document:{_who(request)}")
        if not turn.is_mine:
            refusal = render(request, "429.html", {"is_being_made": True}, status=HTTPStatus.TOO_MANY_REQUESTS)
            refusal["Retry-After"] = str(SECONDS)
            return refusal
        try:
            answer = view(request, *args, **kwargs)
        except BaseException:
            turn.end()
            raise
        if isinstance(answer, StreamingHttpResponse):
            answer.streaming_content = _during(turn, cast("Iterator[bytes]", answer.streaming_content))
            cast("Any", answer)._resource_closers.append(turn.end)  # the server closes every answer, sent or not
        else:
            turn.end()
        return answer

    return alone


class _Turn:
    """A lock of the connection by its name. *is_mine*: nobody else had it.

    It is ended by those who took it, never by the garbage collector, which may come while psycopg executes something
    and would wait for it for ever.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.is_mine = self._execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))")

    def end(self) -> None:
        """Give the lock back, once."""
        if self.is_mine and connection.connection is not None:
            self._execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))")
        self.is_mine = False

    def _execute(self, statement: str) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(statement, [self._name])
            (is_done,) = cursor.fetchone()
        return bool(is_done)


def _during(turn: _Turn, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield from pieces
    turn.end()


def _paced(view: View[Request, Args], name: str, seconds: int, most: Callable[[], int]) -> View[Request, Args]:
    @wraps(view)
    def paced(request: Request, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        if count(f"{name}:{_who(request)}", seconds) > most():
            refusal = render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
            refusal["Retry-After"] = str(seconds - int(time.time()) % seconds)
            return refusal
        return view(request, *args, **kwargs)

    return paced


def to_record(what: str, who: str) -> int:
    """Count a refusal. Return its number within the hour if it is to be recorded, otherwise 0.

    The first `FIRST` are recorded, then each power of ten. So nobody can fill the log, and the log
    shows how many were left out. Without the cache, all are recorded.
    """
    try:
        number = count(f"refused:{what}:{who}", HOUR)
    except RedisError:
        return 1
    return number if number <= FIRST or number in THEN else 0


def address_of(request: HttpRequest) -> str:
    """Return the IP address of a visitor; for IPv6 the /64 network, since one customer can use all its addresses."""
    return get_ip(request)


def count(name: str, seconds: int) -> int:
    """Increase the count of this interval and return it. Raises RedisError."""
    address = settings.CACHES["default"].get("LOCATION")
    if address is None:
        return 1
    key = f"rate:{name}:{int(time.time()) // seconds}"
    counted = _increment(address, key)
    if counted == 1:
        _client(address).expire(key, 2 * seconds)
    return counted


class _Kept(threading.local):
    """The connections of a thread, by address. A forked process does not use those of its parent."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.by_address: dict[str, Any] = {}


_kept = _Kept()


def _increment(address: str, key: str) -> int:
    """Increment a number, on the connection of this thread. Raises RedisError.

    The client takes twice as long, for a pool, a health check and a retry. It is asked where the connection fails.
    """
    client, name = _client(address), key.encode()
    if _kept.process != os.getpid():
        _kept.process, _kept.by_address = os.getpid(), {}
    line = _kept.by_address.get(address)
    if line is None:
        line = _kept.by_address[address] = client.connection_pool.make_connection()
    try:
        line.send_packed_command([b"*2\r\n$4\r\nINCR\r\n$%d\r\n%b\r\n" % (len(name), name)])
        return int(line.read_response())
    except RedisError:
        line.disconnect()
        return int(client.incr(key))


@cache
def _client(address: str) -> Redis:
    """Return a client that stays: Django's cache makes one for each call, which takes longer than the call."""
    return Redis.from_url(address)


def _who(request: HttpRequest) -> str:
    """Return a player's number, or a visitor's IP address."""
    player = player_of(request.user)
    return str(player.pk) if player else address_of(request)
