"""What the chat beside a table shows to one player: what was said last by those they have not blocked, and what they
can do about it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.utils.translation import get_language_info
from django.utils.translation import gettext as _

from games import chat
from games.chat.rendering import COLUMNS
from games.chat.rules import LONGEST_NAME, LONGEST_TEXT, SHORTEST_NAME
from games.models import ChatBlock, LiveTable
from games.raw_rows import named
from games.tables.presentation import Notice
from players.models import Player

MOST: Final = 50  # messages
# What was said longer ago than a day is no talk at the table any more; staff have it for as long as it is kept.
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
    """Somebody whose messages the player does not read."""

    id: int  # of the block
    name: str


@dataclass(frozen=True)
class ChatView:
    """The chat as one player has it."""

    lines: Sequence[Mapping[str, Any]]
    name: str  # under which the player is read, "" where none was chosen
    banned: str  # a sentence, where the player may only read
    told: Sequence[str]  # what staff have just decided about the player, a sentence each
    blocked: Sequence[Blocked]
    spoken: str  # the language of the table's chat, in words, "" where it has none
    said: Notice | None = None  # what became of the last deed
    draft: str = ""  # what was written and refused
    name_draft: str = ""
    shortest_name: int = SHORTEST_NAME
    longest_name: int = LONGEST_NAME
    longest_text: int = LONGEST_TEXT


def chat_view(
    player: Player, live: LiveTable, *, said: Notice | None = None, draft: str = "", name_draft: str = ""
) -> ChatView:
    """Return the chat of a table as *player* has it now."""
    ban = chat.ban_of(player, live)
    told = (chat.removed_sentence(player, live), chat.nameless_sentence(player))
    language = live.table.chat_language
    return ChatView(
        lines=read_log(player, live),
        name=chat.name_of(player),
        banned=chat.banned_sentence(ban, player) if ban else "",
        told=[sentence for sentence in told if sentence],
        blocked=[Blocked(pk, name or _("Somebody")) for pk, name in _blocks(player)],
        spoken=str(get_language_info(language)["name_translated"]) if language else "",
        said=said,
        draft=draft,
        name_draft=name_draft,
    )


def read_log(player: Player, live: LiveTable) -> list[Mapping[str, Any]]:
    """Return what was said at the table lately, oldest first, without those whom the player has blocked."""
    with connection.cursor() as cursor:
        cursor.execute(READ_LOG, [live.pk, player.pk])
        names = [column.name for column in cursor.description]
        return [named(names, row) for row in cursor.fetchall()]


def _blocks(player: Player) -> list[tuple[int, str | None]]:
    found = ChatBlock.objects.filter(player=player).order_by("blocked__chatname__name")
    return list(found.values_list("pk", "blocked__chatname__name"))
