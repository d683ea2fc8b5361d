"""Live table of one process: rendered once per language in use, and once for all API clients."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import timedelta
from functools import partial
from time import monotonic
from typing import Any, Final

import structlog

from realtime.renderers import Show, Shown, Wire
from realtime.rounds import Rounds
from realtime.stream import Stream, event, written

BREATH: Final = 0.001  # seconds added to the time of a card, so that it has certainly passed

API_CLIENTS: Final = ""  # used in place of a language: API clients get the same data in all languages

logger = structlog.get_logger(__name__)


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
        self._public: dict[str, bytes] = {}  # current event by language; `PROGRAMS` for API clients
        self._renders = 0
        self._unread: set[int] = set()  # players whose own state has to be read
        self._owed: dict[int, Mapping[str, Any]] = {}  # own state that was read and not yet sent, by player
        self._board_key: Hashable = None
        self._boards: dict[str, bytes] = {}  # current scoreboard event by language
        self._without_board: dict[Stream, None] = {}  # streams that have not been sent the current scoreboard

    @property
    def owes(self) -> bool:
        """Whether some player's own state was read and not yet sent."""
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

    def let_go(self, stream: Stream) -> None:
        """Remove a stream."""
        self.streams.discard(stream)
        self.rounds.let_go(stream)
        self._without_board.pop(stream, None)
        player = stream.ticket.player
        self._of_player[player].discard(stream)
        if not self._of_player[player]:
            del self._of_player[player]

    def begin_anew(self) -> None:
        """Mark everything for reading: notifications may have been missed."""
        self.is_stale = True
        self._own_key = None

    def take(self, row: Mapping[str, Any]) -> None:
        """Take over the state in a row that was just read. Raises any exception for a row that
        cannot be parsed; the state is unchanged then.
        """
        state = self.shows.public_state(row)
        self._state, self._read_at = state, monotonic()
        self._public.clear()
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
            self._public.clear()
        now = self._now(self._state)
        if not self._public:
            left = now.next_change(now.now)
            self.due = None if left is None else monotonic() + left + BREATH
        for stream in self.streams:
            if stream.ticket.is_api_client:
                stream.send_event("state", self._state_of(now))
            else:
                stream.send_event("public", self._public_in(stream.ticket.language, now))

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
        rendered: dict[str, bytes] = {}
        for stream in self._of_player.get(player, ()):
            reader = API_CLIENTS if stream.ticket.is_api_client else stream.ticket.language
            if reader not in rendered:
                rendered[reader] = self._event("own", partial(self._own_to, reader, state, row))
            stream.send_event("own", rendered[reader])

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

    def _now(self, state: Shown) -> Shown:
        """Return *state* at the current time of the database's clock; never ahead of it, since reading took time."""
        return state.at(state.now + timedelta(seconds=monotonic() - self._read_at))

    def _public_in(self, language: str, now: Shown) -> bytes:
        if language not in self._public:
            self._renders += 1
            render = partial(self.shows.render_public, now, language)
            self._public[language] = self._event("public", render, f"{self.number}-{self._renders}")
        return self._public[language]

    def _state_of(self, now: Shown) -> bytes:
        """Return the table state for API clients; its event ID is the last round that was sent."""
        if API_CLIENTS not in self._public:
            number = self.rounds.number
            self._public[API_CLIENTS] = self._event("state", lambda: written(self.wire.public(now)), number)
        return self._public[API_CLIENTS]

    def _own_to(self, reader: str, state: Shown, row: Mapping[str, Any]) -> str:
        """Return a player's own state: JSON for API clients, otherwise HTML in the language *reader*."""
        return (
            written(self.wire.own(state, row)) if reader == API_CLIENTS else self.shows.render_own(state, row, reader)
        )

    def _event(self, name: str, render: Callable[[], str], number: str = "") -> bytes:
        """Return an event; empty where the fragment cannot be rendered, so that it does not delay others."""
        try:
            return event(name, render(), number)
        except Exception:
            logger.exception("live_render_failed", live_table=self.number, fragment=name)
            return b""
