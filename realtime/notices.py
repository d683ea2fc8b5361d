"""Banner of notices and house stops, sent to every stream. It is read after a notification,
rendered once per language and time zone for pages and for API clients, and sent again when a notice
begins or ends by its schedule.
"""

from datetime import timedelta
from time import monotonic
from typing import Final

import structlog

from accounts import banner
from accounts.banner import HOUSE_ZONE, Banner
from realtime.listener import Line, Notifications
from realtime.stream import Stream, event, written

BREATH: Final = 0.001  # seconds added to the time of a change, so that it has certainly passed

logger = structlog.get_logger(__name__)


class Notices:
    """All streams, and which of them still have to be sent the banner."""

    def __init__(self) -> None:
        self.streams: set[Stream] = set()  # every open stream
        self._owed: set[Stream] = set()
        self._is_stale = True
        self._banner: Banner | None = None  # None until the first read
        self._read_at = 0.0
        self._events: dict[tuple[str, str, str], bytes] = {}  # current event by kind, language and time zone
        self.due: float | None = None  # time of the next scheduled change, by this process's monotonic clock

    def take_in(self, stream: Stream) -> None:
        """Add a stream: send the current banner and its later changes."""
        self.streams.add(stream)
        self._owed.add(stream)

    def let_go(self, stream: Stream) -> None:
        """Remove a stream."""
        self.streams.discard(stream)
        self._owed.discard(stream)

    def hear(self, notifications: Notifications) -> None:
        """Mark the banner for reading if there was a notification."""
        self._is_stale |= bool(notifications.notices)

    def refresh_all(self) -> None:
        """Mark the banner for reading: notifications may have been missed."""
        self._is_stale = True

    async def keep_up(self, line: Line) -> None:
        """Read the banner if it is marked, apply scheduled changes, and send it."""
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
        """Recompute the banner for the current time of the database's clock and queue it for every stream."""
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
                kind = "notice" if stream.ticket.is_api_client else "banner"
                stream.send_event(kind, self._event(kind, self._banner, stream))
            self._owed.clear()

    def _event(self, kind: str, shown: Banner, stream: Stream) -> bytes:
        """Return the event for a stream; empty where it cannot be rendered."""
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
        return written(banner.describe_banner(shown, language, zone))
    return banner.render(shown, language, zone)
