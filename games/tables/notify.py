"""Telling the web processes that there is news: of which table, chat or player, and nothing else, when the transaction
commits. Each process hears all of it and asks for what it shows.
"""

from typing import Final

from players import notify

CHANNEL: Final = notify.CHANNEL
# Said before the number; a number alone is a table that has moved.
CHAT, BLOCKS, NAMES, DECIDED = "chat", "blocks", "names", "decided"


def tell(live_table_id: int) -> None:
    """Tell that a table has moved."""
    notify.tell(str(live_table_id))


def tell_chat(live_table_id: int) -> None:
    """Tell that something was said at a table, or taken away there."""
    notify.tell(f"{CHAT} {live_table_id}")


def tell_blocks(player_id: int) -> None:
    """Tell that a player has blocked somebody in the chat, or no more."""
    notify.tell(f"{BLOCKS} {player_id}")


def tell_names(taken_id: int) -> None:
    """Tell that a name in the chat was taken away, which everybody is to see no more."""
    notify.tell(f"{NAMES} {taken_id}")


def tell_decided(player_id: int) -> None:
    """Tell that staff decided something about a player in the chat, whose own page of it is to say so."""
    notify.tell(f"{DECIDED} {player_id}")
