"""The write-ahead log, and a standby, restore changes after the last backup, by the exact commands that the handbook
has. The restored server has a new timeline: the house detects that it is not settled.
"""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
import pyrage
import pytest
from pyrage.x25519 import Identity

from ops.backup import activation
from ops.backup.copies import BEGINNING
from ops.embedded import Paths, binaries
from ops.embedded.paths import Account
from ops.embedded.users import make_private
from tests.harness.folders import fresh_folder
from tests.harness.sweeps import sample
from tests.start.support import wait_until

SCRIPT = Path(__file__).resolve().parents[2] / "deploy" / "sealed_file.py"
HANDBOOK = (Path(__file__).resolve().parents[2] / "docs" / "operating.md").read_text()
ARCHIVING = re.findall(r"`(archive_\w+ = [^`]+)`", HANDBOOK)
(COPYING,) = re.findall(r"`([^`]+ seal-output [^`]+)`", HANDBOOK)
(UNPACKING,) = re.findall(r"`([^`]+ \| tar [^`]+)`", HANDBOOK)
(BRINGING_BACK,) = re.findall(r"`(restore_command = [^`]+)`", HANDBOOK)
TRUSTED = ("--auth-local=trust", "--username=postgres")
PYTHON, SEALING = "/srv/sabot/.venv/bin/python", "/srv/sabot/deploy/sealed_file.py"
PLACEHOLDER = "what nobody may read in a copy of the files"
TRANSACTIONS = "SELECT count(*) FROM done"


class Server:
    """The operator's own PostgreSQL server, its archive and its backups."""

    def __init__(self, top: Path, account: Account | None) -> None:
        self.top, self.account = top, account
        for name in ("archive", "backups", "sockets", "keys"):
            make_private(top / name, account)
        identity = Identity.generate()
        (top / "keys" / "recipients").write_text(f"{identity.to_public()}\n")
        (top / "keys" / "identity.txt").write_text(f"# public key: {identity.to_public()}\n{identity}\n")
        shutil.copy(SCRIPT, top / "keys" / "sealed_file.py")
        (top / "keys" / "python").write_text(
            f'#!/bin/sh\nPYTHONPATH={Path(pyrage.__file__).parents[1]} exec {self.python()} "$@"\n'
        )
        for each in (top / "keys").iterdir():
            each.chmod(0o755)

    def python(self) -> str:
        """Return a Python that the server's user may run: that of the tests may be in a home folder."""
        for each in (sys.executable, "/usr/bin/python3"):
            with suppress(OSError):
                if subprocess.run([each, "-c", ""], check=False, **self.as_the_server()).returncode == 0:
                    return each
        raise AssertionError("the server's user has no Python")

    def as_the_server(self) -> dict[str, Any]:
        if self.account is None:
            return {}
        return {"user": self.account.uid, "group": self.account.gid, "extra_groups": []}

    def begin(self) -> None:
        self.run("initdb", f"--pgdata={self.top / 'pg'}", "--encoding=UTF8", "--locale=C", "--no-sync", *TRUSTED)
        lines = [*ARCHIVING, "listen_addresses = ''", f"unix_socket_directories = '{self.top / 'sockets'}'"]
        self.write("postgresql.conf", "\n".join(map(self.placed, lines)))
        self.control("start")

    def placed(self, line: str) -> str:
        """The handbook's folders are these here."""
        keys = f"{self.top}/keys"
        paths = {
            "/archive/": f"{self.top}/archive/",
            "/backups/": f"{self.top}/backups/",
            "/etc/sabot/": f"{keys}/",
            "/run/": f"{keys}/",
            PYTHON: f"{keys}/python",
            SEALING: f"{keys}/sealed_file.py",
            " pg_basebackup ": f" {binaries.client('pg_basebackup')} ",
        }
        for theirs, ours in paths.items():
            line = line.replace(theirs, ours)
        return line

    def write(self, file: str, text: str) -> None:
        path = self.top / "pg" / file
        with path.open("a") as settings:
            settings.write(f"{text}\n")
        if self.account:
            shutil.chown(path, self.account.uid, self.account.gid)

    def control(self, *action: str) -> None:
        log = self.top / "sockets" / "log"
        self.run("pg_ctl", f"--pgdata={self.top / 'pg'}", "--wait", f"--log={log}", *action)

    def run(self, program: str, *arguments: str) -> None:
        self.run_as_it_is([str(binaries.client(program)), *arguments])

    def run_as_it_is(self, command: list[str], folder: Path | None = None) -> None:
        done = subprocess.run(
            command,
            **self.as_the_server(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=folder or self.top,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC"},
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr

    def do(self, statement: str) -> None:
        with self.connect() as connection:
            connection.execute(statement)

    def ask(self, question: str) -> Any:
        with self.connect() as connection:
            row = connection.execute(question).fetchone()
            assert row
            return row[0]

    def connect(self) -> psycopg.Connection:
        return psycopg.connect(f"host={self.top / 'sockets'} user=postgres", autocommit=True)

    def is_home(self) -> bool:
        return self.ask(activation.HERE) == self.ask(activation.SAID)

    def copy_files(self) -> None:
        """Run the nightly commands of the handbook."""
        here = [f"--host={self.top / 'sockets'}", "--username=postgres"]
        self.run_as_it_is([*shlex.split(self.placed(COPYING)), *here])

    def unpack_files(self) -> None:
        """Restore the files as the handbook says."""
        shutil.rmtree(self.top / "pg")
        make_private(self.top / "pg", self.account)
        self.run_as_it_is(["/bin/sh", "-c", self.placed(UNPACKING)], self.top / "pg")


@contextmanager
def a_server() -> Iterator[Server]:
    """A house's server with its archive, at home, and something done in it before and after the files were copied."""
    top = fresh_folder("sabot-wal-")
    account = Paths(top / "var").account
    if account:
        shutil.chown(top, account.uid, account.gid)
    server = Server(top, account)
    try:
        server.begin()
        server.do(f"COMMENT ON DATABASE postgres IS '{server.ask(activation.HERE)}'")
        server.do(f"CREATE TABLE done (n int); CREATE TABLE said AS SELECT '{PLACEHOLDER}'")
        server.copy_files()
        server.do("INSERT INTO done VALUES (1)")
        assert server.is_home()
        yield server
    finally:
        with suppress(AssertionError):  # it may have stopped by itself
            server.control("stop", "--mode=immediate")
        shutil.rmtree(top)


@pytest.fixture
def server() -> Iterator[Server]:
    """A separate server that the test may damage."""
    with a_server() as server:
        yield server


@pytest.fixture(scope="module")
def kept_server() -> Iterator[Server]:
    """One server for the tests that leave it as it is."""
    with a_server() as server:
        yield server


def archive(server: Server) -> None:
    """Wait until all that was done is archived."""
    server.ask("SELECT pg_switch_wal()")  # as it does by itself within archive_timeout
    archived = "SELECT coalesce(last_archived_wal >= '000000010000000000000003', false) FROM pg_stat_archiver"
    wait_until(lambda: server.ask(archived), "nothing is archived")


def test_gli19_b_3_4_brings_back_what_came_after_the_copy_of_the_files(server):
    archive(server)
    server.control("stop", "--mode=immediate")
    server.unpack_files()
    server.write("postgresql.auto.conf", server.placed(BRINGING_BACK))
    server.write("recovery.signal", "")
    server.control("start")
    wait_until(lambda: not server.ask("SELECT pg_is_in_recovery()"), "it takes no writes")
    assert server.ask(TRANSACTIONS) == 1
    assert not server.is_home()


@pytest.mark.sweep
def test_none_of_it_is_there_unencrypted(kept_server):
    kept_server.do(f"INSERT INTO said VALUES ('{PLACEHOLDER}')")
    archive(kept_server)
    copies = [*(kept_server.top / "archive").iterdir(), *(kept_server.top / "backups").iterdir()]
    assert len(copies) > 2
    for each in copies:
        assert each.suffix == ".age"
        assert each.read_bytes().startswith(BEGINNING)
        assert PLACEHOLDER.encode() not in each.read_bytes()


def damage_a_piece(server: Server) -> None:
    last = max(each for each in (server.top / "archive").iterdir() if "backup" not in each.name)
    sealed = bytearray(last.read_bytes())
    sealed[-1] ^= 1
    last.write_bytes(sealed)


def bring_another_key(server: Server) -> None:
    (server.top / "keys" / "identity.txt").write_text(f"{Identity.generate()}\n")


def bring_no_key(server: Server) -> None:
    (server.top / "keys" / "identity.txt").unlink()


@pytest.mark.sweep
@pytest.mark.parametrize("spoil", sample([damage_a_piece, bring_another_key, bring_no_key], 1))
def test_what_cannot_be_opened_stops_it_and_no_older_house_opens(server, spoil):
    archive(server)
    server.control("stop", "--mode=immediate")
    server.unpack_files()
    spoil(server)
    server.write("postgresql.auto.conf", server.placed(BRINGING_BACK))
    server.write("recovery.signal", "")
    with suppress(AssertionError):  # it may answer readers until it comes to that piece
        server.control("start")
    log = server.top / "sockets" / "log"
    wait_until(lambda: "cannot be opened" in log.read_text(), "nothing is missed")
    wait_until(lambda: "database system is shut down" in log.read_text().rpartition("cannot be")[2], "it goes on")
    assert "archive recovery complete" not in log.read_text()


def test_what_is_in_the_archive_is_not_written_over(kept_server):
    archive(kept_server)
    first = min((kept_server.top / "archive").iterdir())
    before = first.read_bytes()
    source = kept_server.top / "keys" / "recipients"
    again = shlex.split(kept_server.placed(f"{PYTHON} {SEALING} seal /etc/sabot/recipients"))
    with pytest.raises(AssertionError, match="FileExistsError"):
        kept_server.run_as_it_is([*again, str(first), str(source)])
    assert first.read_bytes() == before


def test_a_copy_that_fails_leaves_no_file(kept_server):
    target = kept_server.top / "backups" / "other.tar.age"
    command = shlex.split(kept_server.placed(f"{PYTHON} {SEALING} seal-output /etc/sabot/recipients"))
    with pytest.raises(AssertionError, match="failed"):
        kept_server.run_as_it_is([*command, str(target), "/bin/sh", "-c", "echo half; exit 1"])
    assert [each.name for each in (kept_server.top / "backups").iterdir()] == ["base.tar.age"]


@pytest.mark.sweep
def test_a_standby_that_takes_over_is_not_at_home_either(server):
    assert "timeline 00000001" in server.ask(activation.SAID)
    server.control("stop")
    server.unpack_files()
    server.write("standby.signal", "")
    server.write("postgresql.auto.conf", server.placed(BRINGING_BACK))
    server.control("start")
    server.control("promote")
    assert not server.is_home()
