"""Telling the web processes that there is news: of which table, chat or player, and nothing else, when the transaction
commits. Each process hears all of it and asks for what it shows.
"""

from typing import Final

from django.db import connection

CHANNEL: Final = "sabot_live"
CHAT, BLOCKS = "chat", "blocks"  # said before the number; a number alone is a table that has moved


def tell(live_table_id: int) -> None:
    """Tell that a table has moved."""
    _notify(str(live_table_id))


def tell_chat(live_table_id: int) -> None:
    """Tell that something was said at a table, or taken away there."""
    _notify(f"{CHAT} {live_table_id}")


def tell_blocks(player_id: int) -> None:
    """Tell that a player has blocked somebody in the chat, or no more."""
    _notify(f"{BLOCKS} {player_id}")


def _notify(said: str) -> None:
    """Have PostgreSQL notify whoever listens, once the current transaction has committed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, said])
