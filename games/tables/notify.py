"""Notify the web processes on commit that a table, chat or player has changed.

The notification carries only the id. Each process receives all of them and queries what it shows.
"""

from typing import Final

from players import notify

CHANNEL: Final = notify.CHANNEL
# Prefix of the id; an id without a prefix is a changed table.
CHAT, BLOCKS, NAMES, DECIDED = "chat", "blocks", "names", "decided"


def tell(live_table_id: int) -> None:
    """Notify that a table has changed."""
    notify.tell(str(live_table_id))


def tell_chat(live_table_id: int) -> None:
    """Notify that a chat message was written or removed at a table."""
    notify.tell(f"{CHAT} {live_table_id}")


def tell_blocks(player_id: int) -> None:
    """Notify that a player has blocked or unblocked somebody in the chat."""
    notify.tell(f"{BLOCKS} {player_id}")


def tell_names(taken_id: int) -> None:
    """Notify that a chat name was taken away and must no longer be shown."""
    notify.tell(f"{NAMES} {taken_id}")


def tell_decided(player_id: int) -> None:
    """Notify the player's own page that staff decided something about them in the chat."""
    notify.tell(f"{DECIDED} {player_id}")
