"""Pages of the back office's lists a second over ten million rows of each (ROWS= says how many, in less time), against
the same questions in a house that has a thousand: the first page, one in the middle, the last, whatever each list finds
and filters by, a day of the past, and one row with all that belongs to it.

Ours is all that a list does but for its HTML. Rows are written by statements, without triggers and with indexes built
afterwards; the ledger's come to nothing in each journal, and belong to no round.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import psycopg

from bench.contest import Contest, Suite, say
from bench.past import PLAYED, TRUSTED, indexed_later, write_rounds
from bench.reports import AN_HOUR
from bench.servers import durability, fill, house_in, make_house, production, servers
from bench.team import team
from ops.embedded.paths import DATABASE

ROWS: Final = int(os.environ.get("ROWS", "10000000"))
FEW: Final = 1000
PLAYERS: Final = 1000
SMALL: Final = "small"
AT_ONCE: Final = 1_000_000

# Three seconds between two rows, in the order of their numbers as those of a house are.
AT: Final = "now() - (%(rows)s - n) * interval '3 seconds'"
EVENTS: Final = f"""
INSERT INTO audit_event (at, kind, by, "on", body)
SELECT {AT}, (ARRAY['round.settled', 'session.began', 'session.ended', 'deposit.credited'])[1 + n %% 4],
    'player:' || 1 + n %% %(players)s, 'player:' || 1 + n %% %(players)s, '{{"data":{{}}}}'
FROM generate_series(%(first)s::bigint, %(last)s) AS n
"""
SESSIONS: Final = f"""
INSERT INTO players_session (id, user_id, ip, browser, began_at, acted_at, ended_at, why)
SELECT md5('session' || n)::uuid, users[1 + n %% cardinality(users)], '', '', {AT}, {AT},
    CASE WHEN n < %(rows)s - 100 THEN {AT} END, CASE WHEN n < %(rows)s - 100 THEN 'logged out' ELSE '' END
FROM generate_series(%(first)s::bigint, %(last)s) AS n, (SELECT array_agg(user_id) AS users FROM players_player)
"""
DEPOSITS: Final = f"""
INSERT INTO wallet_payment (id, player_id, amount, state, authorisation, last_sequence, is_disputed, begun_at,
    decided_at, journal_id, variant, status, fraud_status, fraud_message, created, modified, transaction_id, currency,
    total, delivery, tax, description, billing_first_name, billing_last_name, billing_address_1, billing_address_2,
    billing_city, billing_postcode, billing_country_code, billing_country_area, billing_email, billing_phone,
    extra_data, message, token, captured_amount)
SELECT md5('payment' || n)::uuid, players[1 + n %% cardinality(players)], 10000,
    CASE WHEN n %% 50 = 0 THEN 'declined' ELSE 'credited' END, CASE WHEN n %% 50 = 0 THEN '' ELSE 'A' || n END, 0,
    false, {AT}, {AT}, CASE WHEN n %% 50 = 0 THEN NULL ELSE n END, 'sandbox', 'confirmed', 'unknown', '', {AT}, {AT},
    'A' || n, 'SEK', 100, 0, 0, '', '', '', '', '', '', '', '', '', '', '', '', '', n, 100
FROM generate_series(%(first)s::bigint, %(last)s) AS n, (SELECT array_agg(id) AS players FROM players_player)
"""
JOURNALS: Final = f"""
WITH written AS (
    INSERT INTO wallet_journal (key, request_hash, kind, round_id, at)
    SELECT md5('journal' || n)::uuid, '\\x00',
        CASE WHEN n %% 100 = 0 THEN 'deposit' WHEN n %% 2 = 0 THEN 'settle' ELSE 'stake' END,
        md5('round' || n / 2)::uuid, {AT}
    FROM generate_series(%(first)s::bigint, %(last)s) AS n
    RETURNING id
)
INSERT INTO wallet_entry (journal_id, line, account_id, currency, mode, amount)
SELECT id, line, accounts[1 + (id + line) %% cardinality(accounts)], 'SEK', 'R', 100 * (3 - 2 * line)
FROM written, generate_series(1, 2) AS line,
    (SELECT array_agg(id) AS accounts FROM wallet_account WHERE currency = 'SEK' AND mode = 'R')
"""
TABLES: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "events": (("audit_event",), EVENTS),
    "sessions": (("players_session",), SESSIONS),
    "deposits": (("wallet_payment",), DEPOSITS),
    "journals": (("wallet_journal", "wallet_entry"), JOURNALS),
}


@contextmanager
def open_contest(names: Collection[str]) -> Iterator[Contest]:
    """Fill two houses, and clear both away afterwards. Raises Unavailable."""
    with servers() as (var, addresses):
        say(durability(addresses))
        with psycopg.connect(addresses.superuser_url, autocommit=True) as superuser:
            make_house(superuser, addresses, SMALL)
        large = production(var, addresses)
        small = {name: value.replace(f"/{DATABASE}?", f"/{SMALL}?") for name, value in large.items()}
        for environment, rows in ((small, FEW), (large, ROWS)):
            fill(environment, PLAYERS)
            database = house_in(environment["DATABASE_URL"])
            with psycopg.connect(addresses.superuser_url, autocommit=True, dbname=database) as owner:
                _write(owner, rows)
        nobody: list[dict[str, str]] = [{}]
        with team("listing", nobody, large) as ours, team("listing", nobody, small) as yardstick:
            yield Contest(yardstick, dict.fromkeys(names, ours))


def _write(superuser: psycopg.Connection, rows: int) -> None:
    superuser.execute(TRUSTED)
    with indexed_later(superuser, PLAYED):
        write_rounds(superuser, rows, hours=max(rows // AN_HOUR, 2), first_plays=max(rows // PLAYERS, 1))
    for name, (tables, statement) in TABLES.items():
        with indexed_later(superuser, tables):
            for first in range(1, rows + 1, AT_ONCE):
                say(f"Writing {name}: {first - 1:,} of {rows:,} …")
                last = min(first + AT_ONCE - 1, rows)
                superuser.execute(statement, {"first": first, "last": last, "rows": rows, "players": PLAYERS})


SUITE: Final = Suite(
    about=f"Pages of lists with {ROWS:,} rows each, against the same ones with {FEW:,}",
    unit="pages/s",
    aims={"lists_10m": 0.8},
    open=open_contest,
)
