"""pgbench, the yardstick of everything that writes to PostgreSQL: its TPC-B, one transfer of five statements each."""

import re
import subprocess
from pathlib import Path
from typing import Final

import psycopg
from psycopg.sql import SQL, Identifier

from bench.contest import Unavailable, say
from ops.embedded import Addresses
from ops.embedded.binaries import client
from ops.embedded.paths import PORT, SUPERUSER

DATABASE: Final = "pgbench"
THREADS: Final = 2
FEW: Final = 100  # transactions of each client, where it is only to be seen that it runs
GRACE_SECONDS: Final = 60.0

_RATE: Final = re.compile(r"^tps = ([\d.]+) ", re.MULTILINE)


class PgBench:
    """pgbench with so many clients, on a database of its own beside the house's."""

    def __init__(self, addresses: Addresses, clients: int) -> None:
        self._addresses = addresses
        self._clients = clients

    def prepare(self) -> None:
        """Make its database and tables. Raises Unavailable."""
        scale = 2 * self._clients + 2  # branches: more than clients, or they would wait for each other
        say(f"Making pgbench's tables, scale {scale} …")
        with psycopg.connect(self._addresses.superuser_url, autocommit=True) as connection:
            connection.execute(SQL("CREATE DATABASE {}").format(Identifier(DATABASE)))
        self._run("--initialize", "--quiet", f"--scale={scale}")

    def rate(self, seconds: float) -> float:
        """Transactions a second; pgbench counts time in whole seconds, and does a few for less than one. Raises
        Unavailable.
        """
        long = f"--time={round(seconds)}" if seconds >= 1 else f"--transactions={FEW}"
        said = self._run("--no-vacuum", f"--client={self._clients}", f"--jobs={THREADS}", long)
        found = _RATE.search(said)
        if found is None:
            raise Unavailable(f"pgbench printed no rate: {said}")
        return float(found.group(1))

    def _run(self, *options: str) -> str:
        program: Path = client("pgbench")
        login = (f"--host={self._addresses.sockets}", f"--port={PORT}", f"--username={SUPERUSER}")
        done = subprocess.run(
            [program, *login, *options, DATABASE],
            capture_output=True,
            text=True,
            check=False,
            timeout=GRACE_SECONDS * 2,
        )
        if done.returncode:
            raise Unavailable(f"pgbench failed: {done.stderr.strip()}")
        return done.stdout
