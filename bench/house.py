"""Solo rounds a second, at the service and over HTTP, against pgbench's TPC-B on the same PostgreSQL.

The bench has servers of its own, durable as in production, and a house on production settings; four players in
processes of their own play `baccarat` for real money, as pgbench's four clients do their transfers.
"""

import base64
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import psycopg

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.pgbench import PgBench
from bench.places import PROJECT, WORK
from bench.team import team
from casino.embedded import Addresses, EmbeddedError, Purpose, ensure_running, leave
from casino.embedded.children import Program, last_lines, spawn
from casino.launcher import ADDRESS, listening_socket, web_arguments

CLIENTS: Final = 4
SECONDS_TO_PREPARE: Final = 120.0
SECONDS_TO_STOP: Final = 10.0

Environment = Mapping[str, str]


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Start servers, settle players in, and clear all of it away afterwards. Raises Unavailable."""
    with _servers() as (var, addresses), ExitStack() as open_things:
        say(_durability(addresses))
        environment = _production(var, addresses)
        people = _settle_in(environment)
        pgbench = PgBench(addresses, CLIENTS)
        pgbench.prepare()
        ours: dict[str, Rate] = {}
        if "solo_service" in names:
            ours["solo_service"] = open_things.enter_context(team("service", people, environment))
        if "solo_http" in names:
            port = open_things.enter_context(_web(var, environment))
            ours["solo_http"] = open_things.enter_context(team("http", people, environment, str(port)))
        yield Contest(pgbench.rate, ours)


@contextmanager
def _servers() -> Iterator[tuple[Path, Addresses]]:
    """PostgreSQL and Valkey in a folder that goes with them."""
    WORK.mkdir(parents=True, exist_ok=True)
    var = Path(tempfile.mkdtemp(prefix="house-", dir=WORK))
    var.chmod(0o755)  # started by root, the servers run as another account
    try:
        yield var, ensure_running(var, Purpose.BENCH)
    except EmbeddedError as error:
        raise Unavailable(str(error)) from error
    finally:
        leave(var)
        shutil.rmtree(var, ignore_errors=True)


def _durability(addresses: Addresses) -> str:
    """What a commit means on this server, for both sides."""
    settings = ("server_version", "fsync", "synchronous_commit", "full_page_writes")
    with psycopg.connect(addresses.superuser_url) as connection:
        values = [connection.execute(f"SHOW {name}").fetchone() for name in settings]
    version, *switches = (value[0] for value in values if value)
    said = ", ".join(f"{name} {switch}" for name, switch in zip(settings[1:], switches, strict=True))
    return f"PostgreSQL {version} for both sides: {said}"


def _production(var: Path, addresses: Addresses) -> Environment:
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
        "SEED_KEY": base64.urlsafe_b64encode(secrets.token_bytes(32)).decode(),
        "DATABASE_URL": addresses.database_url,
        "DATABASE_OWNER_URL": addresses.database_owner_url,
        "BROKER_URL": addresses.broker_url,
        "CACHE_URL": addresses.cache_url,
        "FORMS_PER_SECOND": "1000000",  # four players do the work of many
    }


def _settle_in(environment: Environment) -> list[dict[str, Any]]:
    """Migrate, open the tables, and make players with money. Raises Unavailable."""
    say("Settling four players in …")
    done = subprocess.run(
        [sys.executable, "-m", "bench.people", str(CLIENTS)],
        cwd=PROJECT,
        env=environment,
        stdout=subprocess.PIPE,
        check=False,
        timeout=SECONDS_TO_PREPARE,
    )
    if done.returncode:
        raise Unavailable("the house could not be made ready; why stands above")
    people: list[dict[str, Any]] = json.loads(done.stdout)
    return people


@contextmanager
def _web(var: Path, environment: Environment) -> Iterator[int]:
    """The web server as production starts it, a process for each processor; yields its port. Whoever asks first waits
    until it is there.
    """
    log = var / "log" / "web.log"
    with listening_socket(0) as listening:
        port: int = listening.getsockname()[1]
        web = Program(
            name="Web",
            arguments=web_arguments(listening.fileno()),
            log=log,
            environment=environment,
            folder=PROJECT,
            inherited=(listening.fileno(),),
        )
        processes = [spawn(web) for _ in os.sched_getaffinity(0)]
    try:
        yield port
    except Unavailable:
        say(last_lines(log, 20))
        raise
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            _wait_for_the_end(process)


def _wait_for_the_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


SUITE: Final = Suite(
    about="Solo rounds, four players at once, against pgbench's TPC-B with four clients",
    unit="rounds/s, transactions/s",
    aims={"solo_service": 0.4, "solo_http": 0.2},
    open=open_contest,
)
