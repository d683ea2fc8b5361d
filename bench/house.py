"""Solo rounds a second, at the service and over HTTP, against pgbench's TPC-B on the same PostgreSQL.

The bench has servers of its own, durable as in production, and a house on production settings; four players in
processes of their own play `baccarat` for real money, as pgbench's four clients do their transfers.
"""

import os
import subprocess
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.pgbench import PgBench
from bench.places import PROJECT
from bench.servers import CLIENTS, Environment, durability, production, servers, settle_in
from bench.team import team
from casino.embedded.children import Program, last_lines, spawn
from casino.launcher import listening_socket, web_arguments

SECONDS_TO_STOP: Final = 10.0


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Start servers, settle players in, and clear all of it away afterwards. Raises Unavailable."""
    with servers() as (var, addresses), ExitStack() as open_things:
        say(durability(addresses))
        environment = production(var, addresses)
        people = settle_in(environment, *["SE"] * CLIENTS)
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
