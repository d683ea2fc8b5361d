"""Hub of the live streams of one process: reads and renders each change once and sends it to every
stream.

One task does all the work over one database connection. On a notification it reads the table's
public fragment and renders it once per language in use. It reveals cards by the table's clock
without a query. It reads the players' own fragments in one query and sends them after the public
one. PostgreSQL is the source of truth: when the connection is lost, streams stay open and
everything is read again after reconnecting.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import Context
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final
from uuid import UUID

import structlog

from games.betting import eligibility
from games.betting.eligibility import MAY_WATCH
from games.shared.floor.rows import READERS
from games.shared.pages.stream_tokens import ApiClientTicket, Ticket
from players.protection.eligibility import (
    STILL_CONNECTED,
    STILL_ON_DUTY,
    STILL_WATCHING,
    asked,
    asked_of_api_clients,
    asked_of_staff,
)
from realtime.chat import Chats
from realtime.listener import Line, Lost, Notifications, Parameters, open_line
from realtime.notices import Notices
from realtime.overviews import Floor, Lobbies
from realtime.stream import OVER, RECONNECT, Stream, WritePart, nowhere
from realtime.table import SHOWS, WIRES, WatchedTable

MOST_OF_ONE_PLAYER: Final = 6  # streams per player or staff member
# A page that only listens gets no further stream once its reader has this many: a browser opens six
# connections per host, and pages need some of them. Such a page is updated by other windows
# (static/js/common/banner.js), or polls.
ENOUGH_TO_LISTEN: Final = 3
SESSION_CHECK_SECONDS: Final = 4.0  # between two checks of the session of a stream
CHECKED_AT_ONCE: Final = 100  # sessions
LONGEST_REST: Final = 60.0  # seconds without streams between two looks at the connection
SLICE: Final = 0.01  # seconds spent on players' own fragments before public changes are checked again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two attempts to connect

logger = structlog.get_logger(__name__)


class Hub:
    """All open streams, by table, and the task that updates them."""

    def __init__(self, most: int, count: Callable[[int], object] = abs) -> None:
        """Admit at most *most* streams; *count* is called with 1 for each that opens and -1 for each that closes."""
        self._most = most
        self._count = count
        self._tables: dict[int, WatchedTable] = {}
        self._chats = Chats()
        self._lobbies = Lobbies()
        self._floor = Floor()
        self._notices = Notices()
        self._newcomers: dict[Stream, None] = {}  # in order of arrival
        self._by_check: dict[Stream, None] = {}  # the others, those first whose session was checked longest ago
        self._of_reader: Counter[tuple[int, int | None]] = Counter()
        self._stirred = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._sessions_due = 0.0
        self._is_closed = False

    def admit(self, ticket: Ticket, write_part: WritePart = nowhere) -> Stream | None:
        """Open a stream; return None where a limit is reached or the process is stopping."""
        if self._is_closed or self._of_reader.total() >= self._most:
            return None
        if self._of_reader[ticket.reader] >= (ENOUGH_TO_LISTEN if ticket.only_listens else MOST_OF_ONE_PLAYER):
            return None
        self._of_reader[ticket.reader] += 1
        self._count(1)
        stream = Stream(ticket, write_part)
        self._newcomers[stream] = None
        if self._work is None:
            # an empty context: the task belongs to no request
            self._work = asyncio.create_task(self._keep_up(), context=Context())
        self._stirred.set()
        return stream

    def leave(self, stream: Stream) -> None:
        """Remove a closed stream."""
        reader, number, lobby = stream.ticket.reader, stream.ticket.live_table, stream.ticket.lobby
        self._of_reader[reader] -= 1
        self._count(-1)
        if not self._of_reader[reader]:
            del self._of_reader[reader]
        if not self._of_reader:
            self._stirred.set()  # to release the lock of `ops.beat`
        if self._newcomers.pop(stream, stream) is None:
            return
        self._by_check.pop(stream, None)
        self._floor.let_go(stream)
        self._notices.let_go(stream)
        if lobby is not None:
            self._lobbies.let_go(lobby, stream)
        if number is not None:
            self._chats.let_go(number, stream)
            table = self._tables.get(number)
            if table is not None:
                table.let_go(stream)
                if not table.streams:
                    del self._tables[number]

    def let_go(self) -> None:
        """End all streams and refuse new ones: the process is stopping."""
        self._is_closed = True
        for stream in (*self._newcomers, *self._watching()):
            stream.end(RECONNECT)

    async def close(self) -> None:
        """End all streams and disconnect from the database."""
        self.let_go()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self._floor.close()

    def _watching(self) -> list[Stream]:
        return list(self._notices.streams)

    async def _keep_up(self) -> None:
        """Run for the life of the process; reconnect when the database is lost."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with open_line() as line:
                    pause = FIRST_PAUSE
                    for table in self._tables.values():
                        table.refresh_all()
                    self._chats.refresh_all()
                    self._lobbies.refresh_all()
                    self._notices.refresh_all()
                    await self._work_on(line)
            except Lost as error:
                logger.warning("live_line_lost", error=str(error), again_in=pause)
            except Exception:
                logger.exception("live_hub_failed", again_in=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _work_on(self, line: Line) -> None:
        """Do all pending work, public changes first; wait when there is none."""
        while True:
            self._hear(line.hear())
            await self._let_newcomers_in(line)
            await line.show_presence(bool(self._of_reader))
            for table in list(self._tables.values()):
                if table.is_stale:
                    await self._read(line, table)
                await table.rounds.keep_up(line)
                table.show()
                await table.read_squeezes(line)
            await asyncio.sleep(0)  # send public changes before the other work
            await self._chats.keep_up(line)
            await self._lobbies.keep_up(line)
            await self._notices.keep_up(line)
            for table in list(self._tables.values()):
                await self._read_own(line, table)
                await table.read_bettors(line)
            is_more = self._lobbies.show()
            is_more = self._show_own() or self._show_board() or is_more
            await self._check_sessions(line)  # when changes are shown
            if is_more:
                await asyncio.sleep(0)
            else:
                await line.rest(self._stirred, self._seconds_of_rest())

    def _hear(self, notifications: Notifications) -> None:
        for number in notifications.tables & self._tables.keys():
            self._tables[number].is_stale = True
        for number in notifications.squeezes & self._tables.keys():
            self._tables[number].is_squeezed = True
        self._chats.hear(notifications)
        self._lobbies.hear(notifications)
        self._floor.hear(notifications)
        self._notices.hear(notifications)

    async def _let_newcomers_in(self, line: Line) -> None:
        """Check each new stream and send it the current state: the public fragment and the player's own."""
        if not self._newcomers:
            return
        newcomers = list(self._newcomers)
        running = await self._welcome(line, newcomers)
        for stream in newcomers:
            if stream not in self._newcomers:  # closed since
                continue
            del self._newcomers[stream]
            if stream in running:
                self._take_in(stream)
            else:
                stream.end(OVER)

    def _take_in(self, stream: Stream) -> None:
        number, lobby = stream.ticket.live_table, stream.ticket.lobby
        self._notices.take_in(stream)
        self._by_check[stream] = None
        if stream.ticket.staff is not None:
            self._floor.take_in(stream)
        if lobby is not None:
            self._lobbies.take_in(lobby, stream)
        if number is not None:
            shape = stream.ticket.shape
            self._tables.setdefault(number, WatchedTable(number, SHOWS[shape], WIRES[shape])).take_in(stream)
            if not stream.ticket.is_api_client:
                self._chats.take_in(number, stream)

    async def _check_sessions(self, line: Line) -> None:
        """End streams whose session has ended or whose player is no longer eligible; send the others a heartbeat.

        Each is checked every few seconds, few at a time, because changes of tables wait in the meantime.
        """
        if monotonic() < self._sessions_due:
            return
        streams = list(islice(self._by_check, CHECKED_AT_ONCE))
        pause = SESSION_CHECK_SECONDS * len(streams) / max(1, len(self._by_check))
        running = await self._welcome(line, streams)
        for stream in streams:
            if stream not in self._by_check:  # closed since
                continue
            del self._by_check[stream]
            if stream in running:
                self._by_check[stream] = None
                stream.beat()
            else:
                stream.end(OVER)
        self._sessions_due = monotonic() + (pause or SESSION_CHECK_SECONDS)

    async def _welcome(self, line: Line, streams: Iterable[Stream]) -> set[Stream]:
        """Return the streams that may continue. A player needs a running session, and at a table
        either eligibility or a part in the current round. A staff member needs a role that can read
        the floor. An API client needs a valid token as well.
        """
        everybody = set(streams)
        staff = {stream for stream in everybody if stream.ticket.staff is not None}
        everybody -= await self._disconnected(line, everybody)
        idle = {stream for stream in everybody if stream.ticket.session is None}
        found = idle | await self._read_open_sessions(line, everybody - staff - idle, STILL_WATCHING, asked)
        found |= await self._read_open_sessions(
            line, staff, STILL_ON_DUTY, partial(asked_of_staff, permissions=READERS)
        )
        at_tables = {stream: place for stream in found if (place := _place(stream))}
        rows = await line.ask(MAY_WATCH, eligibility.asked(set(at_tables.values()))) if at_tables else []
        served = {(row["player"], row["live_table"]) for row in rows}
        return {stream for stream in found if stream not in at_tables or at_tables[stream] in served}

    async def _disconnected(self, line: Line, streams: set[Stream]) -> set[Stream]:
        """Return the streams of API clients whose token is no longer valid."""
        tokens = {stream: stream.ticket.token for stream in streams if isinstance(stream.ticket, ApiClientTicket)}
        rows = await line.ask(STILL_CONNECTED, asked_of_api_clients(set(tokens.values()))) if tokens else []
        held = {row["id"] for row in rows}
        return {stream for stream, token in tokens.items() if token not in held}

    async def _read_open_sessions(
        self, line: Line, streams: set[Stream], question: str, about: Callable[[Iterable[UUID]], Parameters]
    ) -> set[Stream]:
        """Return the streams whose session the query *question* returns."""
        if not streams:
            return set()
        sessions = {stream.ticket.session for stream in streams if stream.ticket.session is not None}
        running = {row["id"] for row in await line.ask(question, about(sessions))}
        return {stream for stream in streams if stream.ticket.session in running}

    async def _read(self, line: Line, table: WatchedTable) -> None:
        """Read a table. One that cannot be parsed keeps its last state and does not delay the others."""
        rows = await line.ask(table.shows.READ_PUBLIC, [table.number])
        table.is_stale = False
        try:
            (row,) = rows
            table.take(row)
        except Exception:
            logger.exception("live_read_failed", live_table=table.number)

    async def _read_own(self, line: Line, table: WatchedTable) -> None:
        players = table.players_to_read()
        if players:
            table.owe(await line.ask(table.shows.READ_OWN, [table.number, players]))

    def _show_own(self) -> bool:
        """Render players' own fragments for a short time; return True if some remain."""
        until = monotonic() + SLICE
        for table in list(self._tables.values()):
            while table.owes:
                if monotonic() >= until:
                    return True
                table.show_one()
        return False

    def _show_board(self) -> bool:
        """Send one table's scoreboard to the streams of one language; return True if any was sent."""
        return any(table.show_board() for table in self._tables.values())

    def _seconds_of_rest(self) -> float:
        if not self._of_reader:
            return LONGEST_REST  # a new stream ends the rest
        dues = [each for table in self._tables.values() for each in (table.due, table.bettors_due)]
        changes = [self._notices.due, *dues]
        due = min([self._sessions_due, *(each for each in changes if each is not None)])
        return max(0.0, due - monotonic())


def _place(stream: Stream) -> tuple[int, int] | None:
    """Return the player and the live table; None for a page that shows no table or all of them."""
    number = stream.ticket.live_table
    return None if number is None else (stream.ticket.player, number)
