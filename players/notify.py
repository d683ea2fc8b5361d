"""PostgreSQL NOTIFY to the web processes, sent at commit.

A notification says only the kind and the id of what changed. Every process receives all
notifications and reads what its pages show.
"""

from typing import Final

from django.db import connection

CHANNEL: Final = "sabot_live"
NOTICE: Final = "notice"  # prefix of the number of a notice or house stop, which every page shows


def send(said: str) -> None:
    """Send a notification when the current transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, said])


def notify_everybody(number: int) -> None:
    """Notify that the notice or house stop with this number has changed."""
    send(f"{NOTICE} {number}")
