"""Leaves of the event log verified a second, a million of them (LEAVES= says how many), against plain SHA-256 over the
same bytes, read from the same PostgreSQL in the same way.

Ours is all that `manage.py verify_audit` does; the yardstick hashes every event and looks at nothing else.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

from bench.contest import Contest, Suite, say
from bench.servers import durability, fill_log, production, servers
from bench.team import team

LEAVES: Final = int(os.environ.get("LEAVES", "1000000"))


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Write and seal the events, and clear all of it away afterwards. Raises Unavailable."""
    with servers() as (var, addresses):
        say(durability(addresses))
        environment = production(var, addresses)
        log = fill_log(environment, LEAVES)
        with team("verifying", log, environment, "all") as ours, team("verifying", log, environment, "plain") as plain:
            yield Contest(plain, dict.fromkeys(names, ours))


SUITE: Final = Suite(
    about="Leaves of the event log, all of them verified, against plain SHA-256 over their bytes",
    unit="leaves/s",
    aims={"verify_leaves": 0.25},
    open=open_contest,
)
