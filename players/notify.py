"""PostgreSQL NOTIFY to the web processes, sent at commit: a table, a chat, a player or a notice has changed.

A notification says only the kind and the id of what changed. Every process receives all
notifications and reads what its pages show.
"""

from typing import Final

from django.db import connection

CHANNEL: Final = "sabot_live"
# Prefixes of the id; an id without a prefix is a changed table.
CHAT, BLOCKS, NAMES, DECIDED = "chat", "blocks", "names", "decided"
SQUEEZE: Final = "squeeze"  # the cards that players turn at a table
NOTICE: Final = "notice"  # a notice or house stop, which every page shows


def notify_table(live_table_id: int) -> None:
    """Notify that a table has changed."""
    _send(str(live_table_id))


def notify_chat(live_table_id: int) -> None:
    """Notify that a chat message was written or removed at a table."""
    _send(f"{CHAT} {live_table_id}")


def notify_squeeze(live_table_id: int) -> None:
    """Notify that a player has lifted or turned a card at a table."""
    _send(f"{SQUEEZE} {live_table_id}")


def notify_blocks(player_id: int) -> None:
    """Notify that a player has blocked or unblocked somebody in the chat."""
    _send(f"{BLOCKS} {player_id}")


def notify_names(taken_id: int) -> None:
    """Notify that a chat name was taken away and must no longer be shown."""
    _send(f"{NAMES} {taken_id}")


def notify_decision(player_id: int) -> None:
    """Notify the player's own page that staff decided something about them in the chat."""
    _send(f"{DECIDED} {player_id}")


def notify_everybody(number: int) -> None:
    """Notify that the notice or house stop with this number has changed."""
    _send(f"{NOTICE} {number}")


def _send(notification: str) -> None:
    """Send a notification when the current transaction commits."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s::text, %s::text)", [CHANNEL, notification])
