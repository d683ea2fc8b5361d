"""Solo rounds a second, at the service, over HTTP and through the API, and bets a second at a shared table over HTTP,
against pgbench's TPC-B on the same PostgreSQL.

The bench has servers of its own, durable as in production, and a house on production settings; four players in
processes of their own play `baccarat` for real money, as pgbench's four clients do their transfers.
"""

import os
import subprocess
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.pgbench import PgBench
from bench.places import PROJECT
from bench.servers import CLIENTS, Environment, collect_static, durability, production, servers, settle_in
from bench.team import team
from ops.embedded.children import Program, last_lines, spawn
from ops.fork_server import web_arguments
from ops.launcher import listening_socket

SECONDS_TO_STOP: Final = 10.0
PLAYERS: Final = {"solo_http": "http", "api_round": "api", "live_bets_http": "betting"}


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Start servers, settle players in, and clear all of it away afterwards. Raises Unavailable."""
    with servers() as (var, addresses), ExitStack() as open_things:
        say(durability(addresses))
        environment = production(var, addresses)
        everybody = settle_in(environment, *["SE"] * 2 * CLIENTS)
        # A place at a table is its player's, and goes on with every round: those whose programs play play nothing else.
        people, with_programs = everybody[:CLIENTS], everybody[CLIENTS:]
        pgbench = PgBench(addresses, CLIENTS)
        pgbench.prepare()
        ours: dict[str, Rate] = {}
        if "solo_service" in names:
            ours["solo_service"] = open_things.enter_context(team("service", people, environment))
        if over_http := [name for name in PLAYERS if name in names]:
            port, _ = open_things.enter_context(web(var, environment, processes=len(os.sched_getaffinity(0))))
            for name in over_http:
                whose = with_programs if name == "api_round" else people
                ours[name] = open_things.enter_context(team(PLAYERS[name], whose, environment, str(port)))
        yield Contest(pgbench.rate, ours)


@contextmanager
def web(
    var: Path, environment: Environment, *, processes: int
) -> Iterator[tuple[int, Sequence[subprocess.Popen[bytes]]]]:
    """The web server as production starts it; yields its port and its processes. Whoever asks first waits until it is
    there. Raises Unavailable.
    """
    collect_static(environment)
    log = var / "log" / "web.log"
    with listening_socket(0) as listening:
        port: int = listening.getsockname()[1]
        program = Program(
            name="Web",
            arguments=web_arguments(listening.fileno()),
            log=log,
            environment=environment,
            folder=PROJECT,
            inherited=(listening.fileno(),),
        )
        running = [spawn(program) for _ in range(processes)]
    try:
        yield port, running
    except Unavailable:
        say(last_lines(log, 20))
        raise
    finally:
        for process in running:
            process.terminate()
        for process in running:
            end(process)


def end(process: subprocess.Popen[Any]) -> None:
    """Wait for the end of a process that was asked to end; kill it where it hangs."""
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


SUITE: Final = Suite(
    about="Solo rounds and bets at a shared table, four players at once, against pgbench's TPC-B with four clients",
    unit="rounds or bets/s, transactions/s",
    aims={"solo_service": 0.4, "solo_http": 0.2, "api_round": 0.2, "live_bets_http": 0.2},
    open=open_contest,
)
