"""Overviews of all tables: the live lobby of players, and the live floor of staff. Neither is read without a stream.

The lobby has a card for every table of one mode (kind of money), rendered once per language in use
and sent to the streams whose currency and jurisdiction match.

Each row of the floor is rendered once for all watchers of a language. Django reads the floor as the page does, in a
separate thread with its own connection, so that it never delays a table at which somebody plays. Without watchers there
is no thread and no connection. Bets send no notification: NOTIFY serializes commits, so one per bet would slow betting
down. The floor is read again every second instead.
"""

import asyncio
from collections import defaultdict
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
from games.shared.pages import lobby_card
from games.shared.pages.lobby_card import LobbyCard
from realtime.listener import Line, Notifications
from realtime.stream import Stream, event
from wallet.models import Mode

SLICE: Final = 0.01  # seconds spent on cards before tables are checked again

logger = structlog.get_logger(__name__)


class Card:
    """The current card of a table."""

    def __init__(self, state: LobbyCard) -> None:
        self.state = state
        self.key = lobby_card.card_key(state)
        self._events: dict[str, bytes] = {}

    def is_for(self, stream: Stream) -> bool:
        """Return whether the table is in the lobby of this stream."""
        return lobby_card.is_for(self.state, stream.ticket.currency, stream.ticket.jurisdiction)

    def event(self, language: str) -> bytes:
        """Return the event of the card; empty where the card cannot be rendered."""
        if language not in self._events:
            try:
                made = event("lobby", lobby_card.render_card(self.state, language))
            except Exception:
                logger.exception("live_render_failed", live_table=self.state.live_table, fragment="lobby")
                made = b""
            self._events[language] = made
        return self._events[language]


class Lobbies:
    """All lobby streams, and which cards each still has to be sent."""

    def __init__(self) -> None:
        self._streams: defaultdict[Mode, set[Stream]] = defaultdict(set)
        self._unread: set[Mode] = set()  # lobbies of which every card has to be read
        self._stale: set[int] = set()  # tables whose card has to be read
        self._mode_of: dict[int, Mode] = {}
        self._cards: dict[Mode, dict[int, Card]] = {}
        self._owed: dict[Stream, set[int]] = {}  # per stream, the tables whose current card was not sent yet

    @property
    def streams(self) -> list[Stream]:
        """All lobby streams."""
        return [stream for streams in self._streams.values() for stream in streams]

    def take_in(self, mode: Mode, stream: Stream) -> None:
        """Add a stream: send all cards and their later changes."""
        if not self._streams[mode]:
            self._cards[mode] = {}
            self._unread.add(mode)
        self._streams[mode].add(stream)
        self._owed[stream] = {number for number, card in self._cards[mode].items() if card.is_for(stream)}

    def let_go(self, mode: Mode, stream: Stream) -> None:
        """Remove a stream; drop the lobby's cards with the last one."""
        self._owed.pop(stream, None)
        self._streams[mode].discard(stream)
        if not self._streams[mode]:
            del self._streams[mode]
            self._cards.pop(mode, None)
            self._unread.discard(mode)

    def hear(self, notifications: Notifications) -> None:
        """Mark the cards to read: those of tables in a watched lobby or in an unknown one."""
        if self._streams:
            elsewhere = {number for number, mode in self._mode_of.items() if mode not in self._streams}
            self._stale |= notifications.tables - elsewhere

    def refresh_all(self) -> None:
        """Mark everything for reading: notifications may have been missed."""
        self._unread.update(self._streams)

    async def keep_up(self, line: Line) -> None:
        """Read all marked cards in one query."""
        for mode in list(self._unread):
            self._stale |= {row["id"] for row in await line.ask(lobby_card.READ_LOBBY, [mode])}
        if self._stale:
            for row in await line.ask(lobby_card.READ_CARDS, [list(self._stale)]):
                try:
                    self._take(Card(lobby_card.card_state(row)))
                except Exception:
                    logger.exception("live_read_failed", live_table=row["live_table"], fragment="lobby")
        self._unread.clear()
        self._stale.clear()

    def show(self) -> bool:
        """Send cards for a short time; return True if some remain."""
        until = monotonic() + SLICE
        for stream in list(self._owed):
            cards = self._cards[stream.ticket.lobby] if stream.ticket.lobby else {}
            numbers = self._owed.pop(stream)
            stream.send_events((f"lobby-{each}", cards[each].event(stream.ticket.language)) for each in sorted(numbers))
            if monotonic() >= until:
                break
        return bool(self._owed)

    def _take(self, card: Card) -> None:
        number, mode = card.state.live_table, card.state.mode
        self._mode_of[number] = mode
        cards = self._cards.get(mode)
        if cards is None:  # nobody watches this lobby
            return
        before = cards.get(number)
        if before is None or before.key != card.key:
            cards[number] = card
            for stream in filter(card.is_for, self._streams[mode]):
                self._owed.setdefault(stream, set()).add(number)


AGAIN: Final = 1.0  # seconds between reads without a notification
BREATH: Final = 0.2  # minimum seconds between reads
PAUSE: Final = 2.0  # seconds before a retry after a failed read
NAME: Final = "sabot floor"  # application_name of the connection
HEAD, ROW = "head", "row"  # event names

Events = list[tuple[str, bytes]]


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
