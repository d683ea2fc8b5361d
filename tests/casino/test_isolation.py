"""A test that fails while it is taken down fails alone."""

import pytest
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import SimpleTestCase

from tests.harness import databases
from tests.harness.databases import Database


class BrokenOff(SimpleTestCase):
    """One that nobody takes down."""

    databases = {"default"}


def is_reached(alias: str) -> bool:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT true")
        return bool(cursor.fetchone()[0])


def test_what_one_that_is_broken_off_forbids_is_allowed_again(
    cloned_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = BaseDatabaseWrapper.ensure_connection  # which pytest-django puts back in any case
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", real)
    for _ in range(2):  # one upon another
        BrokenOff.setUpClass()
    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", real)
    try:
        with pytest.raises(AssertionError, match="are not allowed"):
            is_reached("owner")
    finally:
        databases.allow_connections()
    assert is_reached("owner")
