"""What the chat of a shared table shows, as HTML: one message as everybody reads it, in whatever language.

Nothing here opens a connection or knows a request: pages and streams bring the rows that their own connection read. A
message has nothing of its reader's in it: which ones are the reader's own, what can be done about one and the words
for one that was removed are put there by the page (``static/js/tables/chat.js``).
"""

from collections.abc import Mapping
from typing import Any, Final

from django.template.loader import get_template

# Without the name where staff took it away since.
COLUMNS: Final = """said.id AS id, said.player_id AS player,
    CASE WHEN EXISTS (SELECT FROM games_chatnametaken AS taken WHERE lower(taken.name) = lower(said.name)) THEN ''
        ELSE said.name END AS name, said.language AS language,
    CASE WHEN said.removed_at IS NULL THEN said.text ELSE '' END AS text, said.at AS at,
    said.removed_at AS removed_at"""

# Parameter: the live table. From where `READ_SINCE` goes on.
READ_LAST: Final = """
SELECT coalesce(max(said.id), 0) AS last, coalesce(max(said.removed_at), 'epoch') AS removed
FROM games_chatmessage AS said WHERE said.live_table_id = %s
"""

# Parameters: the live table, the number of the last message known, the moment of the last removal known. Messages of a
# table are numbered, and taken away, one after the other: none comes later with a lower number.
READ_SINCE: Final = f"""
SELECT {COLUMNS} FROM games_chatmessage AS said
WHERE said.live_table_id = %s AND (said.id > %s OR said.removed_at > %s) ORDER BY said.id
"""  # noqa: S608  (nothing but names of our own)

# Parameters: the number of the last name known to be taken away, the live table. What was said there lately under names
# taken away since. Names are numbered, and taken away, one after the other.
READ_NAMELESS: Final = f"""
SELECT {COLUMNS}, gone.id AS taken, gone.at AS taken_at
FROM games_chatnametaken AS gone JOIN games_chatmessage AS said ON lower(said.name) = lower(gone.name)
WHERE gone.id > %s AND said.live_table_id = %s AND said.at > clock_timestamp() - interval '1 day' ORDER BY said.id
"""  # noqa: S608  (nothing but names of our own)

# Parameter: players. Each with those whose messages they are not sent.
READ_BLOCKS: Final = """
SELECT player_id AS player, blocked_id AS blocked FROM games_chatblock WHERE player_id = ANY (%s)
"""


def render_message(row: Mapping[str, Any]) -> str:
    """Return ``#chat-NUMBER``, a row of `READ_SINCE`: without a word where it was removed."""
    return get_template("games/_chat_message.html").render({"message": row})
