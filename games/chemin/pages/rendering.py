"""Render a table of Chemin de Fer as HTML: the public part, each player's own part, and the log.

This module opens no connection and has no request: pages and streams pass in rows that they have
read. It knows all cards. The public part and the log show what a spectator may see, and a player's
own part what that seat may see (`games.engine.chemin.views`).
"""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.utils.translation import override

from games.chemin.pages import messages
from games.chemin.pages.board import own_view, public_view
from games.chemin.pages.presentation import LogLine, LogPart, LogView
from games.chemin.pages.turns import Reading, reading_of
from games.chemin.state.queries import Move, PublicTable
from games.chemin.state.snapshots import READ_OWN, READ_PUBLIC, own_state, public_state, with_funds
from games.engine.cards import Card
from games.engine.chemin import view
from games.engine.chemin.events import CoupVoided, Decision, Event, HandShown, Settled, ThirdCard
from games.tables.board import card_view
from games.tables.fragments import Parts, render_fragment, render_parts
from games.tables.presentation import Notice


def log_view(seen: PublicTable, language: str) -> LogView:
    """Return the latest events, newest first, grouped by coup."""
    reading = reading_of(seen, view(seen.table_state, None), language)
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
        is_result=isinstance(event, Settled | CoupVoided),
    )


def _cards(event: Event) -> tuple[Card, ...]:
    if isinstance(event, HandShown):
        return event.cards
    return (event.card,) if isinstance(event, ThirdCard) else ()


__all__ = [
    "READ_OWN",
    "READ_PUBLIC",
    "board_key",
    "own_key",
    "page_board_key",
    "public_state",
    "render_board",
    "render_own",
    "render_public",
]


def render_public(seen: PublicTable, language: str) -> Parts:
    """Return ``#live-public`` for *seen*, the same for everybody."""
    with override(language):
        return render_parts("chemin.html#public", live=public_view(seen, language))


def own_key(seen: PublicTable) -> Hashable:
    """Return a key that changes when a player's own part may change."""
    return (seen.move, seen.is_open, seen.is_paused, seen.is_stopped, seen.is_house_stopped, seen.voided)


def board_key(seen: PublicTable) -> Hashable:
    """Return a key that changes when the log changes."""
    return (seen.moves[-1].number if seen.moves else 0, seen.voided)


def page_board_key(seen: PublicTable) -> str:
    """Return the key in the form that a page stores."""
    return hashlib.sha256(repr(board_key(seen)).encode()).hexdigest()[:16]


def render_board(seen: PublicTable, language: str) -> str:
    """Return ``#live-board``, the log of the latest coups, the same for everybody."""
    with override(language):
        view = log_view(seen, language)
        return render_fragment("chemin.html#board", board=view, key=page_board_key(seen), move=seen.move)


def render_own(
    seen: PublicTable, row: Mapping[str, Any], language: str, *, notice: Notice | None = None, csrf_token: str = ""
) -> Parts:
    """Return ``#live-own`` for the player of *row*, a row of `READ_OWN`.

    A page passes a CSRF token for its forms. A stream passes none, because htmx sends the page's
    token.
    """
    own = own_state(seen, row)
    with override(language):
        view = own_view(with_funds(seen, own), own, language, None)
        key = hashlib.sha256(repr(replace(view, clock="")).encode()).hexdigest()[:16]
        return render_parts(
            "chemin.html#own",
            own=replace(view, notice=notice or view.notice),
            key=key,
            version=seen.move,
            csrf_token=csrf_token,
            idempotency_key=uuid4() if csrf_token else "",  # a script makes one for each click
        )
