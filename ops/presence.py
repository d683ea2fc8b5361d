"""Whether anybody looks at the house: each web process holds a shared advisory lock while it serves streams.

PostgreSQL frees the lock with the connection, so a process that dies leaves nothing behind.
"""

from typing import Final

NAMESPACE: Final = 5072  # of an advisory lock with two keys; the second is 0
CHANNEL: Final = "sabot_live"  # that of `players.notify`, which would load Django's database layer into beat
# Beat is notified too.
ARRIVE: Final = f"SELECT pg_advisory_lock_shared({NAMESPACE}, 0), pg_notify('{CHANNEL}', 'presence 0')"
LEAVE: Final = f"SELECT pg_advisory_unlock_shared({NAMESPACE}, 0)"
SOMEBODY_WATCHES: Final = f"""EXISTS (
    SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = {NAMESPACE}
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
)"""  # noqa: S608  (a number of our own)
"""SQL condition: at least one stream is open."""
