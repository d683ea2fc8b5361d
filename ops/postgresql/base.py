"""Django's PostgreSQL backend, except that the first connection starts the embedded server where no
other is configured.

A command that needs no database never starts the server; all others find it running, whether or not
the system runs.
"""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from django.db.backends.postgresql.client import DatabaseClient
from django.db.utils import OperationalError
from psycopg import Connection

from ops import embedded
from ops.embedded import binaries


class EmbeddedClient(DatabaseClient):
    """``manage.py dbshell`` with the bundled psql."""

    def runshell(self, parameters: Iterable[str]) -> None:
        """Open the shell; the server runs at least as long."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
            self.executable_name = str(binaries.client("psql"))
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    """Connection that starts the embedded server first."""

    client_class = EmbeddedClient

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect, starting the embedded server if it is configured and not running. Raises OperationalError."""
        if settings.EMBEDDED:
            try:
                embedded.ensure_running(settings.VAR_DIR)
            except embedded.EmbeddedError as error:
                raise OperationalError(str(error)) from error
        return super().get_new_connection(conn_params)
