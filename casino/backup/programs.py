"""PostgreSQL's own programs for archives, as the owner of the tables. They come with the embedded server, whichever
server the house uses; theirs read and write every version up to their own.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from psycopg.conninfo import make_conninfo

from casino.backup.errors import NotReady, ProgramFailed
from casino.embedded import binaries

OWNER: Final = "owner"
OURS: Final = ("server_side_binding", "prepare_threshold", "cursor_factory", "context", "client_encoding")
"""What Django tells psycopg and no other program understands."""
OTHERS: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
"""
WHICH: Final = """
    SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()) FROM pg_control_system()
"""
VARIABLES: Final = {DEFAULT_DB_ALIAS: "DATABASE_URL", OWNER: "DATABASE_OWNER_URL"}
LAST_WORDS: Final = 3  # lines of what a program says that are passed on


def demand_owner() -> None:
    """See that the owner of the tables can log in, to the very database that the house logs in to: what is put up in
    one would be settled in the other. Raises NotReady.
    """
    if not settings.DATABASE_OWNER_URL:
        raise NotReady("Set DATABASE_OWNER_URL: only whoever owns the database copies it or puts it up.")
    if _which(OWNER) != _which(DEFAULT_DB_ALIAS):
        raise NotReady("DATABASE_URL and DATABASE_OWNER_URL are two databases: set both to the one that is meant.")


def demand_alone() -> None:
    """Raises NotReady where web, workers or beat are at work in the database."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(OTHERS)
        (others,) = cursor.fetchone()
    if others:
        raise NotReady(f"{others} connections of web, workers or beat are at work in this database: stop them first.")


def run(name: str, *arguments: str | Path, is_connected: bool = False) -> None:
    """Run one of them to its end, on the owner's database where *is_connected*. Raises ProgramFailed."""
    with _started(name, *arguments, is_connected=is_connected) as process:
        _, said = process.communicate()
        _demand_success(name, process.returncode, said)


def rows(archive: Path, table: str) -> Iterator[list[str]]:
    """Yield the rows of a small table in an archive, as text. Raises ProgramFailed."""
    wanted = ("--data-only", f"--table={table}", "--file=-", str(archive))
    with _started("pg_restore", *wanted, is_connected=False) as process:
        printed, said = process.communicate()
        _demand_success("pg_restore", process.returncode, said)
    lines = iter(printed.splitlines())
    for line in lines:
        if line.startswith("COPY "):
            break
    for line in lines:
        if line == r"\.":
            return
        yield line.split("\t")


@contextmanager
def _started(name: str, *arguments: str | Path, is_connected: bool) -> Iterator["subprocess.Popen[str]"]:
    address, environment = _address() if is_connected else ("", {})
    process = subprocess.Popen(
        [binaries.client(name), *([f"--dbname={address}"] if address else []), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LC_ALL": "C", **environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _which(alias: str) -> object:
    """Return what no other database has, whichever way leads to it. Raises NotReady."""
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(WHICH)
            return cursor.fetchone()
    except DatabaseError as error:
        raise NotReady(f"The database of {VARIABLES[alias]} does not answer: {error}") from error


def _address() -> tuple[str, Mapping[str, str]]:
    """Return how the owner connects, and the password apart from it: others may see the list of processes."""
    given = connections[OWNER].get_connection_params()
    password = given.pop("password", None)
    address = make_conninfo(**{name: value for name, value in given.items() if name not in OURS})
    return address, {"PGPASSWORD": password} if password else {}


def _demand_success(name: str, status: int, said: str) -> None:
    if status:
        words = [line for line in said.strip().splitlines() if line][-LAST_WORDS:]
        raise ProgramFailed(f"{name} ended with status {status}: " + " ".join(words))
