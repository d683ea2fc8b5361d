"""The house that all tests of a module ask for its pages."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from tests.harness import databases
from tests.pages.house import House


@pytest.fixture(scope="module")
def house(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[House]:
    """Use it without ``django_db``: its set-up is committed, and the changes of a test are `undone`."""
    with django_db_blocker.unblock(), databases.clone("pages") as database:
        databases.trust_what_is_not_committed(database)
        yield House()
