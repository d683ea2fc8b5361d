"""Benchmark of the verification of a ledger with a million rounds (or ROUNDS=).

Solo rounds of real money are written by statements, with the rows that the product writes: round,
participation, two journals with entries, daily totals, balances. So the
verification reads what it would read in a house that is half a year old, and finds nothing.
"""

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import psutil
import psycopg
from django.db import connection

from bench.house import fresh_house, superuser_of
from bench.measuring import Pace, Result, Unavailable, say
from bench.play import register
from tests import old_months
from wallet.invariants import verify

ROUNDS: Final = int(os.environ.get("ROUNDS", "1000000"))
PLAYERS: Final = int(os.environ.get("PLAYERS", "10000"))
SPAN: Final = 180 * 24  # hours
NAME: Final = "ledger"
AT_ONCE: Final = 250_000
HASTE: Final = (
    "fsync = off",
    "full_page_writes = off",
    "autovacuum = off",
    "max_wal_size = '8GB'",
    "checkpoint_timeout = '1h'",
)
LATER: Final = "UPDATE ledger_verification SET began_at = began_at - interval '2 hours'"
"""Verifications count after a minute, and for a checkpoint after an hour."""
TABLES: Final = (
    "games_round",
    "games_participation",
    "wallet_journal",
    "wallet_entry",
)
BEGIN: Final = """
SET session_replication_role = replica;
SET allow_system_table_mods = on;
SET work_mem = '256MB';
SET maintenance_work_mem = '1GB';
SET synchronous_commit = off;
CREATE TEMP TABLE everybody AS
SELECT row_number() OVER (ORDER BY cash.id) AS player_number, cash.owner_id AS player, cash.id AS account, cash.balance,
    cash.version
FROM wallet_account AS cash WHERE cash.kind = 'cash' AND cash.mode = 'R' AND cash.owner_id IS NOT NULL;
CREATE TEMP TABLE house AS
SELECT e.id AS escrow, h.id AS house, t.id AS table_id, t.version_id
FROM wallet_account AS e
JOIN wallet_account AS h ON h.kind = 'house' AND h.currency = e.currency AND h.mode = e.mode
CROSS JOIN games_table AS t
WHERE e.kind = 'escrow' AND e.currency = 'SEK' AND e.mode = 'R' AND t.slug = 'baccarat'
"""
# Of the Player bet and, in three rounds of ten, one on Tie. Numbers follow from n, so that a run
# can be repeated.
COPIES: Final = """
CREATE TEMP TABLE copied AS
WITH thrown AS (
    SELECT n, md5('round' || n)::uuid AS id, abs(hashint8extended(n, 1)) AS luck,
        %(until)s - (1 - (n - 0.5::float8) / %(rounds)s) * %(hours)s * interval '1 hour' AS at,
        1 + floor((n * 2654435761 %% 4294967296 / 4294967296::float8) ^ 2 * %(players)s)::bigint AS player_number
    FROM generate_series(%(first)s::bigint, %(last)s) AS n
), laid AS (
    SELECT thrown.*, (1 + luck %% 10) * 2000 AS main, CASE WHEN luck / 10 %% 10 < 3 THEN 1000 ELSE 0 END AS side,
        CASE WHEN luck / 100 %% 1000 < 446 THEN 'player' WHEN luck / 100 %% 1000 < 905 THEN 'banker' ELSE 'tie' END
            AS outcome
    FROM thrown
), paid AS (
    SELECT laid.*, main + side AS staked,
        CASE outcome WHEN 'player' THEN 2 * main WHEN 'tie' THEN main ELSE 0 END AS of_main,
        CASE outcome WHEN 'tie' THEN 9 * side ELSE 0 END AS of_side
    FROM laid
)
SELECT paid.*, of_main + of_side AS paid, player, account, audit_block(at) AS month,
    everybody.balance + sum(of_main + of_side - staked) OVER mine AS balance,
    everybody.version + sum(CASE WHEN of_main + of_side > 0 THEN 2 ELSE 1 END) OVER mine AS version
FROM paid JOIN everybody USING (player_number) WINDOW mine AS (PARTITION BY player_number ORDER BY n) ORDER BY n
"""
PLAYED: Final = """
INSERT INTO games_round (
    id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at
)
SELECT id, upper(substr(md5('code' || n), 1, 14)), version_id, 'R', encode(sha256(uuid_send(id)), 'hex'),
    sha256(uuid_send(id)), '',
    CASE outcome WHEN 'player' THEN '9H 2D KS 3C' WHEN 'banker' THEN '2D 9H 3C KS' ELSE '9H 9D KS KC' END, outcome, at
FROM copied, house ORDER BY n;
INSERT INTO games_participation (
    id, round_id, player_id, currency, mode, balance_before, balance_after, staked, paid, commission, session, at,
    table_id, bets, stakes, payouts, commissions, results
)
SELECT n, id, player, 'SEK', 'R', balance + staked - paid, balance, staked, paid, 0,
    md5(player || ' ' || at::date)::uuid, at, table_id,
    CASE side WHEN 0 THEN '{player}'::text[] ELSE '{player,tie}' END,
    CASE side WHEN 0 THEN ARRAY[main] ELSE ARRAY[main, side] END,
    CASE side WHEN 0 THEN ARRAY[of_main] ELSE ARRAY[of_main, of_side] END,
    CASE side WHEN 0 THEN '{0}'::bigint[] ELSE '{0,0}' END,
    CASE outcome WHEN 'player' THEN CASE side WHEN 0 THEN '{win}'::text[] ELSE '{win,lose}' END
        WHEN 'tie' THEN CASE side WHEN 0 THEN '{push}'::text[] ELSE '{push,win}' END
        ELSE CASE side WHEN 0 THEN '{lose}'::text[] ELSE '{lose,lose}' END END
FROM copied, house ORDER BY n;
CREATE TEMP TABLE posted AS
SELECT n, number, month + 2 * n + number AS id, kind, copied.id AS round, at, accounts, amounts, account, version,
    balance, paid
FROM copied CROSS JOIN house CROSS JOIN LATERAL (
    SELECT 0, 'stake', ARRAY[account, escrow], ARRAY[-staked, staked]
    UNION ALL
    SELECT 1, 'settle', array_agg(line.account ORDER BY number), array_agg(line.amount ORDER BY number)
    FROM (VALUES (1, escrow, -staked), (2, account, paid), (3, house, staked - paid)) AS line (number, account, amount)
    WHERE amount <> 0
) AS journal (number, kind, accounts, amounts)
ORDER BY n, number;
INSERT INTO wallet_journal (id, kind, round_id, at) SELECT id, kind, round, at FROM posted ORDER BY id;
INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
SELECT id, line, a.account, 'SEK', 'R', a.amount,
    CASE WHEN a.account = posted.account THEN CASE WHEN number = 0 THEN balance - paid ELSE balance END END,
    CASE WHEN a.account = posted.account THEN CASE WHEN number = 0 AND paid > 0 THEN version - 1 ELSE version END END
FROM posted CROSS JOIN LATERAL unnest(accounts, amounts) WITH ORDINALITY AS a (account, amount, line)
ORDER BY id, line;
UPDATE everybody SET balance = ended.balance, version = ended.version
FROM (
    SELECT DISTINCT ON (player_number) player_number, balance, version FROM copied ORDER BY player_number, n DESC
) AS ended
WHERE ended.player_number = everybody.player_number;
DROP TABLE copied, posted
"""
END: Final = """
UPDATE wallet_account AS a SET balance = e.balance, version = e.version FROM everybody AS e WHERE e.account = a.id;
INSERT INTO wallet_day (player_id, day, deposited, withdrawn, staked, paid)
SELECT player_id, (at AT TIME ZONE 'Europe/Stockholm')::date, 0, 0, sum(staked), sum(paid)
FROM games_participation GROUP BY 1, 2
ON CONFLICT (player_id, day) DO UPDATE SET
    staked = wallet_day.staked + excluded.staked, paid = wallet_day.paid + excluded.paid;
SELECT setval(pg_get_serial_sequence('games_participation', 'id'), (SELECT max(id) FROM games_participation));
VACUUM ANALYZE
"""
# Indexes are built at the end, which takes a tenth of the time. Primary keys cannot be dropped here,
# because foreign keys refer to them.
INDEXES: Final = """
SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid AND c.relkind = 'r'
WHERE c.oid = ANY (SELECT relid FROM unnest(%s::regclass[]) AS every (name), pg_partition_tree(every.name)) ORDER BY 1
"""


def ledger(pace: Pace) -> list[Result]:
    """Rounds whose ledger is verified a second, compared with a count of all their rows.

    Everything is verified from the start, and then compared with what was verified, as on the next day.
    """
    rounds, players = pace.size(ROUNDS, least=2000), pace.size(PLAYERS, least=100)
    with fresh_house(NAME), ExitStack() as stack:
        register(players)
        write_rounds(NAME, rounds, players=players, span=SPAN)
        superuser = stack.enter_context(superuser_of(NAME))
        superuser.execute("SET max_parallel_workers_per_gather = 0")
        begun_with = processor_seconds()
        reading = seconds_of(superuser, f"SELECT {', '.join(f'(SELECT count(*) FROM {table})' for table in TABLES)}")
        first = seconds_to_verify()
        after_first = processor_seconds()
        superuser.execute(LATER)
        seconds_to_verify()  # writes the checkpoint
        superuser.execute(LATER)
        before_again = processor_seconds()
        again = seconds_to_verify()
        of_processor = after_first - begun_with, processor_seconds() - before_again
    say(f"  {rounds:,} rounds: {reading:.1f} s to count all rows, {first:.1f} s to verify all, {again:.1f} s later")
    say("  of a processor: {:.1f} s to verify all, {:.1f} s later".format(*of_processor))
    return [
        Result("ledger_from_start", rounds / first, rounds / reading, "rounds/s"),
        Result("ledger_again", rounds / again, rounds / reading, "rounds/s"),
    ]


def seconds_to_verify() -> float:
    """Return the seconds that the verification takes.

    Raises Unavailable if it finds something: then the rows are not those that the product writes.
    """
    begun = time.perf_counter()
    for check in verify.run():
        if check.rows:
            raise Unavailable(f"{check.invariant.name}: {check.rows[0]}")
    return time.perf_counter() - begun


def processor_seconds() -> float:
    """Return the processor time that the database has spent on the connection with which we verify."""
    connection.ensure_connection()
    times = psutil.Process(connection.connection.info.backend_pid).cpu_times()
    return times.user + times.system


def seconds_of(superuser: psycopg.Connection, statement: str) -> float:
    """Return the seconds that a statement takes."""
    begun = time.perf_counter()
    superuser.execute(statement.encode())
    return time.perf_counter() - begun


def write_rounds(name: str, rounds: int, *, players: int, span: int) -> None:
    """Write solo rounds of the last *span* hours into the database *name*."""
    until = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    values = {"rounds": rounds, "hours": span, "until": until, "players": players}
    with superuser_of(name) as superuser, without_durability(superuser):
        old_months.make(superuser, until - timedelta(hours=span))
        _execute(superuser, BEGIN)
        with without_indexes(superuser):
            for first in range(1, rounds + 1, AT_ONCE):
                say(f"{name}: {first - 1:,} of {rounds:,} rounds are written …")
                superuser.execute(COPIES, values | {"first": first, "last": min(first + AT_ONCE - 1, rounds)})
                _execute(superuser, PLAYED)
        _execute(superuser, END)


@contextmanager
def without_durability(superuser: psycopg.Connection) -> Iterator[None]:
    """Let the server write without waiting for the disk, and write everything to the disk at the end."""
    for each in HASTE:
        superuser.execute(f"ALTER SYSTEM SET {each}".encode())
    superuser.execute("SELECT pg_reload_conf()")
    yield
    for each in HASTE:
        superuser.execute(f"ALTER SYSTEM RESET {each.partition(' ')[0]}".encode())
    superuser.execute("SELECT pg_reload_conf()")
    superuser.execute("CHECKPOINT")


@contextmanager
def without_indexes(superuser: psycopg.Connection) -> Iterator[None]:
    """Write into `TABLES` without their indexes, and build those afterwards."""
    indexes = [name for (name,) in superuser.execute(INDEXES, [list(TABLES)])]
    ready = "UPDATE pg_index SET indisready = %s WHERE indexrelid = ANY (%s::regclass[])"
    superuser.execute(ready, [False, indexes])
    yield
    say(f"{len(indexes)} indexes are built …")
    superuser.execute(ready, [True, indexes])
    for index in indexes:
        superuser.execute(f"REINDEX INDEX {index}".encode())


def _execute(superuser: psycopg.Connection, statements: str) -> None:
    for statement in statements.split(";"):
        superuser.execute(statement.encode())
