"""What this process counts and times for Prometheus, where ``METRICS`` says so; `casino.measures_house` has the rest.

Every process writes into a file of its own in ``METRICS_DIR``, and whichever web process is asked reads them all
(prometheus-client's multiprocess mode): so one answer speaks of all web processes, and of the worker, that share the
folder. No label has values without end: views, kinds of events and reasons are named in the program, nobody's number is
one.
"""

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any, Final

from django.db import connection
from django.http import HttpRequest, HttpResponseBase
from prometheus_client import Counter, Gauge, Histogram

from audit.log import Json
from casino.logs import view_of

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
DEALT: Final = "round.settled"  # of all tables: what is dealt is settled

REQUESTS = Counter("sabot_requests", "Requests answered", ["view", "status"])
SECONDS = Histogram("sabot_request_seconds", "Seconds until a request was answered", ["view"], buckets=BUCKETS)
DATABASE = Counter("sabot_request_database_seconds", "Of them, seconds that the database took", ["view"])
STREAMS = Gauge("sabot_streams", "Streams that are open", multiprocess_mode="livesum")
ROUNDS = Counter("sabot_rounds_dealt", "Rounds that were dealt and settled")
REFUSED = Counter("sabot_refused", "What players asked for and were refused: bets, rounds", ["kind", "reason"])


def measure(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Time each request, and what of it the database took."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        clock = _Clock()
        began = perf_counter()
        with connection.execute_wrapper(clock):
            response = get_response(request)
        view = view_of(request)
        SECONDS.labels(view).observe(perf_counter() - began)
        REQUESTS.labels(view, response.status_code).inc()
        DATABASE.labels(view).inc(clock.seconds)
        return response

    return middleware


class _Clock:
    """Adds up the time of statements."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        began = perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.seconds += perf_counter() - began


def count(kind: str, data: Mapping[str, Json]) -> None:
    """Count an event as it is written. One whose transaction fails after that counts all the same."""
    if kind == DEALT:
        ROUNDS.inc()
    elif kind.endswith(".refused"):
        REFUSED.labels(kind, data.get("reason", "")).inc()
