"""How long pages take in a house that has a million rounds behind it, and ten million (ROUNDS= says how many the
largest has, in less time; the others have a tenth and a thousandth of them), against the same pages in one with ten
thousand. Here a ratio says how many times as long, and what is aimed at is at most.

All three have had the same year with the same thousand players, of whom one has played four hundred rounds in each
(`bench.past`): so a month has as many days everywhere, and what differs is the rounds. A page is asked several things,
by somebody who has those four hundred rounds and by whoever has played most; what counts is the one that grew most.

Filled by statements; the pages themselves are asked for and made in a process with production settings, all but the
socket. The broker is left out: how long nobody answers there has nothing to do with rounds.
"""

import json
import os
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Final

import psycopg

from bench.contest import Pace, Result, say
from bench.past import WRITTEN, write_past
from bench.servers import collect_static, durability, grow_up, make_house, production, servers, sum_up
from bench.team import member
from ops.embedded.paths import DATABASE

ROUNDS: Final = int(os.environ.get("ROUNDS", "10000000"))
SMALL: Final = "10k"
SIZES: Final = {SMALL: max(ROUNDS // 1000, 200), "1m": max(ROUNDS // 10, 200), "10m": ROUNDS}
HOURS: Final = 365 * 24
PLAYERS: Final = min(ROUNDS // 100, 1000)
OF_THEIR_OWN: Final = 400  # rounds of the first player; fewer where there are hardly more
PAGES: Final = ("lobby", "deal", "history", "player_page", "reports", "dashboard")
AIM: Final = 1.5
NO_BROKER: Final = "redis://127.0.0.1:9/0"
MEASURE: Final = """
SELECT sum(reltuples)::float8, sum(pg_table_size(oid))::float8, sum(pg_indexes_size(oid))::float8 FROM pg_class
WHERE relkind = 'r' AND (oid = %(table)s::regclass OR oid IN (SELECT relid FROM pg_partition_tree(%(table)s)))
"""

Times = Mapping[str, float]
"""Milliseconds, by what was asked."""
Reader = Callable[[str, float], Times]
"""Asks a page everything for about so many seconds, once at least."""


@dataclass(frozen=True)
class Growth:
    """Pages of houses of several sizes, each against the same page of the small one."""

    about: str
    aims: Mapping[str, float]

    def measure(self, names: Collection[str], pace: Pace) -> list[Result]:
        """Measure the named ones. Raises Unavailable."""
        sizes = [size for size in SIZES if size == SMALL or any(name.endswith(f"_{size}") for name in names)]
        pages = [page for page in PAGES if any(_name(page, size) in names for size in sizes)]
        took: dict[tuple[str, str], dict[str, list[float]]] = {
            (page, size): defaultdict(list) for page in pages for size in sizes
        }
        with _houses(sizes) as readers:
            # What warms up is forgotten, but where only a moment is taken for all of it.
            for number in range(0 if pace.rounds > 1 else 1, pace.rounds + 1):
                say(f"  {number} of {pace.rounds}: {', '.join(pages)}")
                for page in pages:
                    for size in sizes:
                        times = readers[size](page, pace.seconds if number else 0)
                        for asked, time in times.items() if number else ():
                            took[page, size][asked].append(time)
        return [
            _result(page, size, took[page, SMALL], took[page, size])
            for page in pages
            for size in sizes
            if _name(page, size) in names
        ]


def _name(page: str, size: str) -> str:
    return f"growth_{page}_{size}"


def _result(page: str, size: str, small: Mapping[str, Sequence[float]], large: Mapping[str, Sequence[float]]) -> Result:
    """Tell of everything that was asked, and return what grew most."""
    found = {
        asked: Result(_name(page, size), median(times), median(small[asked]), "ms", AIM)
        for asked, times in large.items()
    }
    for asked, each in found.items():
        longer = "  <- longer than aimed at" if each.ratio > AIM else ""
        say(f"  {each.name}: {asked}: {each.ours:.1f} ms, {each.yardstick:.1f} before: {each.ratio:.2f}{longer}")
    return max(found.values(), key=lambda each: each.ratio)


@contextmanager
def _houses(sizes: Sequence[str]) -> Iterator[Mapping[str, Reader]]:
    """Make and fill the houses; yield somebody who asks for pages in each. Raises Unavailable."""
    with servers() as (var, addresses), ExitStack() as open_things:
        say(durability(addresses))
        environment = {**production(var, addresses), "BROKER_URL": NO_BROKER}
        # The first plays the same everywhere, the second most of all.
        people = dict(zip(("few", "most", "staff"), grow_up(environment, PLAYERS), strict=True))
        collect_static(environment)
        readers: dict[str, Reader] = {}
        for size in sizes:
            with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
                make_house(superuser, addresses, size, template=DATABASE)
            here = {name: value.replace(f"/{DATABASE}?", f"/{size}?") for name, value in environment.items()}
            with psycopg.connect(addresses.superuser_url, autocommit=True, dbname=size) as owner:
                write_past(owner, SIZES[size], hours=HOURS, first_plays=min(OF_THEIR_OWN, SIZES[size] // 10))
                _tell_sizes(owner, SIZES[size])
            sum_up(here, "all")
            tell = open_things.enter_context(member("growing", people, here))
            readers[size] = _reader(tell)
        yield readers


def _reader(tell: Callable[[str], str]) -> Reader:
    def read(page: str, seconds: float) -> Times:
        times: Times = json.loads(tell(f"{page} {seconds}"))
        return times

    return read


def _tell_sizes(owner: psycopg.Connection, rounds: int) -> None:
    """Say what a round takes on the disk."""
    for table in WRITTEN:
        found = owner.execute(MEASURE, {"table": table}).fetchone()
        assert found
        rows, of_table, of_indexes = (each / rounds for each in found)
        say(f"  {table}: for each round {rows:.2f} rows, {of_table:.0f} bytes, {of_indexes:.0f} of indexes")


SUITE: Final = Growth(
    about="Pages of a house with many rounds behind it, against those of one with few: how many times as long",
    aims={_name(page, size): AIM for page in PAGES for size in SIZES if size != SMALL},
)
