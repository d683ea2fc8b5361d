"""Chat streams of this process: each message is read once and sent to every reader who has not
blocked its author.

A page contains the messages that existed when it was rendered; its stream sends the later ones.
Some time can pass in between, and a message is sent only once, so recent messages are kept here for
streams that open later.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final

import structlog

from games.chat import panel
from games.shared.pages.stream_tokens import MAX_AGE
from realtime.listener import Line, Notifications
from realtime.stream import Stream, event

KEPT: Final = MAX_AGE + timedelta(seconds=30)  # for streams that open with a ticket that is still valid
OVERLAP: Final = timedelta(seconds=5)  # covers messages written before the page was rendered but committed after

# Starting point for reading a table that nobody watched before. Parameters: the live table, how long ago.
READ_FROM: Final = """
SELECT moment AS removed,
    coalesce((SELECT max(gone.id) FROM games_chatnametaken AS gone WHERE gone.at < moment), 0) AS taken,
    coalesce((SELECT max(said.id) FROM games_chatmessage AS said
        WHERE said.live_table_id = %s AND said.at < moment), 0) AS last
FROM (SELECT clock_timestamp() - %s::interval) AS beginning (moment)
"""

DECIDED: Final = event("decided", "")  # a staff decision changed the reader's own part of the chat

logger = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Said:
    """A chat message, or the removal of a message or of its author's name."""

    author: int
    at: datetime  # when it was written or removed, by the database's clock
    taken_at: float  # by this process's monotonic clock
    line: bytes


class Chat:
    """The chat of one table."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.streams: set[Stream] = set()
        self.is_stale = True
        self.has_stale_names = True
        self._newcomers: set[Stream] = set()
        self._from: tuple[int, datetime] | None = None  # last message read, time of the last removal
        self._taken = 0  # ID of the last name removal read
        self._lately: dict[int, Said] = {}  # recent messages by message ID
        self._unsent: list[Said] = []

    def take_in(self, stream: Stream) -> None:
        """Add a stream: send what was written since its page was rendered, and everything from now on."""
        self._newcomers.add(stream)

    def let_go(self, stream: Stream) -> None:
        """Remove a stream."""
        self._newcomers.discard(stream)
        self.streams.discard(stream)

    @property
    def is_empty(self) -> bool:
        """True if the chat has no streams."""
        return not (self.streams or self._newcomers)

    async def read(self, line: Line) -> None:
        """Read messages written or removed since the last read."""
        if self._from is None:
            (row,) = await line.ask(READ_FROM, [self.number, KEPT])
            self._from = (row["last"], row["removed"])
            self._taken = row["taken"]
        rows = await line.ask(panel.READ_SINCE, [self.number, *self._from])
        self.is_stale = False
        for row in rows:
            self._take(row)
        self._forget()

    async def read_names(self, line: Line) -> None:
        """Read recent messages whose author's name was removed since the last read."""
        for row in await line.ask(panel.READ_NAMELESS, [self._taken, self.number]):
            self._enqueue(row, row["taken_at"])
            self._taken = max(self._taken, row["taken"])
        self.has_stale_names = False

    def _forget(self) -> None:
        long_ago = monotonic() - KEPT.total_seconds()
        self._lately = {number: said for number, said in self._lately.items() if said.taken_at >= long_ago}

    def show(self, blocked: Mapping[int, Collection[int]]) -> None:
        """Send new messages to each stream, except those by authors its player has *blocked*."""
        for said in self._unsent:
            for stream in self.streams:
                if said.author not in blocked.get(stream.ticket.player, ()):
                    stream.say(said.line)
        self._unsent.clear()
        for stream in self._newcomers:
            of_no_interest = blocked.get(stream.ticket.player, ())
            notifications = [
                said for said in self._lately.values() if said.author not in of_no_interest and _is_new(said, stream)
            ]
            stream.say(b"".join(said.line for said in notifications))
        self.streams |= self._newcomers
        self._newcomers.clear()

    def _take(self, row: Mapping[str, Any]) -> None:
        number, removed_at = row["id"], row["removed_at"]
        assert self._from is not None  # noqa: S101  (it is read from somewhere)
        last, removed = self._from
        self._from = (max(last, number), max(removed, removed_at or removed))
        self._enqueue(row, removed_at or row["at"])

    def _enqueue(self, row: Mapping[str, Any], at: datetime) -> None:
        number = row["id"]
        try:
            line = event("chat", panel.render_message(row))
        except Exception:
            logger.exception("live_render_failed", live_table=self.number, fragment="chat", message=number)
            return
        said = Said(row["player"], at, monotonic(), line)
        self._lately[number] = said
        self._unsent.append(said)


class Chats:
    """The chats of all watched tables, and the players that each player has blocked."""

    def __init__(self) -> None:
        self._chats: dict[int, Chat] = {}
        self._players: defaultdict[int, set[Stream]] = defaultdict(set)
        self._blocked: dict[int, set[int]] = {}
        self._unread: set[int] = set()  # players whose block lists have to be read
        self._decided: set[int] = set()  # players whose chat rights staff changed

    def take_in(self, number: int, stream: Stream) -> None:
        """Add a stream to the chat of a table."""
        player = stream.ticket.player
        self._chats.setdefault(number, Chat(number)).take_in(stream)
        self._players[player].add(stream)
        self._unread.add(player)

    def let_go(self, number: int, stream: Stream) -> None:
        """Remove a stream."""
        player = stream.ticket.player
        chat = self._chats.get(number)
        if chat is None or stream not in self._players.get(player, ()):
            return
        chat.let_go(stream)
        if chat.is_empty:
            del self._chats[number]
        self._players[player].discard(stream)
        if not self._players[player]:
            del self._players[player]
            self._blocked.pop(player, None)

    def hear(self, notifications: Notifications) -> None:
        """Mark what has to be read again."""
        for number in notifications.chats & self._chats.keys():
            self._chats[number].is_stale = True
        for chat in self._chats.values() if notifications.names else ():
            chat.has_stale_names = True
        self._unread |= notifications.blocks & self._players.keys()
        self._decided |= notifications.decided & self._players.keys()

    def refresh_all(self) -> None:
        """Mark everything for reading: notifications may have been missed."""
        for chat in self._chats.values():
            chat.is_stale = chat.has_stale_names = True
        self._unread.update(self._players)

    async def keep_up(self, line: Line) -> None:
        """Read what is marked, block lists first, and send it."""
        players = list(self._unread & self._players.keys())
        if players:
            blocked: defaultdict[int, set[int]] = defaultdict(set)
            for row in await line.ask(panel.READ_BLOCKS, [players]):
                blocked[row["player"]].add(row["blocked"])
            self._blocked.update({player: blocked[player] for player in players if player in self._players})
        self._unread.clear()
        for chat in list(self._chats.values()):
            if chat.is_stale:
                await chat.read(line)
            if chat.has_stale_names:
                await chat.read_names(line)
            chat.show(self._blocked)
        for player in self._decided & self._players.keys():
            for stream in self._players[player]:
                stream.say(DECIDED)
        self._decided.clear()


def _is_new(said: Said, stream: Stream) -> bool:
    made_at = stream.ticket.made_at
    return made_at is not None and said.at > made_at - OVERLAP
