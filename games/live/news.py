"""Telling the web processes that a shared table has moved: its id, and nothing else, when the transaction commits."""

from django.db import connection

CHANNEL = "sabot_live"


def tell(live_table_id: int) -> None:
    """Have PostgreSQL notify whoever listens, once the current transaction has committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, str(live_table_id)])
