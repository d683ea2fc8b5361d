"""Statements of an attacker who has the login role of web and workers."""

import psycopg
import pytest
from django.db import DatabaseError, connection, transaction

DENIED = "42501"  # SQLSTATE of a missing right


def send(statement, *values):
    """Run a statement as the login role. Raises DatabaseError."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)


def refused(statement, *values, by=DENIED):
    """Demand that the database refuses a statement with this SQLSTATE."""
    with pytest.raises(DatabaseError) as error:
        send(statement, *values)
    assert isinstance(error.value.__cause__, psycopg.Error)
    assert error.value.__cause__.sqlstate == by
