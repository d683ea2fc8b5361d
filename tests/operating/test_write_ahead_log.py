"""The write-ahead log, and a standby, bring back what came after the last backup, by the very lines that the handbook
has. What they bring back is another timeline: the house knows that nobody has settled it.
"""

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from casino.backup import home
from casino.embedded import Places, binaries
from casino.embedded.folders import make_private
from casino.embedded.places import Account
from tests.harness.folders import fresh_folder
from tests.start.support import wait_until

HANDBOOK = (Path(__file__).resolve().parents[2] / "docs" / "operating.md").read_text()
ARCHIVING = re.findall(r"`(archive_\w+ = [^`]+)`", HANDBOOK)
(COPYING,) = re.findall(r"`(pg_basebackup [^`]+)`", HANDBOOK)
(BRINGING_BACK,) = re.findall(r"`(restore_command = [^`]+)`", HANDBOOK)
TRUSTED = ("--auth-local=trust", "--username=postgres")
TRANSACTIONS = "SELECT count(*) FROM done"


class Server:
    """A PostgreSQL of the operator's own, its archive and its backups."""

    def __init__(self, top: Path, account: Account | None) -> None:
        self.top, self.account = top, account
        for name in ("archive", "backups", "sockets"):
            make_private(top / name, account)

    def begin(self) -> None:
        self.run("initdb", f"--pgdata={self.top / 'pg'}", "--encoding=UTF8", "--locale=C", "--no-sync", *TRUSTED)
        lines = [*ARCHIVING, "listen_addresses = ''", f"unix_socket_directories = '{self.top / 'sockets'}'"]
        self.write("postgresql.conf", "\n".join(map(self.placed, lines)))
        self.control("start")

    def placed(self, line: str) -> str:
        """The handbook's folders are these here."""
        return line.replace("/archive/", f"{self.top}/archive/").replace("/backups/", f"{self.top}/backups/")

    def write(self, file: str, text: str) -> None:
        path = self.top / "pg" / file
        with path.open("a") as settings:
            settings.write(f"{text}\n")
        if self.account:
            shutil.chown(path, self.account.uid, self.account.gid)

    def control(self, *deed: str) -> None:
        log = self.top / "sockets" / "log"
        self.run("pg_ctl", f"--pgdata={self.top / 'pg'}", "--wait", f"--log={log}", *deed)

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [binaries.client(program), *arguments],
            user=self.account.uid if self.account else None,
            group=self.account.gid if self.account else None,
            extra_groups=[] if self.account else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            cwd=self.top,
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
        return self.ask(home.HERE) == self.ask(home.SAID)

    def copy_files(self) -> None:
        """What the handbook says is done every night."""
        program, *arguments = shlex.split(self.placed(COPYING))
        self.run(program, *arguments, f"--host={self.top / 'sockets'}", "--username=postgres")


@pytest.fixture
def server() -> Iterator[Server]:
    """A house's server with its archive, at home, and something done in it before and after the files were copied."""
    top = fresh_folder("sabot-wal-")
    account = Places(top / "var").account
    if account:
        shutil.chown(top, account.uid, account.gid)
    server = Server(top, account)
    try:
        server.begin()
        server.do(f"COMMENT ON DATABASE postgres IS '{server.ask(home.HERE)}'")
        server.do("CREATE TABLE done (n int)")
        server.copy_files()
        server.do("INSERT INTO done VALUES (1)")
        assert server.is_home()
        yield server
    finally:
        server.control("stop", "--mode=immediate")
        shutil.rmtree(top)


def test_brings_back_what_came_after_the_copy_of_the_files(server):
    server.ask("SELECT pg_switch_wal()")  # as it does by itself within archive_timeout
    archived = "SELECT coalesce(last_archived_wal >= '000000010000000000000003', false) FROM pg_stat_archiver"
    wait_until(lambda: server.ask(archived), "nothing is archived")
    server.control("stop", "--mode=immediate")
    shutil.rmtree(server.top / "pg")
    (server.top / "backups" / "base").rename(server.top / "pg")
    server.write("postgresql.auto.conf", server.placed(BRINGING_BACK))
    server.write("recovery.signal", "")
    server.control("start")
    wait_until(lambda: not server.ask("SELECT pg_is_in_recovery()"), "it takes no writes")
    assert server.ask(TRANSACTIONS) == 1
    assert not server.is_home()


def test_a_standby_that_takes_over_is_not_at_home_either(server):
    copy = server.top / "backups" / "base"
    assert "timeline 00000001" in server.ask(home.SAID)
    server.control("stop")
    shutil.rmtree(server.top / "pg")
    copy.rename(server.top / "pg")
    server.write("standby.signal", "")
    server.write("postgresql.auto.conf", server.placed(BRINGING_BACK))
    server.control("start")
    server.control("promote")
    assert not server.is_home()
