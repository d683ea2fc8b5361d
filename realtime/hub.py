"""What everybody at the live tables of this process is shown, worked out once and handed to each.

One task does all of it, over one database connection: news of a table has its public fragment read and rendered once
for every language that somebody watches in; cards are turned up by the table's clock, without asking; what is a
player's own is read for all at once and goes out after what is public. PostgreSQL is the truth: where the connection
is lost, those who watch are kept, and everything is read anew when it is back.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from contextvars import Context
from functools import partial
from time import monotonic
from typing import Final
from uuid import UUID

import structlog

from games.betting import eligibility
from games.betting.eligibility import MAY_WATCH
from games.shared.floor.rows import READERS
from games.shared.stream_tokens import ProgramTicket, Ticket
from players.protection.stream_access import (
    STILL_CONNECTED,
    STILL_ON_DUTY,
    STILL_WATCHING,
    asked,
    asked_of_programs,
    asked_of_staff,
)
from realtime.chat import Chats
from realtime.floor import Floor
from realtime.listener import Line, Lost, News, Parameters, open_line
from realtime.lobby import Lobbies
from realtime.notices import Notices
from realtime.renderers import SHOWS, WIRES
from realtime.stream import MOVED, OVER, Stream
from realtime.table import Watched

MOST_OF_ONE_PLAYER: Final = 6  # and of one member of staff
# With so many, a page that only listens is refused one more: a browser keeps six lines to one house, and pages need
# some of them. It is told by the windows that listen (static/js/common/banner.js), or asks.
ENOUGH_TO_LISTEN: Final = 3
BETWEEN_LOOKS_AT_SESSIONS: Final = 4.0  # seconds
SLICE: Final = 0.01  # seconds given to what is players' own before anything public is looked at again
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries to connect

logger = structlog.get_logger(__name__)


class Hub:
    """Everybody who watches, by table, and the task that keeps them up to date."""

    def __init__(self, most: int, count: Callable[[int], object] = abs) -> None:
        """Take in at most so many; *count* is told 1 of each who comes, and -1 of each who goes."""
        self._most = most
        self._count = count
        self._tables: dict[int, Watched] = {}
        self._chats = Chats()
        self._lobbies = Lobbies()
        self._floor = Floor()
        self._notices = Notices()
        self._newcomers: dict[Stream, None] = {}  # in the order in which they came
        self._of_reader: Counter[tuple[int, int | None]] = Counter()
        self._stirred = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._sessions_due = 0.0
        self._is_closed = False

    def admit(self, ticket: Ticket) -> Stream | None:
        """Take somebody in, to be told everything from now on; None where there are enough already."""
        if self._is_closed or self._of_reader.total() >= self._most:
            return None
        if self._of_reader[ticket.reader] >= (ENOUGH_TO_LISTEN if ticket.only_listens else MOST_OF_ONE_PLAYER):
            return None
        self._of_reader[ticket.reader] += 1
        self._count(1)
        stream = Stream(ticket)
        self._newcomers[stream] = None
        if self._work is None:
            self._work = asyncio.create_task(self._keep_up(), context=Context())  # of nobody's request
        self._stirred.set()
        return stream

    def leave(self, stream: Stream) -> None:
        """Forget somebody who has gone."""
        reader, number, lobby = stream.ticket.reader, stream.ticket.live_table, stream.ticket.lobby
        self._of_reader[reader] -= 1
        self._count(-1)
        if not self._of_reader[reader]:
            del self._of_reader[reader]
        if self._newcomers.pop(stream, stream) is None:
            return
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
        """End all streams, and open none any more: the process is about to end."""
        self._is_closed = True
        for stream in (*self._newcomers, *self._watching()):
            stream.end(MOVED)

    async def close(self) -> None:
        """Let everybody go, and disconnect."""
        self.let_go()
        if self._work is not None:
            self._work.cancel()
            await asyncio.gather(self._work, return_exceptions=True)
        await self._floor.close()

    def _watching(self) -> list[Stream]:
        return list(self._notices.streams)

    async def _keep_up(self) -> None:
        """Work while the process lives, whatever becomes of the database."""
        pause = FIRST_PAUSE
        while True:
            try:
                async with open_line() as line:
                    pause = FIRST_PAUSE
                    for table in self._tables.values():
                        table.begin_anew()
                    self._chats.begin_anew()
                    self._lobbies.begin_anew()
                    self._notices.begin_anew()
                    await self._work_on(line)
            except Lost as error:
                logger.warning("live_line_lost", error=str(error), again_in=pause)
            except Exception:
                logger.exception("live_hub_failed", again_in=pause)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)

    async def _work_on(self, line: Line) -> None:
        """Do whatever is due, the public first; rest when nothing is."""
        while True:
            self._hear(line.hear())
            await self._let_newcomers_in(line)
            await self._look_at_sessions(line)
            for table in list(self._tables.values()):
                if table.is_stale:
                    await self._read(line, table)
                await table.rounds.keep_up(line)
                table.show()
            await asyncio.sleep(0)  # so that this is written before anything else is worked out
            await self._chats.keep_up(line)
            await self._lobbies.keep_up(line)
            await self._notices.keep_up(line)
            for table in list(self._tables.values()):
                await self._read_own(line, table)
            is_more = self._lobbies.show()
            if self._show_own() or self._show_board() or is_more:
                await asyncio.sleep(0)
            else:
                await line.rest(self._stirred, self._seconds_of_rest())

    def _hear(self, news: News) -> None:
        for number in news.tables & self._tables.keys():
            self._tables[number].is_stale = True
        self._chats.hear(news)
        self._lobbies.hear(news)
        self._floor.hear(news)
        self._notices.hear(news)

    async def _let_newcomers_in(self, line: Line) -> None:
        """Give each newcomer who is welcome the state as it is: the public part, and their own."""
        if not self._newcomers:
            return
        newcomers = list(self._newcomers)
        running = await self._welcome(line, newcomers)
        for stream in newcomers:
            if stream not in self._newcomers:  # gone meanwhile
                continue
            del self._newcomers[stream]
            if stream in running:
                self._take_in(stream)
            else:
                stream.end(OVER)

    def _take_in(self, stream: Stream) -> None:
        number, lobby = stream.ticket.live_table, stream.ticket.lobby
        self._notices.take_in(stream)
        if stream.ticket.staff is not None:
            self._floor.take_in(stream)
        if lobby is not None:
            self._lobbies.take_in(lobby, stream)
        if number is not None:
            shape = stream.ticket.shape
            self._tables.setdefault(number, Watched(number, SHOWS[shape], WIRES[shape])).take_in(stream)
            if not stream.ticket.is_program:
                self._chats.take_in(number, stream)

    async def _look_at_sessions(self, line: Line) -> None:
        """Every few seconds end the streams of sessions that are over and of whom a table serves no more, and show the
        others that the line stands.
        """
        if monotonic() < self._sessions_due:
            return
        watching = self._watching()
        if watching:
            running = await self._welcome(line, watching)
            for stream in watching:
                if stream in running:
                    stream.beat()
                else:
                    stream.end(OVER)
        self._sessions_due = monotonic() + BETWEEN_LOOKS_AT_SESSIONS

    async def _welcome(self, line: Line, streams: Iterable[Stream]) -> set[Stream]:
        """Return those whose session runs, at a table that serves them or where they have a part in the round; of
        staff those whose role lets them look still; of programs those whose token holds as well, if not more.
        """
        everybody = set(streams)
        staff = {stream for stream in everybody if stream.ticket.staff is not None}
        everybody -= await self._disconnected(line, everybody)
        idle = {stream for stream in everybody if stream.ticket.session is None}
        found = idle | await self._standing(line, everybody - staff - idle, STILL_WATCHING, asked)
        found |= await self._standing(line, staff, STILL_ON_DUTY, partial(asked_of_staff, permissions=READERS))
        at_tables = {stream: place for stream in found if (place := _place(stream))}
        rows = await line.ask(MAY_WATCH, eligibility.asked(set(at_tables.values()))) if at_tables else []
        served = {(row["player"], row["live_table"]) for row in rows}
        return {stream for stream in found if stream not in at_tables or at_tables[stream] in served}

    async def _disconnected(self, line: Line, streams: set[Stream]) -> set[Stream]:
        """Return the programs whose token holds no more."""
        tokens = {stream: stream.ticket.token for stream in streams if isinstance(stream.ticket, ProgramTicket)}
        rows = await line.ask(STILL_CONNECTED, asked_of_programs(set(tokens.values()))) if tokens else []
        held = {row["id"] for row in rows}
        return {stream for stream, token in tokens.items() if token not in held}

    async def _standing(
        self, line: Line, streams: set[Stream], question: str, about: Callable[[Iterable[UUID]], Parameters]
    ) -> set[Stream]:
        """Return those of whose sessions a question says that they may go on."""
        if not streams:
            return set()
        sessions = {stream.ticket.session for stream in streams if stream.ticket.session is not None}
        running = {row["id"] for row in await line.ask(question, about(sessions))}
        return {stream for stream in streams if stream.ticket.session in running}

    async def _read(self, line: Line, table: Watched) -> None:
        """Read a table. One that cannot be understood holds up no other: it stays as it was shown last."""
        rows = await line.ask(table.shows.READ_PUBLIC, [table.number])
        table.is_stale = False
        try:
            (row,) = rows
            table.take(row)
        except Exception:
            logger.exception("live_read_failed", live_table=table.number)

    async def _read_own(self, line: Line, table: Watched) -> None:
        players = table.players_to_read()
        if players:
            table.owe(await line.ask(table.shows.READ_OWN, [table.number, players]))

    def _show_own(self) -> bool:
        """Render for a moment what is owed to players; say whether more is owed."""
        until = monotonic() + SLICE
        for table in list(self._tables.values()):
            while table.owes:
                if monotonic() >= until:
                    return True
                table.show_one()
        return False

    def _show_board(self) -> bool:
        """Show a table's board to those who read one language; say whether there was any to show."""
        return any(table.show_board() for table in self._tables.values())

    def _seconds_of_rest(self) -> float:
        changes = [self._notices.due, *(table.due for table in self._tables.values())]
        due = min([self._sessions_due, *(each for each in changes if each is not None)])
        return max(0.0, due - monotonic())


def _place(stream: Stream) -> tuple[int, int] | None:
    """Return who watches which table; None where the page shows none, or all of them."""
    number = stream.ticket.live_table
    return None if number is None else (stream.ticket.player, number)
