"""The one database connection that all streams of a process share: it listens for news and asks what there is to show.

It is psycopg's, not Django's: a stream is no request, and no thread waits for it. Rows come as Django's own cursors
bring them.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connections
from psycopg import AsyncConnection, Notify, OperationalError
from psycopg.rows import DictRow, dict_row

from games.tables.notify import BLOCKS, CHANNEL, CHAT, DECIDED, NAMES
from players.notify import NOTICE

NAME: Final = "sabot live"  # as PostgreSQL shows the connection
PATIENCE: Final = 10.0  # seconds for an answer: a line that is silent for longer is dead
MOST_DIGITS: Final = 18  # of a number that PostgreSQL can count to

Parameters = Mapping[str, Any] | Sequence[Any]
Lost = (OperationalError, TimeoutError)
"""What is raised where the database is gone, or does not answer."""


@dataclass
class News:
    """What there has been news of, by numbers."""

    tables: set[int] = field(default_factory=set)  # that have moved
    chats: set[int] = field(default_factory=set)  # tables at which something was said
    blocks: set[int] = field(default_factory=set)  # players who want to read others than before
    names: set[int] = field(default_factory=set)  # that were taken away in the chat
    decided: set[int] = field(default_factory=set)  # players about whom staff decided something in the chat
    notices: set[int] = field(default_factory=set)  # and stops: of what every page shows


class Line:
    """An open connection that listens."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection
        self._heard = News()
        connection.add_notify_handler(self._note)

    async def ask(self, question: str, parameters: Parameters) -> list[DictRow]:
        """Return the rows of a query. Raises Lost."""
        async with asyncio.timeout(PATIENCE):
            answer = await self._connection.execute(question.encode(), parameters)
            return await answer.fetchall()

    def hear(self) -> News:
        """Return what there has been news of since the last call. Raises Lost."""
        server = self._connection.pgconn
        server.consume_input()
        while news := server.notifies():
            self._take_in(news.extra.decode("ascii", "replace"))
        heard, self._heard = self._heard, News()
        return heard

    async def rest(self, stirred: asyncio.Event, seconds: float) -> None:
        """Wait until there may be news, something else has *stirred*, or so many seconds have gone."""
        loop = asyncio.get_running_loop()
        socket = self._connection.fileno()
        loop.add_reader(socket, stirred.set)
        try:
            async with asyncio.timeout(seconds):
                await stirred.wait()
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(socket)
            stirred.clear()

    def _note(self, news: Notify) -> None:
        self._take_in(news.payload)

    def _take_in(self, said: str) -> None:
        """Note what there is news of. Whoever may log in to the database may say anything on the channel."""
        what, _, number = said.rpartition(" ")
        heard = self._heard
        of = {
            "": heard.tables,
            CHAT: heard.chats,
            BLOCKS: heard.blocks,
            NAMES: heard.names,
            DECIDED: heard.decided,
            NOTICE: heard.notices,
        }.get(what)
        if of is not None and number.isdecimal() and len(number) <= MOST_DIGITS:
            of.add(int(number))


@asynccontextmanager
async def open_line() -> AsyncIterator[Line]:
    """Connect and listen; disconnect in the end. Raises Lost."""
    parameters = connections["default"].get_connection_params()
    del parameters["cursor_factory"]  # it is made for connections that threads wait for
    async with asyncio.timeout(PATIENCE):
        connection = await AsyncConnection.connect(
            **parameters | {"application_name": NAME}, autocommit=True, row_factory=dict_row
        )
    try:
        async with asyncio.timeout(PATIENCE):
            await connection.execute("SET TIME ZONE 'UTC'")  # in which Django reads times
            await connection.execute(f"LISTEN {CHANNEL}".encode())
        yield Line(connection)
    finally:
        await connection.close()
