"""A streaming replica of the test database server, which tests can stop, freeze or delay."""

import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from django.db import connections

from audit import replica as reading
from ops.embedded import Paths, binaries
from ops.embedded.users import make_private
from tests.harness import databases
from tests.harness.databases import Database
from tests.harness.folders import fresh_folder
from tests.start.support import wait_until

# The primary keeps the log that the replica has not received; a busy primary would remove it while
# the replica is stopped.
SLOT = "followed_by_tests"
# As docs/operating.md has it, and as on the primary: without the feedback the primary's vacuum would
# cancel what the replica is asked.
SETTINGS = {
    "max_connections": 200,
    "fsync": "off",
    "hot_standby_feedback": "on",
    "max_standby_streaming_delay": "2s",
    "wal_receiver_status_interval": "1s",
    "wal_retrieve_retry_interval": 100,
}


class Replica:
    """A server that follows the primary, in its own folder."""

    def __init__(self, top: Path, source: Path) -> None:
        self.top, self.account = top, Paths(top / "var").account
        if self.account:
            shutil.chown(top, self.account.uid, self.account.gid)
        make_private(top / "sockets", self.account)
        copy = ("--checkpoint=fast", "--no-sync", "--write-recovery-conf", "--create-slot", f"--slot={SLOT}")
        self._run("pg_basebackup", f"--pgdata={top / 'pg'}", f"--host={source}", "--username=postgres", *copy)
        self.start()

    @property
    def sockets(self) -> Path:
        """The folder of its socket."""
        return self.top / "sockets"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = {**SETTINGS, "listen_addresses": "''", "unix_socket_directories": f"'{self.sockets}'"}
        said = " ".join(f"-c {name}={value}" for name, value in options.items())
        self._control("start", f"--log={self.sockets / 'log'}", f"--options={said}")

    def stop(self) -> None:
        """Kill it without a shutdown."""
        self._control("stop", "--mode=immediate")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop the process for a while; the kernel still accepts data, as if a disk hangs."""
        pid = int((self.top / "pg" / "postmaster.pid").read_text().split()[0])
        programs = [psutil.Process(pid), *psutil.Process(pid).children()]
        for each in programs:
            each.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for each in programs:
                each.send_signal(signal.SIGCONT)

    @contextmanager
    def behind(self) -> Iterator[None]:
        """Pause replay for a while, so that the replica does not have new changes."""
        self.ask("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.ask("SELECT pg_get_wal_replay_pause_state()") == "paused", "replay goes on")
        try:
            yield
        finally:
            self.go_on()

    def go_on(self) -> None:
        """Resume replay."""
        self.ask("SELECT pg_wal_replay_resume()")

    def ask(self, question: str, database: str = "postgres") -> Any:
        """Query it as the superuser."""
        address = f"host={self.sockets} user=postgres dbname={database}"
        with psycopg.connect(address, autocommit=True) as connection:
            row = connection.execute(question).fetchone()
            return row[0] if row else None

    def catch_up(self, primary: Database) -> None:
        """Wait until it has replayed everything that was committed."""
        with psycopg.connect(primary.superuser_url) as connection:
            row = connection.execute("SELECT pg_current_wal_insert_lsn()::text").fetchone()
        assert row
        has = f"SELECT pg_last_wal_replay_lsn() >= '{row[0]}'"
        try:
            wait_until(lambda: self.ask(has), "the replica stays behind")
        except AssertionError as late:
            late.add_note((self.sockets / "log").read_text(errors="replace")[-3000:])
            raise

    def _control(self, action: str, *more: str) -> None:
        self._run("pg_ctl", f"--pgdata={self.top / 'pg'}", "--wait", *more, action)

    def _run(self, program: str, *arguments: str) -> None:
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
            timeout=180,
        )
        assert done.returncode == 0, done.stderr


def _is_dropped(superuser: psycopg.Connection[Any]) -> bool:
    """Drop the slot; return False if the primary has not noticed yet that it is unused."""
    superuser.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s AND NOT active",
        [SLOT],
    )
    return not superuser.execute("SELECT FROM pg_replication_slots WHERE slot_name = %s", [SLOT]).fetchone()


@pytest.fixture(scope="module")
def streaming() -> Iterator[Replica]:
    """A replica of the database server of this run."""
    top = fresh_folder("sabot-replica-")
    try:
        replica = Replica(top, databases.servers().sockets)
        yield replica
        replica.stop()
    finally:
        with psycopg.connect(databases.servers().superuser_url, autocommit=True) as superuser:
            wait_until(lambda: _is_dropped(superuser), "somebody follows by the slot of the replica")
        shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def replica(streaming: Replica, cloned_db: Database) -> Iterator[Replica]:
    """The replica with the test's own database, configured in the settings of this process."""
    streaming.catch_up(cloned_db)
    like = connections.settings["default"]
    options = like["OPTIONS"] | {"connect_timeout": 2, "options": "-c default_transaction_read_only=on"}
    more = {"HOST": str(streaming.sockets), "OPTIONS": options, "CONN_HEALTH_CHECKS": False}
    connections.settings[reading.ALIAS] = like | more
    reading.MONITOR.forget()
    try:
        yield streaming
    finally:
        connections[reading.ALIAS].close()
        del connections[reading.ALIAS]
        del connections.settings[reading.ALIAS]
        reading.MONITOR.forget()
