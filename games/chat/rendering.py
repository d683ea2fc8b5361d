"""Render a chat message as HTML, the same for every reader.

This module opens no connection and has no request: pages and streams pass in rows that they have
read. A message contains nothing about its reader. The page itself marks own messages, adds the
options and words removed ones (``static/js/tables/chat.js``).
"""

from collections.abc import Mapping
from typing import Any, Final

from games.tables.fragments import render_fragment

# The name is empty where staff took it away.
COLUMNS: Final = """said.id AS id, said.player_id AS player,
    CASE WHEN EXISTS (SELECT FROM games_chatnametaken AS taken WHERE lower(taken.name) = lower(said.name)) THEN ''
        ELSE said.name END AS name, said.language AS language,
    CASE WHEN said.removed_at IS NULL THEN said.text ELSE '' END AS text, said.at AS at,
    said.removed_at AS removed_at"""

# Parameter: the live table. The position from which `READ_SINCE` continues.
READ_LAST: Final = """
SELECT coalesce(max(said.id), 0) AS last, coalesce(max(said.removed_at), 'epoch') AS removed
FROM games_chatmessage AS said WHERE said.live_table_id = %s
"""

# Parameters: the live table, the id of the last known message, the time of the last known removal.
# Messages of a table are inserted and removed one after the other, so none appears later with a
# lower id.
READ_SINCE: Final = f"""
SELECT {COLUMNS} FROM games_chatmessage AS said
WHERE said.live_table_id = %s AND (said.id > %s OR said.removed_at > %s) ORDER BY said.id
"""  # noqa: S608  (nothing but names of our own)

# Parameters: the id of the last known name that was taken away, the live table. Returns recent
# messages under names taken away since. Names are taken away one after the other, in the order of
# their ids.
READ_NAMELESS: Final = f"""
SELECT {COLUMNS}, gone.id AS taken, gone.at AS taken_at
FROM games_chatnametaken AS gone JOIN games_chatmessage AS said ON lower(said.name) = lower(gone.name)
WHERE gone.id > %s AND said.live_table_id = %s AND said.at > clock_timestamp() - interval '1 day' ORDER BY said.id
"""  # noqa: S608  (nothing but names of our own)

# Parameter: players. Returns the authors that each has blocked.
READ_BLOCKS: Final = """
SELECT player_id AS player, blocked_id AS blocked FROM games_chatblock WHERE player_id = ANY (%s)
"""


def render_message(row: Mapping[str, Any]) -> str:
    """Return ``#chat-NUMBER`` for a row of `READ_SINCE`; without text where the message was removed."""
    return render_fragment("chat.html#message", message=row, at=None)
