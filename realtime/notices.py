"""What every page shows to everybody, told to those who watch: read when there is news of it, rendered once for each
language and time zone in which somebody reads, a page or a program, and sent again when something begins or ends by
itself.
"""

from datetime import timedelta
from time import monotonic
from typing import Final

import structlog

from accounts import banner
from accounts.banner import HOUSE_ZONE, Banner
from realtime.listener import Line, News
from realtime.stream import Stream, event, written

BREATH: Final = 0.001  # seconds past the moment of a change, so that the clock has passed it

logger = structlog.get_logger(__name__)


class Notices:
    """Everybody who watches anything, and what each has yet to be shown."""

    def __init__(self) -> None:
        self.streams: set[Stream] = set()  # everybody
        self._owed: set[Stream] = set()
        self._is_stale = True
        self._banner: Banner | None = None  # None until it is read for the first time
        self._read_at = 0.0
        self._events: dict[tuple[str, str, str], bytes] = {}  # of each kind, language and zone, as it is now
        self.due: float | None = None  # when something changes by itself, by this process's clock

    def take_in(self, stream: Stream) -> None:
        """Have somebody shown what there is, and what becomes of it."""
        self.streams.add(stream)
        self._owed.add(stream)

    def let_go(self, stream: Stream) -> None:
        """Forget somebody."""
        self.streams.discard(stream)
        self._owed.discard(stream)

    def hear(self, news: News) -> None:
        """Note whether it has to be read."""
        self._is_stale |= bool(news.notices)

    def begin_anew(self) -> None:
        """Have it read again: news may have been missed."""
        self._is_stale = True

    async def keep_up(self, line: Line) -> None:
        """Read it where there is news and somebody to tell; see what its time has changed; tell."""
        if not self.streams:
            return
        if self._is_stale:
            rows = await line.ask(banner.READ, [])
            self._is_stale = False
            try:
                self._banner, self._read_at = banner.of_rows(rows), monotonic()
            except Exception:
                logger.exception("live_read_failed", fragment="banner")
            self._begin()
        elif self.due is not None and monotonic() >= self.due:
            self._begin()
        self._show()

    def _begin(self) -> None:
        """Have everybody shown it as it is at this moment of the database's clock."""
        if self._banner is None:
            return
        now = monotonic()
        self._banner = self._banner.at(self._banner.now + timedelta(seconds=now - self._read_at))
        self._read_at = now
        change = self._banner.next_change
        self.due = None if change is None else now + (change - self._banner.now).total_seconds() + BREATH
        self._events.clear()
        self._owed |= self.streams

    def _show(self) -> None:
        if self._banner is not None:
            for stream in self._owed:
                kind = "notice" if stream.ticket.is_program else "banner"
                stream.tell(kind, self._event(kind, self._banner, stream))
            self._owed.clear()

    def _event(self, kind: str, shown: Banner, stream: Stream) -> bytes:
        """Return what is sent to somebody; nothing where it cannot be rendered."""
        language, zone = stream.ticket.language, shown.zones.get(stream.ticket.jurisdiction, HOUSE_ZONE)
        if (kind, language, zone) not in self._events:
            try:
                made = event(kind, _said(kind, shown, language, zone))
            except Exception:
                logger.exception("live_render_failed", fragment=kind, language=language)
                made = b""
            self._events[kind, language, zone] = made
        return self._events[kind, language, zone]


def _said(kind: str, shown: Banner, language: str, zone: str) -> str:
    if kind == "notice":
        return written(banner.told(shown, language, zone))
    return banner.render(shown, language, zone)
