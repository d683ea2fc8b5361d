"""The database server of a test run: a migrated template and clones of it (10 to 30 ms each)."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis
from django.conf import settings
from django.core.management import call_command
from django.db import connections, transaction
from django.test import override_settings
from psycopg.sql import SQL, Identifier

from ops.embedded import Addresses, Purpose, ensure_running
from ops.embedded.paths import OWNER_ROLE, SUPERUSER, VALKEY_DATABASES, WEB_ROLE
from ops.embedded.users import FileLock
from ops.postgresql.roles import GROUP, close_to_public

TEMPLATE = "template_of_tests"
IDS_APART = 10_000  # more rows than a test creates in one table
# Functions of the owner for tests. The first creates staff members, which otherwise takes two others
# who request and approve it. The second and third run any statement as the owner, and return how many
# rows it changed, or its rows (`tests.harness.owner`). The others write stakes, payouts and holds without
# a game, which only functions of the games do, and bets through the view that shows them. No migration
# has them, so no installation has them.
EMPLOY = f"""
CREATE SCHEMA tests;
CREATE FUNCTION tests.employ(login bigint, called text, roles text[], same_person uuid) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT players_staff_found(login, called, roles, same_person);
$$;
CREATE FUNCTION tests.as_owner(statement text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    rows bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$;
CREATE FUNCTION tests.rows_as_owner(query text) RETURNS SETOF json
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    RETURN QUERY EXECUTE format('SELECT row_to_json(r) FROM (%s) AS r', query);
END $$;
CREATE FUNCTION tests.write(journals jsonb)
RETURNS TABLE (place integer, journal bigint, repeated boolean, account bigint, balance bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT * FROM wallet_write(journals, false);
$$;
CREATE FUNCTION tests.settle_holds(round uuid, stake_key uuid, settle_key uuid, accounts bigint[], paid bigint[])
RETURNS TABLE (account bigint, balance bigint)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT * FROM wallet_settle_holds(round, stake_key, settle_key, accounts, paid);
$$;
CREATE FUNCTION tests.hold(round uuid, account bigint, amount bigint) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT wallet_set_hold(round, account, amount);
$$;
CREATE FUNCTION tests.release_holds(round uuid) RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT wallet_delete_holds(round);
$$;
CREATE FUNCTION tests.open_table_account(owner bigint, kind text, currency text, mode text, subject_id uuid)
RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT wallet_open_table_account(owner, kind, currency, mode, subject_id);
$$;
CREATE FUNCTION tests.change_wager() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    part bigint := coalesce(NEW.participation_id, OLD.participation_id);
BEGIN
    UPDATE games_participation AS p SET bets = w.bets, stakes = w.stakes, payouts = w.payouts,
        commissions = w.commissions, results = w.results
    FROM (
        SELECT coalesce(array_agg(w.bet ORDER BY w.id), '{{}}') AS bets,
            coalesce(array_agg(w.stake ORDER BY w.id), '{{}}') AS stakes,
            coalesce(array_agg(w.payout ORDER BY w.id), '{{}}') AS payouts,
            coalesce(array_agg(w.commission ORDER BY w.id), '{{}}') AS commissions,
            coalesce(array_agg(w.result ORDER BY w.id), '{{}}') AS results
        FROM (
            SELECT id, bet, stake, payout, commission, result FROM games_wager
            WHERE participation_id = part AND (OLD IS NULL OR bet <> OLD.bet)
            UNION ALL
            SELECT coalesce(OLD.id, 64 * part + 63), NEW.bet, NEW.stake, NEW.payout, NEW.commission, NEW.result
            WHERE NEW IS DISTINCT FROM NULL
        ) AS w
    ) AS w WHERE p.id = part;
    RETURN coalesce(NEW, OLD);
END $$;
CREATE TRIGGER games_wager_is_changed INSTEAD OF INSERT OR UPDATE OR DELETE ON games_wager
    FOR EACH ROW EXECUTE FUNCTION tests.change_wager();
GRANT USAGE ON SCHEMA tests TO {GROUP};
"""
# Runs a statement as a superuser without triggers and foreign keys.
UNGUARDED = """
CREATE FUNCTION tests.unguarded(statement text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, public, pg_temp SET session_replication_role = replica AS $$
DECLARE
    rows bigint;
BEGIN
    EXECUTE statement;
    GET DIAGNOSTICS rows = ROW_COUNT;
    RETURN rows;
END $$
"""
SET_IDS_APART = """
SELECT setval(
    format('%%I.%%I', schemaname, sequencename),
    coalesce(last_value, start_value) + %s * row_number() OVER (ORDER BY sequencename))
FROM pg_sequences WHERE schemaname = 'public' AND data_type <> 'smallint'::regtype
"""


@dataclass(frozen=True)
class Database:
    """One database of the run, with its URL for each role."""

    name: str
    addresses: Addresses
    number: int  # selects its own pair of Valkey databases

    @property
    def web_url(self) -> str:
        """URL for the role of web and workers."""
        return self.addresses.database(self.name, WEB_ROLE)

    @property
    def owner_url(self) -> str:
        """URL for the role that owns the tables."""
        return self.addresses.database(self.name, OWNER_ROLE)

    @property
    def superuser_url(self) -> str:
        """URL for the superuser."""
        return self.addresses.database(self.name, SUPERUSER)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that uses this database."""
        return os.environ | {
            "DJANGO_SETTINGS_MODULE": "casino.settings",
            "DATABASE_URL": self.web_url,
            "DATABASE_OWNER_URL": self.owner_url,
            "BROKER_URL": self.broker_url,
            "CACHE_URL": self.cache_url,
        }

    @property
    def broker_url(self) -> str:
        """Broker URL that no other test's worker uses."""
        return self.addresses.broker(self.number)

    @property
    def cache_url(self) -> str:
        """Cache URL that no other test uses."""
        return self.addresses.cache(self.number + 1)


def let_everyone_make_temporary_tables(database: Database) -> None:
    """Grant everyone temporary tables, as PostgreSQL does by default.

    For tests of what still holds on a server where this default was not revoked.
    """
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        owner.execute(SQL("GRANT TEMPORARY ON DATABASE {} TO PUBLIC").format(Identifier(database.name)))


def servers() -> Addresses:
    """Return the servers of this run. The first process that calls this starts them."""
    return ensure_running(settings.VAR_DIR, Purpose.TESTS)


@contextmanager
def empty(name: str) -> Iterator[Database]:
    """Create a database without tables, for restoring a dump; otherwise like `clone`."""
    with clone(name, like="template0") as database:
        yield database


@contextmanager
def clone(name: str, *, like: str = TEMPLATE) -> Iterator[Database]:
    """Clone the migrated template, or the database *like*, which must have no connections.

    Django uses the clone and an empty cache until the block ends; then the clone is dropped.
    """
    addresses = servers()
    _make_template(addresses)
    unique = f"{name}_{secrets.token_hex(4)}"
    database = Database(unique, addresses, _next_number(addresses))
    with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
        superuser.execute(
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY").format(
                Identifier(unique), Identifier(OWNER_ROLE), Identifier(like)
            )
        )  # PostgreSQL's default, copying through the log, takes twice the time
        close_to_public(superuser, unique)  # access rights to a database are not copied with it
        try:
            with pointed_at(unique), override_settings(CACHES=_caches(database)):
                yield database
        finally:
            superuser.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(unique)))


@contextmanager
def filled(fill: Callable[[], object]) -> Iterator[str]:
    """Create a database with the rows that *fill* creates, and yield its name, for `clone`.

    For a module whose tests each need a separate database with the same rows. Django does not
    use it after *fill*.
    """
    before = {alias: connections.settings[alias]["NAME"] for alias in connections}
    with clone("filled") as database:
        fill()
        _point(before)
        yield database.name


def allow_connections() -> None:
    """Lift what Django forbids during a test: connections to other databases than the test's.

    pytest-django lifts it as the last step of taking a test down, and not if an earlier step fails.
    """
    for connection in connections.all(initialized_only=True):
        for name in ("connect", "temporary_connection", "cursor", "chunked_cursor"):
            while hasattr(getattr(connection, name), "wrapped"):
                setattr(connection, name, getattr(connection, name).wrapped)


def demand_untouched(database: Database) -> None:
    """Fail if something was committed to the *database* of tests that roll back."""
    with psycopg.connect(database.superuser_url) as superuser:
        found = superuser.execute("SELECT (SELECT count(*) FROM games_table), (SELECT count(*) FROM players_user)")
        counts = found.fetchone()
        assert counts == (0, 0), f"{counts} tables and people were committed where tests roll back, here or before"


@contextmanager
def damaged(statements: str) -> Iterator[None]:
    """Damage the database as only a superuser without guards can, run the block, and roll back.

    Inside, Django reads with the role of web and workers. This is faster than a clone for each
    damage.
    """
    user = connections.settings["default"]["USER"]
    connections.close_all()
    connections.settings["default"]["USER"] = SUPERUSER
    try:
        with transaction.atomic():
            with connections["default"].cursor() as cursor:
                cursor.execute("SET LOCAL session_replication_role = replica")
                cursor.execute(statements)
                cursor.execute(f"SET LOCAL ROLE {WEB_ROLE}")
            yield
            transaction.set_rollback(True)
    finally:
        connections.close_all()
        connections.settings["default"]["USER"] = user


@contextmanager
def kept_for_several_tests() -> Iterator[None]:
    """Let a fixture of a class or module create rows once for several tests.

    Each test marked ``django_db`` starts with these rows and rolls back only its own. The rows are
    removed at the end. Cannot be combined with `cloned_db`, which uses another database.
    """
    rows = transaction.atomic()
    rows._from_testcase = True  # type: ignore[attr-defined]  # as Django's TestCase sets it for durable blocks
    with rows:
        yield
        transaction.set_rollback(True)


@contextmanager
def pointed_at(name: str) -> Iterator[None]:
    """Let both aliases use database *name* in all threads that connect from now on."""
    before = {alias: connections.settings[alias]["NAME"] for alias in connections}
    _point(dict.fromkeys(connections, name))
    try:
        yield
    finally:
        _point(before)


def _point(names: dict[str, str]) -> None:
    connections.close_all()
    for alias, name in names.items():
        connections.settings[alias]["NAME"] = name


def _next_number(addresses: Addresses) -> int:
    """Return a number for a database, above those of an installation.

    Numbers repeat after two thousand.
    """
    with redis.Redis.from_url(addresses.cache_url) as valkey:
        number = 2 * int(valkey.incr("databases of tests")) % VALKEY_DATABASES or 2
    with redis.Redis.from_url(addresses.cache(number + 1)) as cache:
        cache.flushdb()
    return number


def _caches(database: Database) -> dict[str, dict[str, str]]:
    return {"default": settings.CACHES["default"] | {"LOCATION": database.cache_url}}


def _make_template(addresses: Addresses) -> None:
    """Migrate the template unless a process of this run has; an incomplete one is recreated."""
    with (
        FileLock(Path(settings.VAR_DIR, "run", "template.lock")).lock(seconds=300),
        psycopg.connect(addresses.superuser_url, autocommit=True) as superuser,
    ):
        found = superuser.execute("SELECT datistemplate FROM pg_database WHERE datname = %s", [TEMPLATE]).fetchone()
        if found == (True,):
            return
        template = Identifier(TEMPLATE)
        if found:
            superuser.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(template))
        superuser.execute(
            SQL("CREATE DATABASE {} OWNER {} TEMPLATE template0").format(template, Identifier(OWNER_ROLE))
        )
        with pointed_at(TEMPLATE):
            call_command("migrate", verbosity=0, interactive=False)
            _set_ids_apart()
            add_functions()
        superuser.execute(SQL("ALTER DATABASE {} IS_TEMPLATE true").format(template))


def trust_what_is_not_committed(database: Database) -> None:
    """Shadow the function of the guard that demands commits, in a database whose tests are all rolled back: they commit
    nothing. The guard itself stays as it is, for those who look at all guards.

    The tests of that guard have separate databases (`tests.games.test_steered_shoes`). Those also have no
    `tests.unguarded`, with which their owner could not restore a dump.
    """
    with psycopg.connect(database.superuser_url) as superuser:
        superuser.execute(
            "CREATE FUNCTION pg_catalog.games_is_committed(wrote xid) RETURNS boolean LANGUAGE sql STABLE"
            " AS 'SELECT true'"
        )
        superuser.execute(UNGUARDED)


def _set_ids_apart() -> None:
    """Start the ids of each table at a different number.

    If a player and their user had the same id by chance, a query that confuses the two would pass.
    """
    with connections["owner"].cursor() as cursor:
        cursor.execute(SET_IDS_APART, [IDS_APART])


def add_functions() -> None:
    """Add the owner's functions for tests: to the template of the clones, or to the house of a drill."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(EMPLOY)
