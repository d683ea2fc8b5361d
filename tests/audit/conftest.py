"""Fixtures for tests of tampering with the event log."""

from io import StringIO

import psycopg
import pytest
from django.core.management import CommandError, call_command

from tests.audit import sealed
from tests.audit.signing import Pens
from tests.harness import databases


@pytest.fixture(scope="module", autouse=True)
def emptied(django_db_setup):
    """Empty the log first: refusals recorded in their own transactions outlive earlier tests."""
    with psycopg.connect(django_db_setup.superuser_url) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("TRUNCATE audit_event, audit_pending, audit_personal, audit_leaf, audit_tile CASCADE")
        superuser.execute("TRUNCATE audit_checkpoint, audit_cosignature, audit_delivery")


@pytest.fixture(scope="module")
def pens():
    return Pens()


@pytest.fixture(scope="module")
def base(django_db_setup, django_db_blocker, pens):
    """Yield an untouched database. Nobody is connected to it, so that it can be copied."""
    with django_db_blocker.unblock(), databases.clone("audited") as database:
        sealed.fill(database, pens)
        yield database


@pytest.fixture
def house(base, django_db_blocker):
    """Yield a copy of the database to tamper with."""
    with django_db_blocker.unblock(), databases.clone("tampered", like=base.name) as database:
        yield database


@pytest.fixture
def tamper(house):
    """Yield a superuser's connection with triggers and constraints off."""
    with psycopg.connect(house.superuser_url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("ALTER TABLE audit_personal DROP CONSTRAINT IF EXISTS audit_personal_is_salted")
        yield connection


@pytest.fixture
def check(tmp_path, pens, settings):
    """Return a function that runs the command and returns its findings.

    No event is so old that a checkpoint must cover it, however long the tests take.
    """
    (tmp_path / "keys").write_text(pens.keys)
    settings.AUDIT_LAG_SECONDS = 86_400

    def run(*arguments, keys=tmp_path / "keys"):
        out, refusal = StringIO(), None
        try:
            call_command("verify_house", "--keys", str(keys), *map(str, arguments), stdout=out)
        except CommandError as error:
            refusal = error
        said = out.getvalue().splitlines()
        if refusal is None:
            assert said[-1].startswith("The log is verified: ")
            return []
        assert refusal.returncode == 1
        assert str(refusal) == f"The log failed verification: {len(said)} findings, listed above."
        return said

    return run
