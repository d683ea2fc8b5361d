"""Houses of the bench's own: servers, durable as in production, settings of production, and players with money.

One run has one pair of servers, whose tables are migrated once: each suite gets a database that is a copy of that one.
"""

import atexit
import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg
import redis
from psycopg.sql import SQL, Identifier

from audit.verification.verify import LOG, TIME, Key
from bench.contest import Unavailable, say
from bench.places import PROJECT, WORK
from ops.backup import database_identity
from ops.embedded import Addresses, EmbeddedError, Purpose, ensure_running, leave
from ops.embedded.paths import DATABASE, OWNER_ROLE
from ops.launcher import ADDRESS
from ops.postgresql.roles import close_to_public

CLIENTS: Final = int(os.environ.get("CLIENTS", "4"))  # of either side
SECONDS_TO_PREPARE: Final = 1800.0  # a year of hours is summed up
MIGRATED: Final = "migrated"
OF_SUITES: Final = "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', %s)"

Environment = Mapping[str, str]


@contextmanager
def servers() -> Iterator[tuple[Path, Addresses]]:
    """PostgreSQL and Valkey with an empty house, migrated, and nothing of an earlier suite; the folder goes when the
    run ends. Raises Unavailable.
    """
    var, addresses = _running()
    with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
        _clear(superuser)
        make_house(superuser, addresses, DATABASE)
        superuser.execute("CHECKPOINT")  # what it took to get here is no load of what is measured
        with redis.Redis.from_url(addresses.cache_url) as valkey:
            valkey.flushall()
        yield var, addresses
        _clear(superuser)


def make_house(superuser: psycopg.Connection, addresses: Addresses, name: str, *, template: str = MIGRATED) -> None:
    """Copy the migrated database, or another one that nobody is in, with what is no part of a copy: who may enter it,
    and that the house is at home.
    """
    names = map(Identifier, (name, OWNER_ROLE, template))
    superuser.execute(SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(*names))
    close_to_public(superuser, name)
    with psycopg.connect(addresses.superuser_url, autocommit=True, dbname=name) as there:
        database_identity.settle_in(there)


def _clear(superuser: psycopg.Connection) -> None:
    for (name,) in superuser.execute(OF_SUITES, [MIGRATED]).fetchall():
        superuser.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@cache
def _running() -> tuple[Path, Addresses]:
    """Start the servers of this run, and make the database that others are copies of. Raises Unavailable."""
    WORK.mkdir(parents=True, exist_ok=True)
    var = Path(tempfile.mkdtemp(prefix="house-", dir=WORK))
    var.chmod(0o755)  # started by root, the servers run as another account
    atexit.register(_close, var)
    try:
        addresses = ensure_running(var, Purpose.BENCH)
    except EmbeddedError as error:
        raise Unavailable(str(error)) from error
    say("Migrating …")
    run(production(var, addresses), "manage.py", "migrate", "--verbosity=0", "--no-input")
    with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
        superuser.execute(SQL("ALTER DATABASE {} RENAME TO {}").format(Identifier(DATABASE), Identifier(MIGRATED)))
    return var, addresses


def _close(var: Path) -> None:
    leave(var)
    shutil.rmtree(var, ignore_errors=True)


def collect_static(environment: Environment) -> None:
    """Put what pages refer to where it is served from, once in a run. Raises Unavailable."""
    if not Path(environment["SABOT_VAR"], "static").exists():
        run(environment, "manage.py", "collectstatic", "--verbosity=0", "--no-input")


def durability(addresses: Addresses) -> str:
    """What a commit means on this server, for both sides."""
    settings = ("server_version", "fsync", "synchronous_commit", "full_page_writes")
    with psycopg.connect(addresses.superuser_url) as connection:
        values = [connection.execute(f"SHOW {name}").fetchone() for name in settings]
    version, *switches = (value[0] for value in values if value)
    said = ", ".join(f"{name} {switch}" for name, switch in zip(settings[1:], switches, strict=True))
    return f"PostgreSQL {version} for both sides: {said}"


def production(var: Path, addresses: Addresses) -> Environment:
    """The environment of a house in production behind a proxy that speaks HTTPS."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "SABOT_VAR": str(var),
        "SABOT_DEMO": "0",
        "DEBUG": "0",
        "HTTPS": "1",
        "TRUST_PROXY": "1",
        "ALLOWED_HOSTS": ADDRESS,
        "SECRET_KEY": secrets.token_urlsafe(64),
        "SEED_KEY": _key(),
        "DOCUMENT_KEY": _key(),
        "PARTNER_KEY": _key(),
        "AUDIT_SIGNER": str(var / "signer" / "socket"),  # where nobody signs: leaves are made all the same
        "AUDIT_KEYS": ",".join(Key("bench.example/log", kind, bytes(32)).vkey for kind in (LOG, TIME)),
        "DATABASE_URL": addresses.database_url,
        "DATABASE_OWNER_URL": addresses.database_owner_url,
        "BROKER_URL": addresses.broker_url,
        "CACHE_URL": addresses.cache_url,
        "FORMS_PER_SECOND": "1000000",  # four players do the work of many
    }


def _key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


def house_in(url: str) -> str:
    """Return the name of the database that an address leads to."""
    found = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    assert isinstance(found, str)
    return found


def settle_in(environment: Environment, *jurisdictions: str) -> list[dict[str, Any]]:
    """Open the tables, and make a player with money in each of these jurisdictions. Raises Unavailable."""
    say(f"Settling {len(jurisdictions)} players in …")
    return _prepared(environment, "bench.people", *jurisdictions)


def fill(environment: Environment, number: int) -> list[dict[str, Any]]:
    """Open the tables, and make so many players with money; return the shared table they bet at. Raises Unavailable."""
    say(f"Filling the house with {number:,} players …")
    return _prepared(environment, "bench.crowd", str(number))


def grow_up(environment: Environment, number: int) -> list[dict[str, Any]]:
    """Do both: so many players, of whom two are settled in. Return these two, and somebody who works there. Raises
    Unavailable.
    """
    say(f"Filling the house with {number:,} players and their staff …")
    return _prepared(environment, "bench.grown", str(number))


def fill_log(environment: Environment, number: int) -> list[dict[str, Any]]:
    """Write so many events and seal them; return the keys of the log and its leaves. Raises Unavailable."""
    say(f"Writing and sealing {number:,} events …")
    return _prepared(environment, "bench.many_events", str(number))


def sum_up(environment: Environment, *which: str) -> None:
    """Sum up every hour of play that is over, as `bench.many_hours` has it. Raises Unavailable."""
    say("Summing up …")
    _prepared(environment, "bench.many_hours", *which)


def _prepared(environment: Environment, module: str, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run(environment, "-m", module, *arguments))
    return found


def run(environment: Environment, *arguments: str) -> bytes:
    """Run Python with these arguments for the house; return what it prints. Raises Unavailable."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        check=False,
        timeout=SECONDS_TO_PREPARE,
    )
    if done.returncode:
        raise Unavailable("the house could not be made ready; why stands above")
    return done.stdout
