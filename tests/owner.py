"""Rows that no function of the product writes, written as the owner of the tables in a test's own transaction."""

from collections.abc import Sequence

import psycopg
from django.db import connection

from players.models import User


def as_owner(statement: str, values: Sequence[object] = ()) -> None:
    """Run a statement as the owner of the tables, for example to make rows older."""
    connection.ensure_connection()
    whole = psycopg.ClientCursor(connection.connection).mogrify(statement, values) if values else statement
    with connection.cursor() as cursor:
        cursor.execute("SELECT tests.run(%s)", [whole])


def disable(user: User) -> None:
    """Let nobody log in as this user, as the closing of an account does."""
    as_owner("UPDATE players_user SET is_active = false WHERE id = %s", [user.pk])
