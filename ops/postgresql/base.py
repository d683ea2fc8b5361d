"""Django's PostgreSQL backend, except that the first connection starts the embedded server where no
other is configured.

A command that needs no database never starts the server; all others find it running, whether or not
the system runs.
"""

import threading
from collections.abc import Iterable
from select import POLLIN, poll
from time import monotonic
from typing import Any, Final

from django.conf import settings
from django.db import connections
from django.db.backends.postgresql import base
from django.db.backends.postgresql.client import DatabaseClient
from django.db.utils import OperationalError
from psycopg import Connection

from ops import embedded
from ops.embedded import binaries

FRESH: Final = 1.0  # seconds

# Connections belong to threads. Django's own storage looks for a running event loop each time, two hundred calls of a
# click; it finds none, because no coroutine may use the database. This runs before the first connection is made.
connections._connections = threading.local()  # type: ignore[attr-defined]


class EmbeddedClient(DatabaseClient):
    """``manage.py dbshell`` with the bundled psql."""

    def runshell(self, parameters: Iterable[str]) -> None:
        """Open the shell; the server runs at least as long."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
            self.executable_name = str(binaries.client("psql"))
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    """Connection that starts the embedded server first, and is not asked whether it works if it has just answered."""

    client_class = EmbeddedClient
    health_check_enabled: bool
    health_check_done: bool
    _answered_at = -FRESH  # by the monotonic clock, in seconds

    def close_if_unusable_or_obsolete(self) -> None:
        """Do what Django does, and note that the connection has answered in the request or task that ends here."""
        if self.health_check_done and not self.errors_occurred:
            self._answered_at = monotonic()
        super().close_if_unusable_or_obsolete()

    def close_if_health_check_failed(self) -> None:
        """Check as Django does, by a statement, unless the connection has answered within `FRESH` and is silent since.

        A server that closes a connection says so, which can be read.
        """
        if self.connection is None or not self.health_check_enabled or self.health_check_done:
            return
        if monotonic() - self._answered_at < FRESH and _is_silent(self.connection):
            self.health_check_done = True
            return
        super().close_if_health_check_failed()

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect, starting the embedded server if it is configured and not running. Raises OperationalError."""
        if settings.EMBEDDED:
            try:
                embedded.ensure_running(settings.VAR_DIR)
            except embedded.EmbeddedError as error:
                raise OperationalError(str(error)) from error
        return super().get_new_connection(conn_params)


def _is_silent(connection: Connection) -> bool:
    """Return whether nothing has arrived from the server since its last answer."""
    if connection.closed:
        return False
    waiting = poll()
    waiting.register(connection.pgconn.socket, POLLIN)
    return not waiting.poll(0)
