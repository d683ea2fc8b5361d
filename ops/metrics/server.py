"""`/metrics` for worker and beat, which have no other port: listens on ``METRICS_LISTEN``, with the
same access rules as web. Each process reports all that share ``METRICS_DIR``.
"""

import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import structlog
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import connections
from django.http import Http404, HttpResponse, HttpResponseNotFound

from ops.metrics.views import metrics

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
