"""Live floor view for staff: read only while someone watches, each row rendered once for all
watchers of a language.

Django reads the floor as the page does, in a separate thread with its own connection, so that it
never delays a table at which somebody plays. Without watchers there is no thread and no connection.

Bets send no notification: NOTIFY serializes commits, so one per bet would slow betting down. The
floor is read again every second instead.
"""

import asyncio
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from functools import partial
from time import monotonic
from typing import Final

import structlog
from django.db import Error, connection, connections
from django.utils.translation import override

from games.shared.floor.rows import read_rows, render_head, render_row
from realtime.listener import Notifications
from realtime.stream import Stream, event

AGAIN: Final = 1.0  # seconds between reads without a notification
BREATH: Final = 0.2  # minimum seconds between reads
PAUSE: Final = 2.0  # seconds before a retry after a failed read
NAME: Final = "sabot floor"  # application_name of the connection
HEAD, ROW = "head", "row"  # event names

Events = list[tuple[str, bytes]]

logger = structlog.get_logger(__name__)


class Floor:
    """The staff streams that watch the floor, and the task that updates them."""

    def __init__(self) -> None:
        self.streams: set[Stream] = set()
        self._stirred = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._last_sent: dict[tuple[str, str], tuple[str, bytes]] = {}  # by language and key: version and event
        self._renders = 0

    def take_in(self, stream: Stream) -> None:
        """Add a stream: send every row and all later changes."""
        self.streams.add(stream)
        self._stirred.set()
        if self._work is None:
            # an empty context: the task belongs to no request
            self._work = asyncio.create_task(self._keep_up(), context=Context())

    def let_go(self, stream: Stream) -> None:
        """Remove a stream; the task ends after the last one."""
        self.streams.discard(stream)
        if not self.streams:
            self._stirred.set()

    def hear(self, notifications: Notifications) -> None:
        """Read the floor again if a table has changed."""
        if notifications.tables:
            self._stirred.set()

    async def close(self) -> None:
        """Stop the task."""
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
                languages = {stream.ticket.language for stream in self.streams}
                events = await loop.run_in_executor(thread, self._read, languages)
                for stream in list(self.streams):
                    stream.send_events(events.get(stream.ticket.language, ()))
                await self._rest(began, AGAIN if events else PAUSE)
            self._work = None  # the next stream starts a new task
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

    def _read(self, languages: Iterable[str]) -> dict[str, Events]:
        """Read the floor and return its events in each language, the head last because it gives the
        order of the rows. Return nothing where the floor cannot be read.
        """
        try:
            _call_the_connection()
            return {language: self._read_in(language) for language in languages}
        except Error as error:
            logger.warning("live_floor_unread", error=str(error), again_in=PAUSE)
        except Exception:
            logger.exception("live_floor_unread", again_in=PAUSE)
        connections.close_all()
        return {}

    def _read_in(self, language: str) -> Events:
        with override(language):
            rows = read_rows()
            events = [
                self._event(language, row.key, row.version, partial(render_row, row, rows.now)) for row in rows.rows
            ]
            return [*events, self._event(language, HEAD, rows.version, partial(render_head, rows))]

    def _event(self, language: str, key: str, version: str, render: Callable[[], str]) -> tuple[str, bytes]:
        """Return the event of a row or of the head, rendered once per language and version. One that cannot be
        rendered is empty and does not delay the others.
        """
        before, made = self._last_sent.get((language, key), ("", b""))
        if before != version:
            self._renders += 1
            try:
                made = event(HEAD if key == HEAD else ROW, render(), f"{key}-{self._renders}")
            except Exception:
                logger.exception("live_render_failed", fragment=key)
                made = b""
            self._last_sent[language, key] = version, made
        return key, made


def _call_the_connection() -> None:
    """Set application_name on a new connection of this thread."""
    if connection.connection is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('application_name', %s, false)", [NAME])
