"""Live lobby: a card for every table of one mode (kind of money), rendered once per language in use
and sent to the streams whose currency and jurisdiction match. A lobby without streams is not read.
"""

from collections import defaultdict
from time import monotonic
from typing import Final

import structlog

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
