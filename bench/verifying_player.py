"""Somebody who goes through the whole event log: `python -m bench.verifying_player LOG WAY`, where LOG is JSON of
`bench.many_events`. WAY is "all" for what `manage.py verify_audit` does, "plain" for hashing every event.
"""

import json
import sys
from hashlib import sha256

import django
import psycopg

django.setup()

from django.db import connection, transaction  # noqa: E402  (models need the set-up)

from audit.verification import checking  # noqa: E402
from audit.verification.verify import WIDTH, keys_of  # noqa: E402
from audit.verification.verify_events import BATCH  # noqa: E402
from bench.playing import play_when_told  # noqa: E402

EVENTS = f"""
    SELECT tile.bodies FROM generate_series(%s::bigint, %s::bigint - 1, {WIDTH}) AS first, LATERAL (
        SELECT array_agg(body) AS bodies
        FROM (SELECT event.body FROM audit_leaf AS leaf JOIN audit_event AS event ON event.id = leaf.event_id
              WHERE leaf.leaf >= first AND leaf.leaf < first + {WIDTH} ORDER BY leaf.leaf) AS row
        HAVING count(*) > 0
    ) AS tile
"""


def verify() -> None:
    """Verify all there is."""
    outside = checking.Outside(None, {})
    findings = list(checking.check(KEYS, outside, progress=lambda done, leaves: None, done=checking.Done()))
    assert not findings, findings[0]


def hash_all() -> None:
    """Hash every event."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(checking.ONE_STATE)
        for first in range(0, LOG["leaves"], BATCH):
            for (bodies,) in psycopg.Cursor(cursor.connection).stream(EVENTS, [first, first + BATCH], binary=True):
                for body in bodies:
                    sha256(body).digest()


if __name__ == "__main__":
    LOG = json.loads(sys.argv[1])
    KEYS = keys_of(LOG["keys"])
    play_when_told(verify if sys.argv[2] == "all" else hash_all, units=LOG["leaves"])
