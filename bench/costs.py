"""What one deed costs: `python -m bench.costs [--quick]` prints the processor's time that web and PostgreSQL take for
it, and the bytes that go to the write-ahead log and to the tables. docs/scaling.md reckons capacity from these.

Processor time depends less on what else a machine does than the time on a clock; medians of several runs even so.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from statistics import median
from subprocess import Popen
from typing import Final

import psutil
import psycopg

from bench.contest import QUICK, THOROUGH, Pace, Rate, say
from bench.house import PLAYERS, web
from bench.pgbench import PgBench
from bench.servers import CLIENTS, durability, production, servers, settle_in
from bench.team import team
from ops.embedded import Addresses

TRANSFER: Final = "pgbench_transfer"
POSTING: Final = "posting"
ROW: Final = "{:<20}{:>12}{:>16}{:>14}{:>14}"


@dataclass(frozen=True)
class Cost:
    """What has been spent, or what one deed takes."""

    web: float
    """Milliseconds of processor time in the processes of web."""
    postgresql: float
    """Milliseconds of processor time in PostgreSQL, all its processes."""
    log: float
    """Bytes of write-ahead log."""
    tables: float
    """Bytes by which the databases grew, indexes and dead rows included."""

    def since(self, before: "Cost", deeds: float) -> "Cost":
        """Return what each of so many deeds took since then."""
        return Cost(*((getattr(self, each.name) - getattr(before, each.name)) / deeds for each in fields(self)))

    @classmethod
    def typical(cls, costs: Sequence["Cost"]) -> "Cost":
        """Return the medians."""
        return cls(*(median(getattr(cost, each.name) for cost in costs) for each in fields(cls)))


class Till:
    """Reads what has been spent so far."""

    def __init__(self, addresses: Addresses, processes: Sequence[Popen[bytes]]) -> None:
        self._url = addresses.superuser_url
        self._web = [psutil.Process(process.pid) for process in processes]
        with psycopg.connect(self._url, autocommit=True) as connection:
            self._server = psutil.Process(connection.info.backend_pid).parent()
        assert self._server is not None

    def read(self) -> Cost:
        """Return what it comes to."""
        assert self._server is not None
        # The server counts a session's time once the session has ended; until then it stands with the session.
        server = self._server.cpu_times()
        ended = server.children_user + server.children_system
        postgresql = _milliseconds(self._server, *self._server.children()) + 1000 * ended
        with psycopg.connect(self._url, autocommit=True) as connection:
            found = connection.execute(
                "SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn, sum(pg_database_size(oid)) FROM pg_database"
            ).fetchone()
        assert found is not None
        return Cost(_milliseconds(*self._web), postgresql, *map(float, found))


def _milliseconds(*processes: psutil.Process) -> float:
    times = [process.cpu_times() for process in processes if process.is_running()]
    return 1000 * sum(each.user + each.system for each in times)


def cost_of(do: Rate, till: Till, pace: Pace) -> Cost:
    """Have something done again and again; return the medians of what it costs once."""
    do(min(pace.seconds, 1.0))  # warms up, and is forgotten
    costs = []
    for _ in range(pace.rounds):
        before = till.read()
        deeds = do(pace.seconds) * pace.seconds
        costs.append(till.read().since(before, deeds))
    return Cost.typical(costs)


@contextmanager
def opened() -> Iterator[tuple[Till, dict[str, Rate]]]:
    """Open a house; yield its till, and what can be done there. Raises Unavailable."""
    with servers() as (var, addresses), ExitStack() as open_things:
        say(durability(addresses))
        environment = production(var, addresses)
        everybody = settle_in(environment, *["SE"] * 2 * CLIENTS)
        people, with_programs = everybody[:CLIENTS], everybody[CLIENTS:]
        pgbench = PgBench(addresses, CLIENTS)
        pgbench.prepare()
        port, processes = open_things.enter_context(web(var, environment, processes=len(os.sched_getaffinity(0))))
        deeds: dict[str, Rate] = {TRANSFER: pgbench.rate}
        deeds[POSTING] = open_things.enter_context(team("posting", people, environment, "alone"))
        for name, way in PLAYERS.items():
            whose = with_programs if name == "api_round" else people
            deeds[name] = open_things.enter_context(team(way, whose, environment, str(port)))
        yield Till(addresses, processes), deeds


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.costs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="do everything for a moment, to see that it runs")
    pace = QUICK if parser.parse_args().quick else THOROUGH
    rows = [ROW.format("one", "web, ms", "PostgreSQL, ms", "log, bytes", "kept, bytes")]
    with opened() as (till, deeds):
        for name, do in deeds.items():
            say(f"  {name} …")
            cost = cost_of(do, till, pace)
            shown = (f"{cost.web:.2f}", f"{cost.postgresql:.2f}", f"{cost.log:,.0f}", f"{cost.tables:,.0f}")
            rows.append(ROW.format(name, *shown))
    sys.stdout.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
