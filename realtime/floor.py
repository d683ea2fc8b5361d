"""The floor as one process shows it to staff: read while somebody looks, each row rendered once for all of them.

It is read as the page reads it, by Django in a thread of its own with a connection of its own, so that nothing of it
holds up a table at which somebody plays. With nobody looking, there is neither thread nor connection.

Bets are no news: so many notifications, committed one after another, would hold the bets up. They are found by reading
again, once a second.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial
from time import monotonic
from typing import Final

import structlog
from django.db import Error, connection, connections

from games.shared.floor.rows import read_rows, render_head, render_row
from realtime.listener import News
from realtime.stream import Stream, event

AGAIN: Final = 1.0  # seconds until it is read again, without news
BREATH: Final = 0.2  # seconds between two times, whatever the news
PAUSE: Final = 2.0  # seconds until the next try where it could not be read
NAME: Final = "sabot floor"  # as PostgreSQL shows the connection
HEAD, ROW = "head", "row"  # kinds of events

Events = list[tuple[str, bytes]]

logger = structlog.get_logger(__name__)


class Floor:
    """Everybody of staff who looks at the floor, and the task that keeps them up to date."""

    def __init__(self) -> None:
        self.streams: set[Stream] = set()
        self._stirred = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._told: dict[str, tuple[str, bytes]] = {}  # by key: the version, and the event that tells it
        self._renders = 0

    def take_in(self, stream: Stream) -> None:
        """Have somebody shown every row, and what becomes of it."""
        self.streams.add(stream)
        self._stirred.set()
        if self._work is None:
            self._work = asyncio.create_task(self._keep_up(), context=Context())  # of nobody's request

    def let_go(self, stream: Stream) -> None:
        """Forget somebody; the last one ends the reading."""
        self.streams.discard(stream)
        if not self.streams:
            self._stirred.set()

    def hear(self, news: News) -> None:
        """Have the floor read again where a table has moved."""
        if news.tables:
            self._stirred.set()

    async def close(self) -> None:
        """End the reading."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)

    async def _keep_up(self) -> None:
        loop = asyncio.get_running_loop()
        thread = ThreadPoolExecutor(1, thread_name_prefix="floor")
        try:
            while self.streams:
                began = monotonic()
                self._stirred.clear()
                events = await loop.run_in_executor(thread, self._read)
                for stream in list(self.streams):
                    stream.tell_all(events)
                await self._rest(began, AGAIN if events else PAUSE)
            self._work = None  # whoever comes from now on begins another
        finally:
            thread.submit(connections.close_all)
            thread.shutdown(wait=False)

    async def _rest(self, began: float, seconds: float) -> None:
        await asyncio.sleep(max(0.0, began + BREATH - monotonic()))
        try:
            async with asyncio.timeout(seconds - BREATH):
                await self._stirred.wait()
        except TimeoutError:
            pass

    def _read(self) -> Events:
        """Read the floor, and return all there is to tell, the head last: it says in which order the rows stand.
        Nothing where it cannot be read.
        """
        try:
            _call_the_connection()
            rows = read_rows()
        except Error as error:
            logger.warning("live_floor_unread", error=str(error), again_in=PAUSE)
        except Exception:
            logger.exception("live_floor_unread", again_in=PAUSE)
        else:
            told = [self._event(row.key, row.version, partial(render_row, row, rows.now)) for row in rows.rows]
            return [*told, self._event(HEAD, rows.version, partial(render_head, rows))]
        connections.close_all()
        return []

    def _event(self, key: str, version: str, render: Callable[[], str]) -> tuple[str, bytes]:
        """Return what is sent of a row or the head, as it was rendered for this version. What cannot be rendered holds
        up nothing else.
        """
        before, made = self._told.get(key, ("", b""))
        if before != version:
            self._renders += 1
            try:
                made = event(HEAD if key == HEAD else ROW, render(), f"{key}-{self._renders}")
            except Exception:
                logger.exception("live_render_failed", fragment=key)
                made = b""
            self._told[key] = version, made
        return key, made


def _call_the_connection() -> None:
    """Give this thread's connection its name, where it is a new one."""
    if connection.connection is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, false)", [NAME])
