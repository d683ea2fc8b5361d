"""Somebody who seals: `python -m bench.sealing_player SIGNER WAY`, where SIGNER is JSON that names a folder. WAY is
"tree" for what the sealer of the house does, "plain" for moving and hashing the same rows.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import django

django.setup()

from django.conf import settings  # noqa: E402  (models need the set-up)
from django.db import connections  # noqa: E402

from audit.sealing import sealer, signer  # noqa: E402
from bench.many_events import WAIT_FOR_A_LEAF, WRITE  # noqa: E402

NAME = "sabot.bench/log"
FASTEST = 60_000  # leaves a second that neither way reaches
TABLES = """
CREATE TABLE IF NOT EXISTS bench_queue (id bigint PRIMARY KEY, body bytea NOT NULL);
CREATE TABLE IF NOT EXISTS bench_leaf (leaf bigint PRIMARY KEY, id bigint UNIQUE NOT NULL, hash bytea NOT NULL);
"""
QUEUE = """
INSERT INTO bench_queue (id, body)
SELECT (SELECT coalesce(max(id), 0) FROM bench_leaf) + row_number() OVER (), body
FROM (SELECT body FROM audit_event WHERE kind = 'round.settled' ORDER BY id DESC LIMIT %s) AS event
ON CONFLICT DO NOTHING
"""
MOVE = r"""
WITH taken AS (
    DELETE FROM bench_queue WHERE id IN (SELECT id FROM bench_queue ORDER BY id LIMIT %s) RETURNING id, body
)
INSERT INTO bench_leaf (leaf, id, hash)
SELECT (SELECT coalesce(max(leaf) + 1, 0) FROM bench_leaf) + row_number() OVER (ORDER BY id) - 1, id,
       sha256('\x00'::bytea || body)
FROM taken
"""


def main() -> None:
    """Fill the queue and empty it, for every line so many seconds, and say how many leaves a second that made."""
    way = sys.argv[2]
    if way == "tree":
        _sign(Path(json.loads(sys.argv[1])["folder"]))
    with connections["owner"].cursor() as cursor:
        cursor.execute(TABLES)
    print("ready", flush=True)
    for line in sys.stdin:
        _fill(int(float(line) * FASTEST), way)
        print(_rate(_seal if way == "tree" else _move, float(line)), flush=True)


def _sign(folder: Path) -> None:
    """Be the signer as well, in a thread: it sleeps but for a signature every few seconds."""
    listening = signer.listen(folder / "socket")
    Thread(target=signer.serve, args=(listening, signer.Signer(folder, NAME)), daemon=True).start()
    settings.AUDIT_SIGNER, settings.AUDIT_KEYS = str(folder / "socket"), (folder / "keys").read_text()


def _fill(number: int, way: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(WRITE, [number])
        if way == "tree":
            cursor.execute(WAIT_FOR_A_LEAF)
        else:
            cursor.execute(QUEUE, [number])
        cursor.execute("ANALYZE")


def _rate(work: Callable[[], int], seconds: float) -> float:
    begun = time.perf_counter()
    leaves = 0
    while (elapsed := time.perf_counter() - begun) < seconds:
        made = work()
        leaves += made
        if not made:
            break
    return leaves / elapsed


def _seal() -> int:
    before = sealer.leaves()
    return sealer.seal().size - before


def _move() -> int:
    with connections["owner"].cursor() as cursor:
        cursor.execute(MOVE, [sealer.BATCH])
        return cursor.rowcount


if __name__ == "__main__":
    main()
