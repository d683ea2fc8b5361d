"""Reports made a second over the ten million rounds of a year (ROUNDS= says how many, in less time), every kind that
there is over all of them, against one scan of what their players staked and won, by psql.

Ours is all that a report says, its totals included, without the files. Rounds are written by statements, and the ledger
has none of them.
"""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from bench.contest import Contest, Suite, Unavailable, say
from bench.past import write_rounds
from bench.servers import durability, fill, house_in, production, servers, sum_up
from bench.team import team

ROUNDS: Final = int(os.environ.get("ROUNDS", "10000000"))
AN_HOUR: Final = 1140  # rounds: ten million are a year
PLAYERS: Final = min(ROUNDS // 100, 1000)


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Write the rounds, sum them up, and clear all of it away afterwards. Raises Unavailable."""
    if shutil.which("psql") is None:
        raise Unavailable("psql is not there")
    with servers() as (var, addresses):
        say(durability(addresses))
        environment = production(var, addresses)
        fill(environment, PLAYERS)
        database = house_in(addresses.database_url)
        with psycopg.connect(addresses.superuser_url, autocommit=True, dbname=database) as owner:
            write_rounds(owner, ROUNDS, hours=max(ROUNDS // AN_HOUR, 2), first_plays=ROUNDS // PLAYERS)
        sum_up(environment)
        one = [{"database": addresses.database_url}]
        with team("reporting", one, environment, "all") as ours, team("reporting", one, environment, "scan") as scan:
            yield Contest(scan, dict.fromkeys(names, ours))


SUITE: Final = Suite(
    about="Reports over all rounds of a year, every kind, against one scan of their players' parts by psql",
    unit="reports/s",
    aims={"report_10m": 1},
    open=open_contest,
)
