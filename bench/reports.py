"""Reports made a second over the ten million rounds of a year (ROUNDS= says how many, in less time), every kind that
there is over all of them, against one scan of what their players staked and won, by psql.

Ours is all that a report says, its totals included, without the files. Rounds are written by statements: they are no
rounds that could be dealt again, and the ledger has none of them.
"""

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from bench.contest import Contest, Suite, Unavailable, say
from bench.servers import durability, fill, production, servers, sum_up
from bench.team import team

ROUNDS: Final = int(os.environ.get("ROUNDS", "10000000"))
AN_HOUR: Final = 1140  # rounds: ten million are a year
PLAYERS: Final = min(ROUNDS // 100, 1000)
AT_ONCE: Final = 500_000

# Who put them there need not show that they were played: no trigger, no key to another table.
TRUSTED: Final = "SET session_replication_role = replica"
WRITE: Final = """
WITH played AS (
    SELECT n, md5('round' || n)::uuid AS id, versions[1 + n %% cardinality(versions)] AS version,
        date_trunc('hour', now()) - (1 - (n - 1)::float8 / %(rounds)s) * %(hours)s * interval '1 hour' AS at,
        1000 + n %% 7 * 500 AS stake, n %% 9 < 4 AS wins
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n,
        (SELECT array_agg(version_id ORDER BY id) AS versions FROM games_table WHERE variant = 'baccarat') AS tables
), rounds AS (
    INSERT INTO games_round (id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at)
    SELECT id, 'B' || n, version, 'R', repeat('0', 64), '\\x00', '', '9H 4D KS 2C', 'player', at FROM played
), parts AS (
    INSERT INTO games_participation (id, round_id, player_id, currency, mode, balance_before, balance_after, staked,
        paid, commission, at, table_id)
    SELECT n, played.id, players[1 + n %% cardinality(players)], 'SEK', 'R', 1000000, 1000000, stake,
        CASE WHEN wins THEN 2 * stake ELSE 0 END, 0, played.at, version.table_id
    FROM played JOIN games_tableversion AS version ON version.id = played.version,
        (SELECT array_agg(id) AS players FROM players_player) AS everybody
)
INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
SELECT n, 'player', stake, CASE WHEN wins THEN 2 * stake ELSE 0 END, 0, CASE WHEN wins THEN 'win' ELSE 'lose' END
FROM played
"""


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
            owner.execute(TRUSTED)
            write_rounds(owner, ROUNDS)
        sum_up(environment)
        one = [{"database": addresses.database_url}]
        with team("reporting", one, environment, "all") as ours, team("reporting", one, environment, "scan") as scan:
            yield Contest(scan, dict.fromkeys(names, ours))


def write_rounds(superuser: psycopg.Connection, rounds: int) -> None:
    """Write so many rounds of a year; whoever does may do so without triggers."""
    hours = max(rounds // AN_HOUR, 2)
    for first in range(1, rounds + 1, AT_ONCE):
        say(f"Writing rounds: {first - 1:,} of {rounds:,} …")
        last = min(first + AT_ONCE - 1, rounds)
        superuser.execute(WRITE, {"first": first, "last": last, "rounds": rounds, "hours": hours})
    superuser.execute("VACUUM ANALYZE games_round, games_participation, games_wager")


def house_in(url: str) -> str:
    """Return the name of the database that an address leads to."""
    found = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    assert isinstance(found, str)
    return found


SUITE: Final = Suite(
    about="Reports over all rounds of a year, every kind, against one scan of their players' parts by psql",
    unit="reports/s",
    aims={"report_10m": 1},
    open=open_contest,
)
