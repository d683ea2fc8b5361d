"""Live table of one process: rendered once per language in use, and once for all API clients.

The renderers of its shape (`SHOWS`, `WIRES`) read and render it, for pages and for API clients. All
other stream code is the same for every shape.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from time import monotonic
from types import MappingProxyType
from typing import Any, Final, Protocol, Self

import structlog

from games.api import chemin_schema, shared_schema
from games.api.shapes import BEGINNING, READ_OVER, cursor_of, number_of
from games.chemin.pages import rendering as chemin
from games.models import Shape
from games.shared.pages import rendering as shared
from games.shared.pages.bettors import MOST as MOST_BETTORS
from games.shared.pages.bettors import READ as READ_BETTORS
from games.shared.pages.bettors import render_bettors
from games.shared.pages.stream_tokens import ApiClientTicket, RoundCursor
from games.shared.state import READ_SQUEEZES
from games.tables.fragments import Digest, Parts
from realtime.listener import Line
from realtime.stream import MISSED, Stream, event, written

BREATH: Final = 0.001  # seconds added to the time of a card, so that it has certainly passed
BETTORS_SECONDS: Final = 1.0  # between two looks at who has bet, while bets are open
READING_SHARE: Final = 20  # times as long as it took
MOST: Final = 100  # rounds sent after a reconnect; a client that missed more gets `MISSED` and requests the list

logger = structlog.get_logger(__name__)


class Shown(Protocol):
    """The public state of a table at one time of the database's clock."""

    @property
    def now(self) -> datetime:
        """The time of this state."""

    def at(self, moment: datetime) -> Self:
        """Return the state at a later time, provided that nothing was written since."""

    def next_change(self, now: datetime) -> float | None:
        """Return the seconds after *now* until the state changes without a write, or None."""


class Show(Protocol):
    """Interface of a page renderer for one shape. *state* is the return value of `public_state`."""

    READ_PUBLIC: str
    """Query for the public state. Parameter: the live table."""
    READ_OWN: str
    """Query for the players' own state: rows with a `player` column. Parameters: the live table, a
    list of players.
    """

    def public_state(self, row: Mapping[str, Any]) -> Shown:
        """Parse a row of `READ_PUBLIC`. Raises any exception for a row that cannot be parsed."""

    def own_key(self, state: Any) -> Hashable:
        """Return a key that changes when the players' own fragments may change."""

    def board_key(self, state: Any) -> Hashable:
        """Return a key that changes when the scoreboard changes."""

    def render_public(self, state: Any, language: str) -> Parts:
        """Return ``#live-public``."""

    def render_own(self, state: Any, row: Mapping[str, Any], language: str) -> Parts:
        """Return ``#live-own`` for the player of a row of `READ_OWN`."""

    def render_board(self, state: Any, language: str) -> str:
        """Return ``#live-board``."""


SHOWS: Final[Mapping[Shape, Show]] = MappingProxyType({Shape.SHARED: shared, Shape.CHEMIN: chemin})
"""Page renderers of every shape that has streams."""


class Wire(Protocol):
    """Interface of an API serializer for one shape; it returns values that can be written as JSON."""

    def public(self, state: Any) -> Mapping[str, Any]:
        """Return the public state of the table."""

    def own(self, state: Any, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the own state of the player of a row of `READ_OWN`."""

    def over(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a finished round from a row of `games.api.shapes.READ_OVER`."""


WIRES: Final[Mapping[Shape, Wire]] = MappingProxyType({Shape.SHARED: shared_schema, Shape.CHEMIN: chemin_schema})


class WatchedTable:
    """A watched table, and what each of its streams still has to be sent."""

    def __init__(self, number: int, shows: Show, wire: Wire) -> None:
        self.number = number
        self.shows = shows
        self.wire = wire
        self.rounds = Rounds(number, wire)  # for API clients
        self.streams: set[Stream] = set()
        self._of_player: dict[int, set[Stream]] = defaultdict(set)
        self.is_stale = True
        self.due: float | None = None  # time of the next change without a write, by this process's monotonic clock
        self._state: Shown | None = None  # None until the first read
        self._read_at = 0.0
        self._own_key: Hashable = None
        self._public: dict[str, Parts | None] = {}  # current public part by language; None: it cannot be rendered
        self._events: dict[tuple[str, Digest | None], bytes] = {}  # of it, by language and by what the stream shows
        self._api_state = b""  # current event for API clients; empty until one is needed
        self._renders = 0
        self._unread: set[int] = set()  # players whose own state has to be read
        self._owed: dict[int, Mapping[str, Any]] = {}  # own state that was read and not yet sent, by player
        self._board_key: Hashable = None
        self._boards: dict[str, bytes] = {}  # current scoreboard event by language
        self._without_board: dict[Stream, None] = {}  # streams that have not been sent the current scoreboard
        self.is_squeezed = False  # a player has lifted or turned a card since it was read last
        self.bettors_due: float | None = None  # time to read who has bet, by this process's monotonic clock
        self._bettors: Mapping[str, Any] | None = None  # who has bet, as it was read last

    @property
    def owes(self) -> bool:
        """True if a player's own state was read and not yet sent."""
        return bool(self._owed)

    def take_in(self, stream: Stream) -> None:
        """Add a stream: send the current state and all later changes."""
        self.streams.add(stream)
        self._of_player[stream.ticket.player].add(stream)
        self._unread.add(stream.ticket.player)
        if stream.ticket.is_api_client:
            self.rounds.take_in(stream)
        else:
            self._without_board[stream] = None
            if self._bettors is not None and self._state is not None:
                stream.send_event("bettors", self._bettors_in(self._state, stream.ticket.language))

    def let_go(self, stream: Stream) -> None:
        """Remove a stream."""
        self.streams.discard(stream)
        self.rounds.let_go(stream)
        self._without_board.pop(stream, None)
        player = stream.ticket.player
        self._of_player[player].discard(stream)
        if not self._of_player[player]:
            del self._of_player[player]

    def refresh_all(self) -> None:
        """Mark everything for reading: notifications may have been missed."""
        self.is_stale = True
        self._own_key = None

    def take(self, row: Mapping[str, Any]) -> None:
        """Take over the state in a row that was just read. Raises any exception for a row that
        cannot be parsed; the state is unchanged then.
        """
        state = self.shows.public_state(row)
        self._state, self._read_at = state, monotonic()
        self._forget_public()
        self.bettors_due = monotonic()  # bets are open, or have just been closed
        self.rounds.hear()
        own_key = self.shows.own_key(state)
        if own_key != self._own_key:
            self._own_key = own_key
            self._unread.update(self._of_player)
        key = self.shows.board_key(state)
        if key != self._board_key:
            self._board_key = key
            self._boards.clear()
            self._without_board = dict.fromkeys(each for each in self.streams if not each.ticket.is_api_client)

    def show(self) -> None:
        """Send the public state to every stream that has not been sent it."""
        if self._state is None:
            return
        if self.due is not None and monotonic() >= self.due:
            self._forget_public()
        now = self._now(self._state)
        if not (self._public or self._api_state):
            left = now.next_change(now.now)
            self.due = None if left is None else monotonic() + left + BREATH
        for stream in self.streams:
            if stream.ticket.is_api_client:
                stream.send_event("state", self._state_of(now))
            else:
                self._show_public_to(stream, now)

    def players_to_read(self) -> list[int]:
        """Return the players whose own state has to be read."""
        if self._state is None:
            return []
        wanted = self._unread & self._of_player.keys()
        self._unread.clear()
        return list(wanted)

    def owe(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Queue the own state of these players, replacing what was queued before."""
        for row in rows:
            self._owed[row["player"]] = row

    def show_one(self) -> None:
        """Send one queued player's own state on that player's streams only."""
        if self._state is None:
            return
        player = next(iter(self._owed))
        row = self._owed.pop(player)
        state = self._now(self._state)
        rendered: dict[str, Parts | None] = {}
        for stream in self._of_player.get(player, ()):
            language = stream.ticket.language
            if stream.ticket.is_api_client:
                stream.send_event("own", self._event("own", lambda: written(self.wire.own(state, row))))
                continue
            if language not in rendered:
                rendered[language] = self._rendered("own", partial(self.shows.render_own, state, row, language))
            if (own := rendered[language]) and stream.shown.get("own") != own.digest:
                stream.send_event("own", event("own", own.since(stream.shown.get("own"))))
                stream.shown["own"] = own.digest

    def show_board(self) -> bool:
        """Send the scoreboard to the streams of one language that lack it; return True if there were any."""
        if self._state is None or not self._without_board:
            return False
        language = next(iter(self._without_board)).ticket.language
        if language not in self._boards:
            self._boards[language] = self._event("board", partial(self.shows.render_board, self._state, language))
        for stream in [each for each in self._without_board if each.ticket.language == language]:
            del self._without_board[stream]
            stream.send_event("board", self._boards[language])
        return True

    async def read_bettors(self, line: Line) -> None:
        """Read who has bet and send it to pages, if that is due. While bets are open it is due again a second later, or
        after as long as keeps reading a small part of the time.
        """
        if self.bettors_due is None or monotonic() < self.bettors_due:
            return
        state, began = self._state, monotonic()
        self.bettors_due = None
        if self.shows is not SHOWS[Shape.SHARED] or not isinstance(state, shared.State):
            return
        (row,) = await line.ask(READ_BETTORS, [self.number, MOST_BETTORS])
        if state.takes_bets and not state.has_lapsed:
            self.bettors_due = monotonic() + max(BETTORS_SECONDS, READING_SHARE * (monotonic() - began))
        if row == self._bettors:
            return
        self._bettors = row
        made: dict[str, bytes] = {}
        for stream in self._pages():
            language = stream.ticket.language
            if language not in made:
                made[language] = self._bettors_in(state, language)
            stream.send_event("bettors", made[language])

    def _bettors_in(self, state: Any, language: str) -> bytes:
        return self._event("bettors", partial(render_bettors, state, self._bettors or {}, language))

    async def read_squeezes(self, line: Line) -> None:
        """Send pages how far players have lifted their cards, if any of them has moved.

        A page that lags behind is not sent every step: what it is sent next says everything.
        """
        if not self.is_squeezed:
            return
        self.is_squeezed = False
        rows = await line.ask(READ_SQUEEZES, [self.number])
        messages = event("squeeze", written({"hands": rows}))
        for stream in self._pages():
            if stream.keeps_up:
                stream.send_event("squeeze", messages)

    def _pages(self) -> list[Stream]:
        return [stream for stream in self.streams if not stream.ticket.is_api_client]

    def _now(self, state: Shown) -> Shown:
        """Return *state* at the current time of the database's clock; never ahead of it, since reading took time."""
        return state.at(state.now + timedelta(seconds=monotonic() - self._read_at))

    def _forget_public(self) -> None:
        self._public.clear()
        self._events.clear()
        self._api_state = b""

    def _show_public_to(self, stream: Stream, now: Shown) -> None:
        """Send a stream the public part: all of it the first time, then the parts that have changed."""
        language, before = stream.ticket.language, stream.shown.get("public")
        if language not in self._public:
            self._renders += 1
            self._public[language] = self._rendered("public", partial(self.shows.render_public, now, language))
        public = self._public[language]
        if public is None or before == public.digest:
            return
        if (language, before) not in self._events:
            number = f"{self.number}-{self._renders}"
            self._events[language, before] = event("public", public.since(before), number)
        stream.send_event("public", self._events[language, before])
        stream.shown["public"] = public.digest

    def _state_of(self, now: Shown) -> bytes:
        """Return the table state for API clients; its event ID is the last round that was sent."""
        if not self._api_state:
            self._api_state = self._event("state", lambda: written(self.wire.public(now)), self.rounds.number)
        return self._api_state

    def _rendered(self, name: str, render: Callable[[], Parts]) -> Parts | None:
        """Return a fragment; None where it cannot be rendered, so that it does not delay others."""
        try:
            return render()
        except Exception:
            logger.exception("live_render_failed", live_table=self.number, fragment=name)
            return None

    def _event(self, name: str, render: Callable[[], str], number: str = "") -> bytes:
        """Return an event; empty where the fragment cannot be rendered, so that it does not delay others."""
        try:
            return event(name, render(), number)
        except Exception:
            logger.exception("live_render_failed", live_table=self.number, fragment=name)
            return b""


class Rounds:
    """The rounds of a table that each API client has been sent: each once and in order, including those
    it missed while disconnected, and before the table state that follows.
    """

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
