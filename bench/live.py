"""Whole rounds of a shared table: NO MORE BETS to all stakes posted, and last card to all paid, for 100, 1,000 and
10,000 bettors, each against one plain `INSERT … SELECT` of as many rows as there are bettors.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Final

from bench.contest import Contest, Suite, say
from bench.servers import durability, fill, production, servers
from bench.team import team

BETTORS: Final = (100, 1_000, 10_000)
PHASES: Final = {"close_bets": "closed", "pay_all": "settled"}
AIM: Final = 0.25  # within four times the yardstick's time


def _open(bettors: int) -> Callable[[Collection[str]], AbstractContextManager[Contest]]:
    """How to make a house with so many at one table."""

    @contextmanager
    def open_contest(names: Collection[str]) -> Iterator[Contest]:
        with servers() as (var, addresses), ExitStack() as teams:
            say(durability(addresses))
            environment = production(var, addresses)
            table = fill(environment, bettors)
            yardstick = teams.enter_context(team("plain", table, environment, str(bettors)))
            ours = {
                f"{name}_{bettors}": teams.enter_context(team("croupier", table, environment, str(bettors), phase))
                for name, phase in PHASES.items()
                if f"{name}_{bettors}" in names
            }
            yield Contest(yardstick, ours)

    return open_contest


SUITES: Final = tuple(
    Suite(
        about=f"A round of {bettors:,} bettors against a plain INSERT … SELECT of as many rows",
        unit="bettors/s, rows/s",
        aims={f"{name}_{bettors}": AIM for name in PHASES},
        open=_open(bettors),
    )
    for bettors in BETTORS
)
