"""The database connection that all streams of a process share: it listens for notifications and
runs queries.

It is a psycopg connection, not one of Django's: a stream is not a request and holds no thread. Rows
have the same types as those of Django's cursors.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from django.db import connections
from psycopg import AsyncConnection, Notify, OperationalError
from psycopg.rows import DictRow, dict_row

from ops.beat import ARRIVE, LEAVE
from players.notify import BLOCKS, CHANNEL, CHAT, DECIDED, NAMES, NOTICE, SQUEEZE

NAME: Final = "sabot live"  # application_name of the connection
PATIENCE: Final = 10.0  # seconds to wait for an answer before the connection counts as lost
MOST_DIGITS: Final = 18  # digits of a number that fits bigint

Parameters = Mapping[str, Any] | Sequence[Any]
Lost = (OperationalError, TimeoutError)
"""Exceptions raised where the database is gone or does not answer."""


@dataclass
class Notifications:
    """IDs received in notifications, by kind."""

    tables: set[int] = field(default_factory=set)  # changed live tables
    squeezes: set[int] = field(default_factory=set)  # live tables where a player turns cards
    chats: set[int] = field(default_factory=set)  # live tables with new chat messages
    blocks: set[int] = field(default_factory=set)  # players whose block lists changed
    names: set[int] = field(default_factory=set)  # names removed in the chat
    decided: set[int] = field(default_factory=set)  # players whose chat rights staff changed
    notices: set[int] = field(default_factory=set)  # notices and house stops, which every page shows


class Line:
    """An open connection that listens."""

    def __init__(self, connection: AsyncConnection[DictRow]) -> None:
        self._connection = connection
        self._heard = Notifications()
        self._is_present = False
        connection.add_notify_handler(self._note)

    async def ask(self, question: str, parameters: Parameters) -> list[DictRow]:
        """Return the rows of a query. Raises Lost."""
        async with asyncio.timeout(PATIENCE):
            answer = await self._connection.execute(question.encode(), parameters)
            return await answer.fetchall()

    async def show_presence(self, somebody_is_there: bool) -> None:
        """Hold the lock that shows that somebody watches, or release it (`ops.beat`). Raises Lost."""
        if somebody_is_there != self._is_present:
            await self.ask(ARRIVE if somebody_is_there else LEAVE, [])
            self._is_present = somebody_is_there

    def hear(self) -> Notifications:
        """Return the notifications received since the last call. Raises Lost."""
        self._receive()
        heard, self._heard = self._heard, Notifications()
        return heard

    async def rest(self, stirred: asyncio.Event, seconds: float) -> None:
        """Wait for a notification, for *stirred* to be set, or for *seconds* to pass.

        A notification that came with the answer to a query was read from the socket already, which then stays silent.
        Raises Lost.
        """
        self._receive()
        if self._heard != Notifications():
            return
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

    def _receive(self) -> None:
        server = self._connection.pgconn
        server.consume_input()
        while notifications := server.notifies():
            self._take_in(notifications.extra.decode("ascii", "replace"))

    def _note(self, notifications: Notify) -> None:
        self._take_in(notifications.payload)

    def _take_in(self, said: str) -> None:
        """Parse a notification payload. Any database login can send on the channel, so anything
        invalid is ignored.
        """
        what, _, number = said.rpartition(" ")
        heard = self._heard
        of = {
            "": heard.tables,
            SQUEEZE: heard.squeezes,
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
    """Connect and listen; disconnect at the end. Raises Lost."""
    parameters = connections["default"].get_connection_params()
    del parameters["cursor_factory"]  # Django's factory is for synchronous connections
    async with asyncio.timeout(PATIENCE):
        connection = await AsyncConnection.connect(
            **parameters | {"application_name": NAME}, autocommit=True, row_factory=dict_row
        )
    try:
        async with asyncio.timeout(PATIENCE):
            await connection.execute("SET TIME ZONE 'UTC'")  # the time zone in which Django reads times
            await connection.execute(f"LISTEN {CHANNEL}".encode())
        yield Line(connection)
    finally:
        await connection.close()
