"""Notify the web processes on commit that a table, chat or player has changed.

The notification carries only the id. Each process receives all of them and queries what it shows.
"""

from typing import Final

from players import notify

CHANNEL: Final = notify.CHANNEL
# Prefix of the id; an id without a prefix is a changed table.
CHAT, BLOCKS, NAMES, DECIDED = "chat", "blocks", "names", "decided"


def notify_table(live_table_id: int) -> None:
    """Notify that a table has changed."""
    notify.send(str(live_table_id))


def notify_chat(live_table_id: int) -> None:
    """Notify that a chat message was written or removed at a table."""
    notify.send(f"{CHAT} {live_table_id}")


def notify_blocks(player_id: int) -> None:
    """Notify that a player has blocked or unblocked somebody in the chat."""
    notify.send(f"{BLOCKS} {player_id}")


def notify_names(taken_id: int) -> None:
    """Notify that a chat name was taken away and must no longer be shown."""
    notify.send(f"{NAMES} {taken_id}")


def notify_decision(player_id: int) -> None:
    """Notify the player's own page that staff decided something about them in the chat."""
    notify.send(f"{DECIDED} {player_id}")
