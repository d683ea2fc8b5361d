"""The rounds of one table that are over, told to the programs that watch it: each of them once and in order, also those
that a program missed while it was away, and before the table as it is then.
"""

from collections.abc import Mapping
from typing import Any, Final

import structlog

from games.api.rounds_schema import BEGINNING, READ_OVER, mark_of, number_of
from games.shared.stream_tokens import Mark, ProgramTicket
from realtime.listener import Line
from realtime.renderers import Wire
from realtime.stream import MISSED, Stream, event, written

MOST: Final = 100  # rounds that are told to whoever was away; who missed more is told so, and asks for a list

logger = structlog.get_logger(__name__)


class Rounds:
    """Which rounds of a table each program has been told of."""

    def __init__(self, live_table: int, wire: Wire) -> None:
        self._live_table = live_table
        self._wire = wire
        self._is_stale = False
        self._latest = BEGINNING  # that is over
        self._told: dict[Stream, Mark | None] = {}  # up to which round; None where a program has just come

    @property
    def number(self) -> str:
        """Name the last round that everybody has been told of: whoever comes back with it is told what follows."""
        return number_of(self._latest)

    def take_in(self, stream: Stream) -> None:
        """Have a program told what follows the round that it knows of."""
        assert isinstance(stream.ticket, ProgramTicket)  # noqa: S101  (nobody else asks for rounds)
        self._told[stream] = stream.ticket.after
        self._is_stale = True

    def let_go(self, stream: Stream) -> None:
        """Forget somebody."""
        self._told.pop(stream, None)

    def hear(self) -> None:
        """Note that a round may be over that was not."""
        self._is_stale = True

    async def keep_up(self, line: Line) -> None:
        """Read what is over since, where somebody wants to know, and tell it."""
        if not (self._is_stale and self._told):
            return
        known = [mark for mark in self._told.values() if mark is not None]
        # One more than is told, to know of whoever missed more, and the round that is known already.
        since, most = (min(known), MOST + 2) if known else (BEGINNING, 1)
        rows = await line.ask(READ_OVER, [self._live_table, since.shoe, *since, most])
        self._is_stale = False
        if rows:  # what a program says that it knows counts for that program alone
            self._latest = mark_of(rows[0])
        news = [(mark_of(row), self._event(row)) for row in reversed(rows)]
        for stream, mark in self._told.items():
            if mark is not None:
                unknown = [said for number, said in news if number > mark]
                stream.tell("round", MISSED if len(unknown) > MOST else b"".join(unknown))
            self._told[stream] = max(mark or BEGINNING, self._latest)

    def _event(self, row: Mapping[str, Any]) -> bytes:
        """Return what is sent of a round; nothing where it cannot be understood."""
        try:
            return event("round", written(self._wire.over(row)), number_of(mark_of(row)))
        except Exception:
            logger.exception("live_render_failed", live_table=self._live_table, fragment="round")
            return b""
