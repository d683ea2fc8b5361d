"""Django's backend for PostgreSQL, except that the first connection starts the embedded server where none is
configured.

So a command that needs no database never starts it, and every other finds it running, whether or not the house is open.
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
    """``manage.py dbshell`` with the psql that came along."""

    def runshell(self, parameters: Iterable[str]) -> None:
        """Open the shell; the server stays as long as it does."""
        if settings.EMBEDDED:
            embedded.ensure_running(settings.VAR_DIR)
            self.executable_name = str(binaries.client("psql"))
        super().runshell(parameters)


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that sees to its server first."""

    client_class = EmbeddedClient

    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """Connect, starting the embedded server if that is the one meant and nobody has. Raises OperationalError."""
        if settings.EMBEDDED:
            try:
                embedded.ensure_running(settings.VAR_DIR)
            except embedded.EmbeddedError as error:
                raise OperationalError(str(error)) from error
        return super().get_new_connection(conn_params)
