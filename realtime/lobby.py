"""The lobbies as one process shows them: a card for every table of one kind of money, rendered once for each language
that somebody looks at it in, and sent to those who have its currency. With nobody in a lobby nothing of it is read.
"""

from collections import defaultdict
from time import monotonic
from typing import Final

import structlog

from games.shared import lobby_card
from games.shared.lobby_card import LobbyCard
from realtime.listener import Line, News
from realtime.stream import Stream, event
from wallet.models import Mode

SLICE: Final = 0.01  # seconds given to cards before a table is looked at again

logger = structlog.get_logger(__name__)


class Card:
    """A table's card, as it is now."""

    def __init__(self, state: LobbyCard) -> None:
        self.state = state
        self.key = lobby_card.card_key(state)
        self._events: dict[str, bytes] = {}

    def is_for(self, stream: Stream) -> bool:
        """Say whether somebody's lobby has the table."""
        return lobby_card.is_for(self.state, stream.ticket.currency, stream.ticket.jurisdiction)

    def event(self, language: str) -> bytes:
        """Return what is sent; nothing where the card cannot be rendered."""
        if language not in self._events:
            try:
                made = event("lobby", lobby_card.render_card(self.state, language))
            except Exception:
                logger.exception("live_render_failed", live_table=self.state.live_table, fragment="lobby")
                made = b""
            self._events[language] = made
        return self._events[language]


class Lobbies:
    """Everybody who looks at all tables, and what each is still to be shown."""

    def __init__(self) -> None:
        self._streams: defaultdict[Mode, set[Stream]] = defaultdict(set)
        self._unread: set[Mode] = set()  # lobbies of which every card has to be read
        self._stale: set[int] = set()  # tables whose card has to be read
        self._mode_of: dict[int, Mode] = {}
        self._cards: dict[Mode, dict[int, Card]] = {}
        self._owed: dict[Stream, set[int]] = {}  # cards that somebody has not been shown as they are now

    @property
    def streams(self) -> list[Stream]:
        """Everybody in a lobby."""
        return [stream for streams in self._streams.values() for stream in streams]

    def take_in(self, mode: Mode, stream: Stream) -> None:
        """Have somebody shown all cards, and what becomes of them."""
        if not self._streams[mode]:
            self._cards[mode] = {}
            self._unread.add(mode)
        self._streams[mode].add(stream)
        self._owed[stream] = {number for number, card in self._cards[mode].items() if card.is_for(stream)}

    def let_go(self, mode: Mode, stream: Stream) -> None:
        """Forget somebody, and the cards with the last one."""
        self._owed.pop(stream, None)
        self._streams[mode].discard(stream)
        if not self._streams[mode]:
            del self._streams[mode]
            self._cards.pop(mode, None)
            self._unread.discard(mode)

    def hear(self, news: News) -> None:
        """Note whose cards have to be read: those of tables that are shown, or are not known yet."""
        if self._streams:
            elsewhere = {number for number, mode in self._mode_of.items() if mode not in self._streams}
            self._stale |= news.tables - elsewhere

    def begin_anew(self) -> None:
        """Have everything read again: news may have been missed."""
        self._unread.update(self._streams)

    async def keep_up(self, line: Line) -> None:
        """Read what there is news of, all in one query."""
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
        """Show cards for a moment; say whether there are more to show."""
        until = monotonic() + SLICE
        for stream in list(self._owed):
            cards = self._cards[stream.ticket.lobby] if stream.ticket.lobby else {}
            numbers = self._owed.pop(stream)
            stream.tell_all((f"lobby-{each}", cards[each].event(stream.ticket.language)) for each in sorted(numbers))
            if monotonic() >= until:
                break
        return bool(self._owed)

    def _take(self, card: Card) -> None:
        number, mode = card.state.live_table, card.state.mode
        self._mode_of[number] = mode
        cards = self._cards.get(mode)
        if cards is None:  # nobody looks
            return
        before = cards.get(number)
        if before is None or before.key != card.key:
            cards[number] = card
            for stream in filter(card.is_for, self._streams[mode]):
                self._owed.setdefault(stream, set()).add(number)
