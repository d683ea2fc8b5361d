"""PostgreSQL's archive programs, run as the owner of the tables. The bundled ones are used with any
server: they read and write every version up to their own.
"""

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, Final

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections
from psycopg.conninfo import make_conninfo

from ops.embedded import binaries


class BackupError(Exception):
    """Base class of all errors of this package."""


class CannotWrite(BackupError):
    """The file cannot be written."""


class CannotRead(BackupError):
    """The file is not a backup, or is damaged."""


class OfAnotherRelease(BackupError):
    """The backup was made by a newer release."""


class NotEmpty(BackupError):
    """The database is not empty."""


class NotReady(BackupError):
    """Something is missing, or other processes use the database."""


class WrongKey(BackupError):
    """A configured key is not the one that the data was encrypted with."""


class ProgramFailed(BackupError):
    """A PostgreSQL program failed; the message is the end of its output."""


OWNER: Final = "owner"
OURS: Final = ("server_side_binding", "prepare_threshold", "cursor_factory", "context", "client_encoding")
"""Connection options of Django that other programs do not support."""
OTHERS: Final = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
"""
WHICH: Final = """
    SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database()) FROM pg_control_system()
"""
VARIABLES: Final = {DEFAULT_DB_ALIAS: "DATABASE_URL", OWNER: "DATABASE_OWNER_URL"}
LAST_LINES: Final = 3  # lines of a program's output that an error contains


def demand_owner() -> None:
    """Check that the owner of the tables can log in, and to the same database as web and workers:
    otherwise one would be restored and another activated. Raises NotReady.
    """
    if not settings.DATABASE_OWNER_URL:
        raise NotReady("Set DATABASE_OWNER_URL: only the database owner can back up or restore.")
    if _which(OWNER) != _which(DEFAULT_DB_ALIAS):
        raise NotReady("DATABASE_URL and DATABASE_OWNER_URL name different databases. Set both to the same one.")


def demand_alone() -> None:
    """Raise NotReady where web, workers or beat use the database."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(OTHERS)
        (others,) = cursor.fetchone()
    if others:
        raise NotReady(f"{others} connections of web, workers or beat use this database. Stop them first.")


class Program:
    """A running program, with pipes for `stdin` and `stdout` where requested."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
        self._name, self._process, self._said = name, process, said

    @property
    def stdin(self) -> BinaryIO:
        """The program's standard input."""
        return self._process.stdin  # type: ignore[return-value]  # there is a pipe

    @property
    def stdout(self) -> BinaryIO:
        """The program's standard output."""
        return self._process.stdout  # type: ignore[return-value]

    def end(self) -> None:
        """Close its input and wait for its end. Raises ProgramFailed."""
        if self._process.stdin:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        status = self._process.wait()
        if status:
            self._said.seek(0)
            lines = [line for line in self._said.read().decode(errors="replace").strip().splitlines() if line]
            raise ProgramFailed(f"{self._name} ended with status {status}: " + " ".join(lines[-LAST_LINES:]))


def run(name: str, *arguments: str | Path, is_connected: bool = False) -> None:
    """Run a program to its end, on the owner's database if *is_connected*. Raises ProgramFailed."""
    with started(name, *arguments, is_connected=is_connected) as program:
        program.end()


def run_on(
    archive: Callable[[BinaryIO], object],
    *arguments: str | Path,
    is_connected: bool = False,
    printed: IO[bytes] | None = None,
) -> None:
    """Run pg_restore on what *archive* writes, with its output in *printed* if given. Raises
    ProgramFailed, and whatever *archive* raises. In that case it is killed before its input ends,
    so that it never takes a partial archive for a complete one.
    """
    with started("pg_restore", *arguments, is_connected=is_connected, reads=True, printed=printed) as program:
        with suppress(BrokenPipeError):  # it has all that it needs, or reports why it stopped reading
            archive(program.stdin)
        program.end()


def rows(archive: Callable[[BinaryIO], object], table: str) -> Iterator[list[str]]:
    """Yield the rows of a small table in an archive, as text. Raises ProgramFailed, and what *archive* raises."""
    with tempfile.TemporaryFile() as printed:
        run_on(archive, "--data-only", f"--table={table}", "--file=-", printed=printed)
        printed.seek(0)
        lines = iter(printed.read().decode().splitlines())
    for line in lines:
        if line.startswith("COPY "):
            break
    for line in lines:
        if line == r"\.":
            return
        yield line.split("\t")


@contextmanager
def started(
    name: str,
    *arguments: str | Path,
    is_connected: bool = False,
    reads: bool = False,
    writes: bool = False,
    printed: IO[bytes] | None = None,
) -> Iterator[Program]:
    """Start a program, on the owner's database if *is_connected*; it is killed if still running after the block."""
    address, environment = _address() if is_connected else ("", {})
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [binaries.client(name), *([f"--dbname={address}"] if address else []), *arguments],
            stdin=subprocess.PIPE if reads else subprocess.DEVNULL,
            stdout=subprocess.PIPE if writes else printed or subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, "LC_ALL": "C", **environment},
        )
        try:
            yield Program(name, process, said)
        finally:
            if process.poll() is None:
                process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with suppress(OSError):
                        pipe.close()
            process.wait()


def _which(alias: str) -> object:
    """Return an identity of the database that does not depend on how it is reached. Raises NotReady."""
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute(WHICH)
            return cursor.fetchone()
    except DatabaseError as error:
        raise NotReady(f"The database of {VARIABLES[alias]} does not answer: {error}") from error


def _address() -> tuple[str, Mapping[str, str]]:
    """Return the owner's connection string, and the password separately, because process lists show arguments."""
    given = connections[OWNER].get_connection_params()
    password = given.pop("password", None)
    address = make_conninfo(**{name: value for name, value in given.items() if name not in OURS})
    return address, {"PGPASSWORD": password} if password else {}
