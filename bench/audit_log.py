"""Benchmarks of sealing and verifying the event log, with events as rounds write them."""

import os
import time
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread
from typing import Final

import psycopg
from django.conf import settings
from django.db import connection, connections

from audit import key_folder
from audit.sealing import sealer, signer
from audit.verification import checking
from audit.verification.verify import keys_of
from audit.verification.verify_events import BATCH
from bench.house import fresh_house, running, team
from bench.measuring import Pace, Rate, Result, Unavailable, compare, repeat
from bench.play import poster, register

LEAVES: Final = 1_000_000
FASTEST: Final = 60_000  # more leaves per second than any machine makes
WRITE: Final = """
INSERT INTO audit_event (at, kind, by, "on", body)
SELECT at, 'bench.event', by, "on", convert_to(
    '{"at":"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '","by":"' || by
    || '","data":{"text":"' || repeat(md5(n::text), 12) || '"},"kind":"bench.event","on":"' || "on" || '"}', 'UTF8')
FROM generate_series(1, %s) AS n,
    LATERAL (SELECT clock_timestamp() AS at, 'player:' || n %% 1000 AS by, 'player:' || n %% 1000 AS "on") AS of_it
"""
WAIT_FOR_A_LEAF: Final = """
INSERT INTO audit_pending (event_id)
SELECT id FROM audit_event AS event WHERE NOT EXISTS (SELECT FROM audit_leaf WHERE event_id = event.id)
ON CONFLICT DO NOTHING
"""
PLAIN_TABLE: Final = "CREATE TABLE bench_leaf (leaf bigserial PRIMARY KEY, event_id bigint, hash bytea)"
PLAIN_INSERT: Final = r"""
INSERT INTO bench_leaf (event_id, hash)
SELECT id, sha256('\x00'::bytea || body) FROM audit_event ORDER BY id LIMIT %s
"""
BODIES: Final = """
SELECT event.body FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id ORDER BY leaf.leaf
"""


def seal(pace: Pace) -> list[Result]:
    """Leaves sealed and signed during postings, compared with events hashed into rows by SQL."""
    with fresh_house():
        (player,) = register(1)
        with team(seal_all) as ours, team(inserter) as plain, running(lambda: poster(player)(1e6)):
            return compare(pace, "leaves/s", plain, {"seal": ours})


def verify(pace: Pace) -> list[Result]:
    """Leaves verified as by `manage.py verify_house`, compared with plain SHA-256 over the same
    bytes.
    """
    with fresh_house(), team(partial(verifier, pace.size(LEAVES))) as ours, team(hasher) as plain:
        return compare(pace, "leaves/s", plain, {"verify": ours}, aim=0.25)


def seal_all() -> Rate:
    """Return the rate of the sealer with more events than it can seal in the time."""
    start_signer()

    def rate(seconds: float) -> float:
        write(int(seconds * FASTEST))
        before, begun = sealer.leaves(), time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < seconds:
            size = sealer.seal().size
        return (size - before) / elapsed

    return rate


def inserter() -> Rate:
    """Return the rate of hashing the same number of events into rows, without tree, queue or
    signatures.
    """
    execute(PLAIN_TABLE)
    return repeat(lambda: execute(PLAIN_INSERT, sealer.BATCH), units=sealer.BATCH)


def verifier(leaves: int) -> Rate:
    """Write and seal a log. Return the rate of its verification."""
    start_signer()
    write(leaves)
    while (sealed := sealer.seal()).signed < sealed.size or not sealed.signed:
        pass
    keys, outside = keys_of(settings.AUDIT_KEYS), checking.Outside(None, {})

    def check() -> None:
        found = checking.check(keys, outside, progress=lambda _done, _leaves: None, done=checking.Done())
        if fault := next(iter(found), None):
            raise Unavailable(f"the log does not verify: {fault}")

    return repeat(check, units=sealed.size)


def hasher() -> Rate:
    """Return the rate of reading and hashing every event."""

    def hash_all() -> None:
        with connection.cursor() as cursor:
            for (body,) in psycopg.Cursor(cursor.connection).stream(BODIES, binary=True, size=BATCH):
                sha256(body).digest()

    return repeat(hash_all, units=sealer.leaves())


def start_signer() -> None:
    """Start a signer in a thread, which only wakes for a signature every few seconds."""
    folder = Path(mkdtemp(dir=os.environ["SABOT_VAR"]))
    listening = key_folder.listen(folder / "socket")
    Thread(target=signer.serve, args=(listening, signer.Signer(folder, "sabot.bench/log")), daemon=True).start()
    settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(folder / "socket"), (folder / "keys").read_text()


def write(number: int) -> None:
    """Write this number of events, which wait to be sealed."""
    execute(WRITE, number)
    execute(WAIT_FOR_A_LEAF)
    execute("VACUUM ANALYZE audit_event, audit_pending, audit_leaf")


def execute(statement: str, *values: int) -> int:
    """Execute a statement as the owner of the tables. Return the number of rows affected."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(statement, values or None)
        return cursor.rowcount
