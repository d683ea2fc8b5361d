"""Movements of money a second through the ledger's one door, four clients at once, each question with its yardstick.

A movement is a journal of two lines from a player's real money into escrow: keys, sums, balances, the day's totals and
the player's limits are all part of it.
"""

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Final

import psycopg
from psycopg.sql import SQL, Identifier

from bench.contest import Contest, Rate, Suite, Unavailable, say
from bench.pgbench import PgBench
from bench.places import PROJECT
from bench.servers import CLIENTS, SECONDS_TO_PREPARE, Environment, durability, production, servers, settle_in
from bench.team import team
from ops.embedded import Addresses
from ops.embedded.paths import SUPERUSER

ONE_CURRENCY: Final = ("SE",) * CLIENTS
CURRENCIES: Final = ("SE", "DK", "RO", "GB")[:CLIENTS]  # a client in each: no two share an account of the house
HORDAK: Final = "hordak"

People = list[dict[str, Any]]
Open = Callable[[Collection[str]], AbstractContextManager[Contest]]


@contextmanager
def _house(*jurisdictions: str) -> Iterator[tuple[Addresses, Environment, People]]:
    """A house with a player in each of these jurisdictions. Raises Unavailable."""
    with servers() as (var, addresses):
        say(durability(addresses))
        environment = production(var, addresses)
        yield addresses, environment, settle_in(environment, *jurisdictions)


@contextmanager
def _against_pgbench(names: Collection[str]) -> Iterator[Contest]:
    with _house(*ONE_CURRENCY) as (addresses, environment, people):
        pgbench = PgBench(addresses, CLIENTS)
        pgbench.prepare()
        with team("posting", people, environment, "alone") as rate:
            yield Contest(pgbench.rate, dict.fromkeys(names, rate))


@contextmanager
def _against_hordak(names: Collection[str]) -> Iterator[Contest]:
    if importlib.util.find_spec("hordak") is None:
        raise Unavailable("django-hordak is not installed: pip install -r requirements-bench.txt")
    with _house(*ONE_CURRENCY) as (addresses, environment, people), ExitStack() as teams:
        theirs = _prepare_hordak(addresses)
        numbers: list[Mapping[str, Any]] = [{"number": number} for number in range(CLIENTS)]
        yardstick = teams.enter_context(team("hordak", numbers, theirs))
        rate = teams.enter_context(team("posting", people, environment, "alone"))
        yield Contest(yardstick, dict.fromkeys(names, rate))


def _prepare_hordak(addresses: Addresses) -> Environment:
    """A database beside the house's for django-hordak, with its tables. Raises Unavailable."""
    with psycopg.connect(addresses.superuser_url, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(HORDAK)))
    environment = os.environ | {"HORDAK_URL": addresses.database(HORDAK, SUPERUSER)}
    prepared = subprocess.run(
        [sys.executable, "-m", "bench.hordak_player", "prepare"],
        cwd=PROJECT,
        env=environment,
        check=False,
        timeout=SECONDS_TO_PREPARE,
    )
    if prepared.returncode:
        raise Unavailable("django-hordak could not make its tables; why stands above")
    return environment


def _between(ours: tuple[slice, str], yardstick: tuple[slice, str]) -> Open:
    """Two teams of the house's own, each some of its players and their way of moving money."""

    @contextmanager
    def open_contest(names: Collection[str]) -> Iterator[Contest]:
        with _house(*ONE_CURRENCY, *CURRENCIES) as (_addresses, environment, people), ExitStack() as teams:
            rates: list[Rate] = [
                teams.enter_context(team("posting", people[which], environment, way))
                for which, way in (yardstick, ours)
            ]
            yield Contest(rates[0], dict.fromkeys(names, rates[1]))

    return open_contest


HOT, SPREAD = slice(0, CLIENTS), slice(CLIENTS, 2 * CLIENTS)
UNIT: Final = "postings/s"

SUITES: Final = (
    Suite(
        about="Journals through the ledger's door against pgbench's TPC-B",
        unit="postings/s, transactions/s",
        aims={"posting": 0.8},
        open=_against_pgbench,
    ),
    Suite(
        about="Journals through the ledger's door against django-hordak's transfer_to",
        unit=UNIT,
        aims={"posting_vs_hordak": 5},
        open=_against_hordak,
    ),
    Suite(
        about="Journals that all meet in one account of the house against journals that meet in none",
        unit=UNIT,
        aims={"hot_house": 0.9},
        open=_between((HOT, "alone"), (SPREAD, "alone")),
    ),
    Suite(
        about="Journals with an event about each against journals without",
        unit=UNIT,
        aims={"audit_on": 0.8},
        open=_between((HOT, "audited"), (HOT, "unaudited")),
    ),
)
