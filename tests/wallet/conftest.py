"""Fixtures for tests of the wallet, which has no games here."""

from collections.abc import Callable, Iterator

import pytest

from tests.harness.owner import without


@pytest.fixture
def without_voids(request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """Let journals of rounds that no table knows be reversed, as functions of the games do for a void.

    Checks deferred to the commit run at the end of a test that rolls back; until then all guards are in place.
    A test that commits calls the function that it is given, which restores the guards.
    """
    commits = "cloned_db" in request.fixturenames
    request.getfixturevalue("cloned_db" if commits else "db")
    if commits:
        without("games_reversal_is_of_a_void", "IF FOUND OR", "IF true OR")
    yield lambda: without("games_reversal_is_of_a_void", "IF true OR", "IF FOUND OR")
    if not commits:
        without("games_reversal_is_of_a_void", "IF FOUND OR", "IF true OR")
