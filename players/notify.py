"""Telling the web processes that something has happened which open pages show, when the transaction commits: of what,
and its number, never more. Each process hears all of it and asks for what it shows.
"""

from typing import Final

from django.db import connection

CHANNEL: Final = "sabot_live"
NOTICE: Final = "notice"  # said before the number of what everybody is shown: a notice, or that play is stopped


def tell(said: str) -> None:
    """Have PostgreSQL notify whoever listens, once the current transaction has committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, said])


def tell_everybody(number: int) -> None:
    """Tell that what every page shows has changed, by the notice or stop of this number."""
    tell(f"{NOTICE} {number}")
