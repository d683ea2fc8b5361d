"""The croupier's log: what was said and who did what in the latest coups of a table, newest first, for everybody."""

from dataclasses import replace

from games.chemin import messages
from games.chemin.presentation import LogLine, LogPart, LogView
from games.chemin.queries import Move, Seen
from games.chemin.turns import Reading, reading_of
from games.engine.cards import Card
from games.engine.chemin import view
from games.engine.chemin.events import CoupAnnulled, Decision, Event, HandShown, Settled, ThirdCard
from games.tables.board import card_view


def log_view(seen: Seen, language: str) -> LogView:
    """Return what happened lately, newest first, by coup."""
    reading = reading_of(seen, view(seen.standing, None), language)
    parts: list[LogPart] = []
    for move in reversed(seen.moves):
        lines = tuple(_line(move, event, reading) for event in reversed(move.events))
        lines = tuple(line for line in lines if line.text)
        if parts and parts[-1].code == move.code:
            parts[-1] = replace(parts[-1], lines=parts[-1].lines + lines)
        elif lines:
            parts.append(LogPart(move.code, lines))
    return LogView(tuple(parts))


def _line(move: Move, event: Event, reading: Reading) -> LogLine:
    spoken = messages.spoken(event, reading.who, reading.money)
    return LogLine(
        at=move.at,
        text=spoken.text,
        call=spoken.call,
        language=spoken.language,
        cards=tuple(card_view(card, 0, third=False) for card in _cards(event)),
        by_croupier=isinstance(event, Decision) and event.by_house,
        is_result=isinstance(event, Settled | CoupAnnulled),
    )


def _cards(event: Event) -> tuple[Card, ...]:
    if isinstance(event, HandShown):
        return event.cards
    return (event.card,) if isinstance(event, ThirdCard) else ()
