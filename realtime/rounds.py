"""Finished rounds of one table, sent to the API clients that watch it. Each round is sent once and
in order, including those a client missed while disconnected, and before the table state that
follows it.
"""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from games.api.rounds_schema import BEGINNING, READ_OVER, cursor_of, number_of
from games.shared.stream_tokens import ApiClientTicket, RoundCursor
from realtime.listener import Line
from realtime.renderers import Wire
from realtime.stream import MISSED, Stream, event, written

MOST: Final = 100  # rounds sent after a reconnect; a client that missed more gets `MISSED` and requests the list

logger = structlog.get_logger(__name__)


class Rounds:
    """Which rounds of a table each API client has been sent."""

    def __init__(self, live_table: int, wire: Wire) -> None:
        self._live_table = live_table
        self._wire = wire
        self._is_stale = False
        self._latest = BEGINNING  # the last finished round
        # the last round sent, by stream; None for a new client without a position
        self._last_round: dict[Stream, RoundCursor | None] = {}

    @property
    def number(self) -> str:
        """Return the event ID of the last round sent to all; a client that reconnects with it is
        sent the following ones.
        """
        return number_of(self._latest)

    def take_in(self, stream: Stream) -> None:
        """Add a stream: send the rounds after the last one its client knows."""
        assert isinstance(stream.ticket, ApiClientTicket)  # noqa: S101  (nobody else asks for rounds)
        self._last_round[stream] = stream.ticket.after
        self._is_stale = True

    def let_go(self, stream: Stream) -> None:
        """Remove a stream."""
        self._last_round.pop(stream, None)

    def hear(self) -> None:
        """Note that a round may have finished."""
        self._is_stale = True

    async def keep_up(self, line: Line) -> None:
        """Read rounds that finished since, if any stream needs them, and send them."""
        if not (self._is_stale and self._last_round):
            return
        known = [seen_until for seen_until in self._last_round.values() if seen_until is not None]
        # MOST + 2: one more than is sent, to detect a client that missed more, and the round that is already known.
        since, most = (min(known), MOST + 2) if known else (BEGINNING, 1)
        rows = await line.ask(READ_OVER, [self._live_table, since.shoe, *since, most])
        self._is_stale = False
        if rows:  # the position a client reports is trusted for that client only
            self._latest = cursor_of(rows[0])
        messages = [(cursor_of(row), self._event(row)) for row in reversed(rows)]
        for stream, seen_until in self._last_round.items():
            if seen_until is not None:
                unknown = [said for number, said in messages if number > seen_until]
                stream.send_event("round", MISSED if len(unknown) > MOST else b"".join(unknown))
            self._last_round[stream] = max(seen_until or BEGINNING, self._latest)

    def _event(self, row: Mapping[str, Any]) -> bytes:
        """Return the event of a round; empty where the row cannot be parsed."""
        try:
            return event("round", written(self._wire.over(row)), number_of(cursor_of(row)))
        except Exception:
            logger.exception("live_render_failed", live_table=self._live_table, fragment="round")
            return b""
