"""Fixtures for every test: databases, the web server, Chromium.

Tests marked ``django_db`` run as the login role of web and workers in a transaction that is rolled back. Where commits
must be real (threads, processes, the ledger's append-only tables, which refuse truncation), the fixture `cloned_db`
gives a database of the test's own.
"""

import gc
import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import psycopg
import pytest
from django.core.cache import cache
from django.utils import timezone, translation
from hypothesis import HealthCheck, settings
from pytest_django import DjangoDbBlocker

from games.dealer.dealer import Dealer
from ops import embedded
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.owner import OwnerWithin

pytest_plugins = [
    "tests.harness.web",
    "tests.harness.browser",
    "tests.harness.signer",
    "tests.harness.dealer",
    "tests.harness.replica",
    "tests.harness.sweeps",
]

# The time of an example depends on the load of the machine, and the number of rejected examples on chance.
settings.register_profile(
    "sweep", deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
settings.register_profile("house", settings.get_profile("sweep"), max_examples=30)

TESTS = Path(__file__).parent
# Each of them would keep one worker alone at the end. The second needs no template, so its worker does not wait for it.
LONGEST = (
    *("test_every_page.py", "test_run.py", "test_secrecy.py", "test_matrix.py", "test_machine.py"),
    *("test_commands.py", "test_baccarat.py", "test_chemin_evening.py", "test_chat.py", "test_interrupted.py"),
)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None, django_db_blocker: DjangoDbBlocker, dealer: Dealer
) -> Iterator[Database]:
    """Use this process's own clone of the migrated template instead of Django's test database."""
    with django_db_blocker.unblock(), databases.clone(os.environ.get("PYTEST_XDIST_WORKER", "main")) as database:
        databases.trust_what_is_not_committed(database)
        yield database


@pytest.fixture(autouse=True)
def empty_cache(request: pytest.FixtureRequest) -> None:
    """Forget the effects of earlier tests, such as counted log-ins: a transaction rolls back no cache."""
    access = import_module("games.tables.access")
    access.id_at.cache_clear()
    access.solo_table_id_in.cache_clear()
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("db")
        cache.clear()


@pytest.fixture(autouse=True)
def nobody_s_language() -> None:
    """Begin like a new process: a request leaves its reader's language and time zone active."""
    translation.deactivate()
    timezone.deactivate()


@pytest.fixture(scope="module")
def cloned_from() -> str:
    """Return the name of the database that `cloned_db` clones; a module may override it (`databases.filled`)."""
    return databases.TEMPLATE


@pytest.fixture
def cloned_db(
    request: pytest.FixtureRequest, django_db_setup: Database, django_db_blocker: DjangoDbBlocker, cloned_from: str
) -> Iterator[Database]:
    """Give the test its own database, with real commits; the aliases ``default`` and ``owner`` both point to it
    in the meantime.
    """
    if request.node.get_closest_marker("django_db") or "db" in request.fixturenames:
        pytest.fail("cloned_db commits for real: use it without django_db", pytrace=False)
    with django_db_blocker.unblock():
        with databases.clone("clone", like=cloned_from) as database:
            yield database
        databases.demand_untouched(django_db_setup)


@pytest.fixture
def owner(request: pytest.FixtureRequest) -> Iterator[psycopg.Connection | OwnerWithin]:
    """Run statements as the owner of the tables: in the transaction of a test marked ``django_db``, otherwise
    committed at once in the test's own database.
    """
    if request.node.get_closest_marker("django_db"):
        yield OwnerWithin()
        return
    cloned_db: Database = request.getfixturevalue("cloned_db")
    with psycopg.connect(cloned_db.owner_url, autocommit=True) as connection:
        yield connection


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let ``--sweep`` select the sweep cases too (`tests.harness.sweeps`)."""
    parser.addoption("--sweep", action="store_true", help="run every parameter of every test, as `make test-all` does")


def pytest_configure() -> None:
    """Have the garbage collector look for cycles less often than after each 700 new objects, which took a tenth of the
    processor time of tests that render pages.
    """
    gc.set_threshold(50_000, 20, 20)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Let each worker begin with another share of the modules when everything runs.

    In a fresh clone, pytest rewrites the assertions of each module and stores the result for the
    next process. If all workers began with the same modules, each would rewrite all of them.
    """
    config = session.config
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    first, workers = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for path in sorted(TESTS.rglob("test_*.py"))[first::workers]:
        with suppress(Exception):  # the collection tells of a module that cannot be imported
            import_module(".".join(path.relative_to(TESTS.parent).with_suffix("").parts))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave sweep cases out unless asked for. Begin with the longest files. Refuse tests that would truncate tables:
    the database does.
    """
    if not config.getoption("sweep"):
        swept = [item for item in items if item.get_closest_marker("sweep")]
        config.hook.pytest_deselected(items=swept)
        items[:] = [item for item in items if not item.get_closest_marker("sweep")]
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    for item in items:
        marker = item.get_closest_marker("django_db")
        if marker and (marker.kwargs.get("transaction") or marker.args):
            raise pytest.UsageError(f"{item.nodeid}: transactional tests use the fixture cloned_db")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown() -> Iterator[None]:
    """Let one test whose database refuses what it has written fail alone, and not all later ones of the process."""
    try:
        yield
    finally:
        databases.allow_connections()


def pytest_collection_finish() -> None:
    """Have the garbage collector leave out what stays until the end: it would walk through thousands of tests again and
    again, half a second each time.
    """
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """Stop the servers and wait for it, unless other workers still use them; `tests.settings` removes the rest."""
    embedded.leave(Path(os.environ["SABOT_TEST_VAR"]))
