"""From NOTIFY to five hundred who watch a live table on one web process, against a bare asyncio server that writes the
same bytes to as many sockets when a line tells it to. Less is better: the ratio says how many times as long ours takes.
"""

import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import psutil
import psycopg

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.house import end, web
from bench.places import PROJECT
from bench.servers import production, servers, settle_in
from bench.team import team
from ops.embedded import Addresses
from ops.launcher import listening_socket
from realtime.listener import NAME

WATCHERS: Final = 500
CONNECTIONS: Final = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Seat everybody, at the house and at the bare server. Raises Unavailable."""
    with servers() as (var, addresses), ExitStack() as open_things:
        environment = production(var, addresses)
        settle_in(environment)
        sample = var / "event"
        audience = [{"number": WATCHERS}]
        port, (process,) = open_things.enter_context(web(var, environment, processes=1))
        house = open_things.enter_context(team("watching", audience, environment, "house", str(port), str(sample)))
        bare_port = open_things.enter_context(_bare_server(sample))
        bare = open_things.enter_context(team("watching", audience, environment, "bare", str(bare_port), str(sample)))
        yield Contest(bare, {name: _with_cost(house, process, addresses) for name in names})


@contextmanager
def _bare_server(sample: Path) -> Iterator[int]:
    with listening_socket(0) as free:
        port: int = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.fan_out", str(port), str(sample)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if process.stdout is None or not process.stdout.readline():
            raise Unavailable("the bare server did not start; why stands above")
        yield port
    finally:
        process.terminate()
        end(process)


def _with_cost(rate: Rate, process: subprocess.Popen[bytes], addresses: Addresses) -> Rate:
    """Say beside each measurement what it took the web process."""
    web_process = psutil.Process(process.pid)

    def costed(seconds: float) -> float:
        before, begun = web_process.cpu_times(), time.perf_counter()
        delay = rate(seconds)
        after, elapsed = web_process.cpu_times(), time.perf_counter() - begun
        share = (after.user + after.system - before.user - before.system) / elapsed
        megabytes = web_process.memory_info().rss / 2**20
        say(f"    web: {share:.0%} of a processor, {megabytes:.0f} MB; {_connections(addresses)} database connection")
        return delay

    return costed


def _connections(addresses: Addresses) -> int:
    with psycopg.connect(addresses.superuser_url) as superuser:
        (number,) = superuser.execute(CONNECTIONS, [NAME]).fetchone() or (0,)
    return int(number)


SUITE: Final = Suite(
    about=f"NOTIFY to {WATCHERS} who watch on one web process, the slowest of a hundred, against bare asyncio",
    unit="ms",
    aims={f"push_{WATCHERS}_p99_ms": 4},
    open=open_contest,
)
