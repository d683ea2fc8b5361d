"""Makes an empty database a house with a long event log: `python -m bench.many_events NUMBER` writes so many events, as
rounds write them, one in twenty with a personal value, seals them all, has them signed, and prints the keys of the log
as JSON.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import django

django.setup()

from django.conf import settings  # noqa: E402  (models need the set-up)
from django.core.management import call_command  # noqa: E402
from django.db import connections  # noqa: E402

from audit.sealing import sealer, signer  # noqa: E402

NAME = "sabot.bench/log"
WRITE = """
INSERT INTO audit_event (at, kind, by, "on", body)
SELECT at, 'round.settled', by, "on", convert_to(
    '{"at":"' || to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '","by":"' || by
    || '","data":{"balance":' || 100000 + n
    || ',"bets":[{"bet":"banker","payout":1950,"stake":1000},{"bet":"tie","payout":0,"stake":200}],"cards":"'
    || md5(n::text)
    || '","commitment":"' || encode(sha256(n::text::bytea), 'hex')
    || '","currency":"SEK","mode":"R","outcome":"banker","payout":1950,"rules":"' || encode(sha256('rules'), 'hex')
    || '","stake":1200,"table":7},"kind":"round.settled","on":"' || "on" || '"'
    || CASE n %% 20 WHEN 0 THEN ',"personal":{"ip":"'
        || encode(sha256(decode(md5("on"), 'hex') || '192.0.2.7'::bytea), 'hex') || '"}' ELSE '' END || '}', 'UTF8')
FROM generate_series(1, %s) AS n,
    LATERAL (
        SELECT clock_timestamp() AS at, 'player:' || n %% 1000 AS by, 'round:' || md5('r' || n)::uuid AS "on"
    ) AS of_it
"""
PERSONAL = """
INSERT INTO audit_personal (event_id, field, salt, value)
SELECT id, 'ip', decode(md5("on"), 'hex'), '192.0.2.7' FROM audit_event
WHERE kind = 'round.settled' AND split_part(by, ':', 2)::integer % 20 = 0
"""
WAIT_FOR_A_LEAF = """
INSERT INTO audit_pending (event_id)
SELECT id FROM audit_event AS event WHERE NOT EXISTS (SELECT FROM audit_leaf WHERE event_id = event.id)
ON CONFLICT DO NOTHING
"""


def main() -> None:
    """Migrate, write, seal and sign."""
    call_command("migrate", verbosity=0, interactive=False)
    with connections["owner"].cursor() as cursor:
        cursor.execute(WRITE, [int(sys.argv[1])])
        cursor.execute(PERSONAL)
        cursor.execute(WAIT_FOR_A_LEAF)
        cursor.execute("VACUUM ANALYZE")
    with TemporaryDirectory() as folder:
        settings.AUDIT_SIGNER = str(Path(folder, "socket"))
        listening = signer.listen(Path(settings.AUDIT_SIGNER))
        Thread(target=signer.serve, args=(listening, signer.Signer(Path(folder, "keys"), NAME)), daemon=True).start()
        settings.AUDIT_KEYS = Path(folder, "keys", "keys").read_text()
        while (sealed := sealer.seal()).signed < sealed.size or not sealed.signed:
            pass
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    json.dump([{"keys": settings.AUDIT_KEYS, "leaves": sealed.size}], sys.stdout)


if __name__ == "__main__":
    main()
