"""The chat panel of one player: the latest messages, without blocked authors, and the player's options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from audit.raw_rows import named
from games import chat
from games.chat.rules import LONGEST_NAME, LONGEST_TEXT, SHORTEST_NAME
from games.models import ChatBlock, LiveTable
from games.tables.fragments import render_fragment
from games.tables.presentation import Notice
from players.models import Player

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


MOST: Final = 50  # messages shown
# Players see messages of one day; staff see them until the retention time ends.
READ_LOG = f"""
SELECT * FROM (
    SELECT {COLUMNS} FROM games_chatmessage AS said
    WHERE said.live_table_id = %s AND said.removed_at IS NULL AND said.at > clock_timestamp() - interval '1 day'
        AND NOT EXISTS (SELECT FROM games_chatblock AS b WHERE b.player_id = %s AND b.blocked_id = said.player_id)
    ORDER BY said.id DESC LIMIT {MOST}
) AS latest ORDER BY id
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Blocked:
    """A blocked player."""

    id: int  # id of the block
    name: str


@dataclass(frozen=True)
class At:
    """Place of a chat: its table, and the player who reads it."""

    slug: str
    mode: str
    reader: int  # id of the player
    zone: str  # time zone of the player

    @classmethod
    def of(cls, player: Player, live: LiveTable) -> "At":
        """Return the place for *player* at a table."""
        return cls(live.table.slug, live.mode, player.pk, player.jurisdiction.time_zone)


@dataclass(frozen=True)
class ChatView:
    """The chat of a table as one player sees it."""

    at: At
    lines: Sequence[Mapping[str, Any]]
    name: str  # the player's chat name; "" where none was chosen
    banned: str  # message about a ban; "" where the player may write
    notices: Sequence[str]  # messages about recent decisions of staff on the player
    blocked: Sequence[Blocked]
    spoken: str  # name of the table's chat language; "" where it has none
    said: Notice | None = None  # result of the last action
    draft: str = ""  # refused text
    name_draft: str = ""
    shortest_name: int = SHORTEST_NAME
    longest_name: int = LONGEST_NAME
    longest_text: int = LONGEST_TEXT


def chat_view(
    player: Player, live: LiveTable, *, said: Notice | None = None, draft: str = "", name_draft: str = ""
) -> ChatView:
    """Return the chat of a table as *player* sees it now."""
    ban = chat.ban_of(player, live)
    notices = (chat.removal_message(player, live), chat.name_taken_message(player))
    language = live.table.chat_language
    return ChatView(
        at=At.of(player, live),
        lines=read_log(player, live),
        name=chat.name_of(player),
        banned=chat.ban_message(ban, player) if ban else "",
        notices=[message for message in notices if message],
        blocked=[Blocked(pk, name or _("Somebody")) for pk, name in _blocks(player)],
        spoken=str(get_language_info(language)["name_translated"]) if language else "",
        said=said,
        draft=draft,
        name_draft=name_draft,
    )


def read_log(player: Player, live: LiveTable) -> list[Mapping[str, Any]]:
    """Return the latest messages of the table, oldest first, without authors the player has blocked."""
    with connection.cursor() as cursor:
        cursor.execute(READ_LOG, [live.pk, player.pk])
        names = [column.name for column in cursor.description]
        return [named(names, row) for row in cursor.fetchall()]


def _blocks(player: Player) -> list[tuple[int, str | None]]:
    found = ChatBlock.objects.filter(player=player).order_by("blocked__chatname__name")
    return list(found.values_list("pk", "blocked__chatname__name"))
