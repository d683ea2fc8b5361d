"""Prometheus metrics of this process, if ``METRICS`` is set; `ops.metrics` has those from the
database.

Every process writes to its own file in ``METRICS_DIR``, and the process that is scraped reads them
all (prometheus-client's multiprocess mode). So one response covers all web processes and the worker
that share the folder. Labels have a bounded number of values: views, event kinds and reasons are
fixed in the code; IDs are not used.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from socketserver import ThreadingMixIn
from time import perf_counter
from typing import Any, Final, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import structlog
from celery.signals import after_task_publish, task_postrun, task_prerun
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import connection, connections
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotFound
from prometheus_client import Counter, Gauge, Histogram

from audit.log import Json
from ops.logs import view_of
from ops.metrics import metrics

BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)  # seconds
DEALT: Final = "round.settled"  # event kind of settled rounds of all tables

REQUESTS = Counter("sabot_requests", "HTTP requests answered", ["view", "status"])
SECONDS = Histogram("sabot_request_seconds", "Duration of requests in seconds", ["view"], buckets=BUCKETS)
DATABASE = Counter("sabot_request_database_seconds", "Database time of requests in seconds", ["view"])
STREAMS = Gauge("sabot_streams", "Open streams", multiprocess_mode="livesum")
ROUNDS = Counter("sabot_rounds_dealt", "Rounds dealt and settled")
ASKED = Counter("sabot_tasks_asked", "Tasks queued", ["task"])
TASKS = Counter("sabot_tasks", "Tasks completed", ["task", "state"])
TASK_SECONDS = Histogram("sabot_task_seconds", "Duration of tasks in seconds", ["task"], buckets=BUCKETS)
READS = Counter("sabot_replica_reads", "Reads allowed on the replica, by the database that answered", ["what", "by"])
REFUSED = Counter("sabot_refused", "Refused player requests: bets, rounds", ["kind", "reason"])


def measure(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: measure each request and its database time."""

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
    """Sums up the time of database statements."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        began = perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.seconds += perf_counter() - began


def count(kind: str, data: Mapping[str, Json]) -> None:
    """Count an event when it is written, even if its transaction fails afterwards."""
    if kind == DEALT:
        ROUNDS.inc()
    elif kind.endswith(".refused"):
        REFUSED.labels(kind, data.get("reason", "")).inc()


def count_read(what: str, who: str) -> None:
    """Count a read that a replica may answer."""
    READS.labels(what, who).inc()


_begun: Final[dict[str, float]] = {}  # start time of running tasks, by ID


@after_task_publish.connect
def count_asked(sender: str, **sent: object) -> None:
    """Count a task that is sent."""
    ASKED.labels(sender).inc()


@task_prerun.connect
def begin_task(task_id: str, **sent: object) -> None:
    """Record the start time of a task."""
    _begun[task_id] = perf_counter()


@task_postrun.connect
def count_task(task_id: str, task: Any, state: str | None = None, **sent: object) -> None:
    """Count a finished task and its duration."""
    began = _begun.pop(task_id, None)
    TASKS.labels(task.name, state or "").inc()
    if began is not None:
        TASK_SECONDS.labels(task.name).observe(perf_counter() - began)


PATH = "/metrics"
ADDRESS = "127.0.0.1"  # default address
PATIENCE = 10.0  # seconds for a client to send its request

logger = structlog.get_logger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the library's name)
        """Log nothing: scrapes come every few seconds."""


def serve(**sent: object) -> None:
    """Start the server if a port is configured. If the port is taken, the process continues without
    it. Can be connected to Celery's signals.
    """
    if not (settings.METRICS and settings.METRICS_LISTEN):
        return
    address, _, port = settings.METRICS_LISTEN.rpartition(":")
    try:
        server = make_server(address or ADDRESS, int(port), answer, server_class=_Server, handler_class=_Handler)
    except OSError as error:
        logger.warning("metrics_port_taken", at=settings.METRICS_LISTEN, error=str(error))
        return
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()


def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer one request as web would."""
    try:
        if environ["PATH_INFO"] != PATH:
            raise Http404
        response = cast("HttpResponse", metrics(WSGIRequest(environ)))
    except Http404:
        response = HttpResponseNotFound()
    finally:
        connections.close_all()  # each request has its own thread
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.content]
