"""`/metrics` of worker and beat, who answer at no port otherwise: at ``METRICS_LISTEN``, to whom web would answer.
Whichever process is asked speaks of all that share ``METRICS_DIR``.
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
ADDRESS = "127.0.0.1"  # where only a port is said
PATIENCE = 10.0  # seconds for whoever asks to say what

logger = structlog.get_logger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = PATIENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the library's name)
        """Say nothing: it is asked every few seconds."""


def serve(**sent: object) -> None:
    """Answer from now on, where the house says at which port. Who finds it taken does their work without. Also takes
    Celery's signals.
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
    """Answer one request, as web would."""
    try:
        if environ["PATH_INFO"] != PATH:
            raise Http404
        response = cast("HttpResponse", metrics(WSGIRequest(environ)))
    except Http404:
        response = HttpResponseNotFound()
    finally:
        connections.close_all()  # each request has a thread of its own
    start_response(f"{response.status_code} {response.reason_phrase}", list(response.items()))
    return [response.content]
