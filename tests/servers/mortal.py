"""The house in a process that can be killed at any statement of a request.

``python -m tests.servers.mortal FD`` serves on an open socket. A request with the header ``X-Die: before 3`` (or
``after 3``) kills the process with SIGKILL right before (after) the third SQL statement of that request; COMMIT counts
as one. A parent that has loaded everything forks the next process at once, on the same socket, as a supervisor would.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.conf import settings
from django.db.backends.signals import connection_created
from django.urls import get_resolver

from casino import refusals
from casino.wsgi import application as pages
from ops.http import server
from ops.http.bodies import Allowance, Bodies
from ops.http.pages import Pages
from ops.postgresql.base import DatabaseWrapper

HEADER = "HTTP_X_DIE"


class Fate(threading.local):
    """The statement before or after which the request of this thread kills the process."""

    when = ""
    left = 0

    def meet(self, when: str) -> None:
        """Kill the process if this is the chosen statement."""
        if self.when == when and self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


fate = Fate()


def counted(work: Callable[[], Any]) -> Any:
    """Run one statement, or kill the process before or after it."""
    fate.left -= 1
    fate.meet("before")
    result = work()
    fate.meet("after")
    return result


def watch(connection: DatabaseWrapper, **kwargs: Any) -> None:
    """Count what a new connection is asked to do."""
    connection.execute_wrappers.append(
        lambda execute, sql, params, many, context: counted(lambda: execute(sql, params, many, context))
    )


def mortal_pages(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve the house, with the fate that the request asks for."""
    when, _, number = environ.get(HEADER, "never 0").partition(" ")
    fate.when, fate.left = when, int(number)
    return pages(environ, start_response)


def serve(descriptor: int) -> None:
    """Serve in the process that can be killed."""
    connection_created.connect(watch)
    commit = DatabaseWrapper._commit  # type: ignore[attr-defined]  # Django's own, untyped
    DatabaseWrapper._commit = lambda self: counted(lambda: commit(self))  # type: ignore[attr-defined]
    server.serve(application(), socket.socket(fileno=descriptor), graceful=3)


def application() -> Any:
    """Return the pages alone, as an ASGI application."""

    async def nobody(scope: Any) -> str:
        return ""

    bodies = Bodies(nobody, ordinary=Allowance(settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
    served = Pages(mortal_pages, threads=ThreadPoolExecutor(8), bodies=bodies, refusal=refusals.answer)

    async def without_lifespan(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            raise NotImplementedError
        await served(scope, receive, send)

    return without_lifespan


def main(descriptor: int) -> None:
    """Fork a server, and the next one when it has died, until told to stop."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    get_resolver().check()  # reads every page's module, which each child would have to do for itself
    child = 0
    try:
        while True:
            child = os.fork()
            if child == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                serve(descriptor)
                os._exit(0)
            os.waitpid(child, 0)
    finally:
        if child:
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
