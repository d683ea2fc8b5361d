"""A house's past, written by statements: rounds against the house, spread evenly over a time that ends with the last
full hour, and over players of whom a few play much and most play some; where it is asked for, with all else that such
rounds leave behind: journals and their keys, entries that follow from each other, an event, its leaf, days, sessions.

Rounds have cards, seeds and payouts of the engine's, though of a few hundred coups only. Nobody who writes here need
show that it was played: no trigger, no key to another table.
"""

import json
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from hashlib import sha256
from itertools import product
from typing import Final, Self

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from bench.contest import say
from bench.months import make_months
from games.engine.coup import deal
from games.engine.settle import settle
from games.engine.shoe import commitment, shuffle
from games.variants import VARIANTS

TRUSTED: Final = "SET session_replication_role = replica"
GAME: Final = "baccarat"
COUPS: Final = 256
UNITS: Final = (1_000, 2_000, 5_000, 10_000)  # minor units; the tax on Banker comes out even
BETS: Final = (("player",), ("banker",), ("player",), ("player", "tie"))
AT_ONCE: Final = 500_000

PLAYED: Final = ("games_round", "games_participation", "games_wager")
BOOKED: Final = ("wallet_journal", "wallet_entry", "wallet_posting_key", "wallet_day")
TOLD: Final = ("audit_event", "audit_leaf", "players_session")
WRITTEN: Final = (*PLAYED, *BOOKED, *TOLD)

# As the ledger and the log number what they write: every month since January 2000 has a block of ids.
BLOCK: Final = """
CREATE OR REPLACE FUNCTION pg_temp.block(at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN
    (12 * (extract(year FROM at AT TIME ZONE 'UTC') - 2000)
        + extract(month FROM at AT TIME ZONE 'UTC') - 1)::bigint << 32
"""
SETTINGS: Final = ("SET synchronous_commit = off", "SET work_mem = '256MB'")
COUP: Final = """
CREATE TEMP TABLE coup (
    id integer GENERATED ALWAYS AS IDENTITY (START 0 MINVALUE 0) PRIMARY KEY, cards text, outcome text, seed bytea,
    commitment text, staked bigint, paid bigint, commission bigint, lines jsonb
)
"""
KEEP_COUP: Final = """
INSERT INTO coup (cards, outcome, seed, commitment, staked, paid, commission, lines)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s::jsonb)
"""
# How everybody stands before the first round of the next batch. The first player plays so many rounds however many
# there are; of the others the next one plays most, and half of the rounds are those of a quarter of them.
PLAYERS: Final = """
CREATE TEMP TABLE everybody AS
SELECT row_number() OVER (ORDER BY player.id) AS place, player.id AS player, player.user_id, cash.id AS account,
    coalesce(cash.balance, 0) AS balance, coalesce(cash.version, 0) AS version, place.time_zone
FROM players_player AS player JOIN players_jurisdiction AS place ON place.code = player.jurisdiction_id
LEFT JOIN wallet_account AS cash ON cash.owner_id = player.id AND cash.kind = 'cash' AND cash.mode = 'R'
"""
HOUSE: Final = """
SELECT (SELECT count(*) FROM everybody) AS players, seat.id AS "table", version.id AS version,
    version.rules_digest AS rules,
    (SELECT id FROM wallet_account WHERE kind = 'escrow' AND currency = 'SEK' AND mode = 'R') AS escrow,
    (SELECT id FROM wallet_account WHERE kind = 'house' AND currency = 'SEK' AND mode = 'R') AS house
FROM games_table AS seat JOIN games_tableversion AS version ON version.id = seat.version_id
WHERE seat.variant = 'baccarat'
"""
SPAN: Final = """
SELECT date_trunc('hour', now()) AS until, date_trunc('hour', now()) - (%(hours)s + 24) * interval '1 hour' AS begun
"""
ROUNDS: Final = """
CREATE TEMP TABLE played AS
WITH thrown AS MATERIALIZED (
    SELECT n, %(until)s::timestamptz - (1 - (n - 0.5::float8) / %(rounds)s) * %(hours)s * interval '1 hour' AS at,
        lpad(to_hex((n * (4294967296 / %(rounds)s::float8) - 1)::bigint), 8, '0') || substr(md5('round' || n), 9) AS id,
        CASE WHEN n %% %(first_plays)s = 0 THEN 1 ELSE
            2 + floor((n * 2654435761 %% 4294967296 / 4294967296::float8) ^ 2 * (%(players)s - 1))
        END::bigint AS place,
        abs(hashint8(n)::bigint) %% %(coups)s AS coup
    FROM generate_series(%(first)s::bigint, %(last)s) AS n
), parts AS (
    SELECT thrown.n, thrown.id::uuid AS id, thrown.at, thrown.coup, player, user_id, account, time_zone,
        upper(concat_ws('-', substr(thrown.id, 1, 4), substr(thrown.id, 5, 4), substr(thrown.id, 9, 4))) AS code,
        md5(player || ' ' || (thrown.at AT TIME ZONE 'UTC')::date)::uuid AS session,
        (balance + sum(paid - staked) OVER chain)::bigint AS after,
        (version + sum(1 + least(paid, 1)) OVER chain)::bigint AS version
    FROM thrown JOIN everybody USING (place) JOIN coup ON coup.id = thrown.coup
    WINDOW chain AS (PARTITION BY place ORDER BY n)
)
SELECT parts.*, cards, outcome, seed, commitment, staked, paid, commission, lines,
    pg_temp.block(at) + 1000000 + n AS event, pg_temp.block(at) + 1000000 + 2 * n AS stake,
    pg_temp.block(at) + 1000001 + 2 * n AS settled, after - paid + staked AS before
FROM parts JOIN coup ON coup.id = parts.coup ORDER BY n
"""
CARRY_ON: Final = """
UPDATE everybody SET balance = last.after, version = last.version
FROM (SELECT DISTINCT ON (player) player, after, version FROM played ORDER BY player, n DESC) AS last
WHERE last.player = everybody.player
"""
OF_GAMES: Final = (
    """
    INSERT INTO games_round (id, code, table_version_id, mode, commitment, seed, player_value, cards, outcome, at)
    SELECT id, code, %(version)s, 'R', commitment, seed, '', cards, outcome, at FROM played
    """,
    """
    INSERT INTO games_participation (id, round_id, player_id, currency, mode, balance_before, balance_after, staked,
        paid, commission, session, at, table_id)
    SELECT n, id, player, 'SEK', 'R', before, after, staked, paid, commission, session, at, %(table)s FROM played
    """,
    """
    INSERT INTO games_wager (participation_id, bet, stake, payout, commission, result)
    SELECT n, line.* FROM played, jsonb_to_recordset(lines)
        AS line (bet text, stake bigint, payout bigint, commission bigint, result text)
    """,
)
OF_THE_LEDGER: Final = (
    """
    CREATE TEMP TABLE booked AS
    SELECT journal.*, id AS round, at, sha256(convert_to(kind || '|' || id || '||' || said, 'UTF8')) AS hash,
        overlay(md5(kind || id) PLACING substr(id::text, 1, 8) FROM 1)::uuid AS key
    FROM played CROSS JOIN LATERAL (VALUES
        (stake, 'stake', format('%%s SEK R %%s,%%s SEK R %%s', account, -staked, %(escrow)s, staked)),
        (settled, 'settle', concat_ws(',', format('%%s SEK R %%s', %(escrow)s, -staked),
            CASE WHEN paid > 0 THEN format('%%s SEK R %%s', account, paid) END,
            CASE WHEN staked <> paid THEN format('%%s SEK R %%s', %(house)s, staked - paid) END))
    ) AS journal (journal, kind, said)
    """,
    "INSERT INTO wallet_posting_key (key, request_hash, journal_id) SELECT key, hash, journal FROM booked",
    """
    INSERT INTO wallet_journal (id, key, request_hash, kind, round_id, at)
    SELECT journal, key, hash, kind, round, at FROM booked
    """,
    """
    INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount, balance_after, version)
    SELECT entry.journal, entry.line, entry.account, 'SEK', 'R', amount, balance_after, entry.version
    FROM played CROSS JOIN LATERAL (VALUES
        (stake, 1, account, -staked, before - staked, version - least(paid, 1)),
        (stake, 2, %(escrow)s, staked, NULL, NULL),
        (settled, 1, %(escrow)s, -staked, NULL, NULL),
        (settled, 2, account, paid, after, version),
        (settled, 2 + least(paid, 1), %(house)s, staked - paid, NULL, NULL)
    ) AS entry (journal, line, account, amount, balance_after, version) WHERE amount <> 0
    """,
    """
    INSERT INTO wallet_day AS day (player_id, day, deposited, withdrawn, staked, paid)
    SELECT player, (at AT TIME ZONE time_zone)::date, 0, 0, sum(staked), sum(paid) FROM played GROUP BY 1, 2
    ON CONFLICT (player_id, day) DO UPDATE SET staked = day.staked + excluded.staked, paid = day.paid + excluded.paid
    """,
    "DROP TABLE booked",
)
OF_THE_LOG: Final = (
    """
    INSERT INTO audit_event (id, at, kind, by, "on", body)
    SELECT event, at, 'round.settled', 'player:' || player, 'round:' || id, convert_to(
        '{"at":"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '","by":"player:' || player
        || '","data":{"balance_after":' || after || ',"balance_before":' || before || ',"cards":"' || cards
        || '","commitment":"' || commitment || '","currency":"SEK","mode":"R","player_value":"","rules":"'
        || %(rules)s || '","seed":"' || encode(seed, 'hex') || '","session":"' || session || '","table_version":'
        || %(version)s || ',"wagers":' || replace(lines::text, ' ', '')
        || '},"kind":"round.settled","on":"round:' || id || '"}', 'UTF8')
    FROM played
    """,
    "INSERT INTO audit_leaf (leaf, event_id) SELECT n - 1, event FROM played",
    """
    INSERT INTO players_session AS known (id, user_id, ip, browser, began_at, acted_at, ended_at, why)
    SELECT session, user_id, '192.0.2.7', 'Mozilla/5.0', min(at), max(at), max(at), 'logged out' FROM played
    GROUP BY session, user_id ON CONFLICT (id) DO UPDATE SET acted_at = excluded.acted_at, ended_at = excluded.ended_at
    """,
)
KEEP_BALANCES: Final = """
UPDATE wallet_account SET balance = everybody.balance, version = everybody.version FROM everybody
WHERE wallet_account.id = everybody.account
"""
# What the house did before its first round, it did a day before: what is numbered later was written later.
BEFORE: Final = (
    "UPDATE wallet_journal SET id = id %% 4294967296 + pg_temp.block(%(begun)s), at = %(begun)s",
    "UPDATE wallet_entry SET journal_id = journal_id %% 4294967296 + pg_temp.block(%(begun)s)",
    "UPDATE wallet_posting_key SET journal_id = journal_id %% 4294967296 + pg_temp.block(%(begun)s)",
    """
    UPDATE wallet_day SET day = (%(begun)s::timestamptz AT TIME ZONE time_zone)::date FROM everybody
    WHERE everybody.player = player_id
    """,
    "UPDATE audit_event SET id = id %% 4294967296 + pg_temp.block(%(begun)s), at = %(begun)s",
    "UPDATE audit_personal SET event_id = event_id %% 4294967296 + pg_temp.block(%(begun)s)",
    "DELETE FROM audit_pending",
)
NUMBERED: Final = ("games_participation", "wallet_journal", "audit_event")
NEXT: Final = "SELECT setval(pg_get_serial_sequence({1}, 'id'), (SELECT max(id) FROM {0}))"
# Of the tables themselves, and what each month of theirs has for itself.
INDEXES: Final = """
SELECT c.relname, replace(pg_get_indexdef(c.oid), ' ON ONLY ', ' ON ')
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid
WHERE (i.indrelid::regclass::text = ANY (%(tables)s) OR i.indrelid IN (
        SELECT inhrelid FROM pg_inherits WHERE inhparent::regclass::text = ANY (%(tables)s)))
    AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = c.oid AND contype IN ('p', 'u', 'x'))
    AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)
"""


def write_rounds(superuser: psycopg.Connection, rounds: int, *, hours: int, first_plays: int) -> None:
    """Write so many rounds of the last *hours*, so many of them the first player's; whoever does may do so without
    triggers. The ledger and the log learn nothing of them.
    """
    with _Writer(superuser, rounds, hours, first_plays) as writer:
        writer.write(OF_GAMES)
    superuser.execute("VACUUM ANALYZE games_round, games_participation, games_wager")


def write_past(superuser: psycopg.Connection, rounds: int, *, hours: int, first_plays: int) -> None:
    """Write the rounds with all they leave behind, into a house in which nobody has played yet."""
    with _Writer(superuser, rounds, hours, first_plays) as writer, ExitStack() as later:
        make_months(superuser, writer.begun)
        later.enter_context(indexed_later(superuser, WRITTEN))
        for statement in BEFORE:
            writer.do(statement)
        writer.write((*OF_GAMES, *OF_THE_LEDGER, *OF_THE_LOG))
        writer.do(KEEP_BALANCES)
        for name in NUMBERED:
            superuser.execute(SQL(NEXT).format(Identifier(name), Literal(name)))
    superuser.execute("VACUUM ANALYZE")


class _Writer:
    """Whoever writes rounds, with what they need beside them while they do."""

    def __init__(self, superuser: psycopg.Connection, rounds: int, hours: int, first_plays: int) -> None:
        self._rounds, self._coups = rounds, list(_coups())
        # Statements that make tables take no parameters from outside.
        self._cursor = psycopg.ClientCursor(superuser)
        self._values: dict[str, object] = {
            "rounds": rounds,
            "hours": hours,
            "first_plays": max(rounds // first_plays, 1),
            "coups": len(self._coups),
        }

    def __enter__(self) -> Self:
        for statement in (TRUSTED, *SETTINGS, BLOCK, COUP, PLAYERS):
            self.do(statement)
        self._cursor.executemany(KEEP_COUP, self._coups)
        for statement in (HOUSE, SPAN):
            self.do(statement)
            columns = [column.name for column in self._cursor.description or ()]
            self._values |= dict(zip(columns, self._cursor.fetchone() or (), strict=True))
        return self

    def __exit__(self, *error: object) -> None:
        if error == (None, None, None):
            self.do("DROP TABLE everybody, coup")

    @property
    def begun(self) -> datetime:
        """When the house did what it did before its first round."""
        moment = self._values["begun"]
        assert isinstance(moment, datetime)
        return moment

    def do(self, statement: str) -> None:
        """Execute a statement with what is known of the house and the batch."""
        self._cursor.execute(statement.encode(), self._values)

    def write(self, statements: Collection[str]) -> None:
        """Write all rounds, some at a time."""
        for first in range(1, self._rounds + 1, AT_ONCE):
            say(f"Writing rounds: {first - 1:,} of {self._rounds:,} …")
            self._values |= {"first": first, "last": min(first + AT_ONCE - 1, self._rounds)}
            for statement in (ROUNDS, *statements, CARRY_ON, "DROP TABLE played"):
                self.do(statement)


def _coups() -> Iterator[tuple[object, ...]]:
    """Yield rounds of the game as the engine deals and settles them, each with every bet and stake there is here."""
    variant = VARIANTS[GAME]
    for number in range(COUPS):
        seed = sha256(f"round {number}".encode()).digest()
        coup = deal(shuffle(seed, variant.decks))
        for bets, unit in product(BETS, UNITS):
            settled = settle(variant, coup, dict.fromkeys(bets, unit))
            yield (
                " ".join(card.code for card in coup.cards),
                str(coup.outcome),
                seed,
                commitment(seed),
                settled.staked,
                settled.paid,
                sum(line.commission for line in settled.lines),
                json.dumps([line._asdict() for line in settled.lines], default=str),
            )


@contextmanager
def indexed_later(superuser: psycopg.Connection, tables: Collection[str]) -> Iterator[None]:
    """Build the indexes of these tables once they are filled, which takes a fraction of the time."""
    superuser.execute("SET maintenance_work_mem = '512MB'")
    found = superuser.execute(INDEXES, {"tables": list(tables)}).fetchall()
    for name, _ in found:
        superuser.execute(SQL("DROP INDEX {}").format(Identifier(name)))
    yield
    say(f"Building {len(found)} indexes …")
    for _, statement in found:
        superuser.execute(statement)
    superuser.execute(SQL("VACUUM ANALYZE {}").format(SQL(", ").join(map(Identifier, tables))))
