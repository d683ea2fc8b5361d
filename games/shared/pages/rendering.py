"""Render a shared table as HTML: the public part and each player's own part.

This module opens no connection and has no request: pages and streams pass in rows that they have
read. The public part contains no token, nonce or preference, so it is rendered once for each
language.
"""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.utils.translation import override

from games.models import Phase
from games.shared.pages.board import OwnView, own_view, public_view
from games.shared.pages.scoreboard import results_view
from games.shared.state import READ_OWN, READ_PUBLIC, State, own_state, public_state
from games.tables.fragments import Parts, render_fragment, render_parts
from games.tables.presentation import Notice

__all__ = [
    "READ_OWN",
    "READ_PUBLIC",
    "State",
    "board_key",
    "own_key",
    "page_board_key",
    "public_state",
    "render_board",
    "render_own",
    "render_public",
]


def render_public(state: State, language: str) -> Parts:
    """Return ``#live-public`` for *state*, the same for everybody."""
    with override(language):
        return render_parts("live.html#public", live=public_view(state, language))


def own_key(state: State) -> Hashable:
    """Return a key that changes when a player's own part may change.

    Dealing does not change it: betting is closed by then, and nothing is settled until the cards
    are up.
    """
    played = state.round
    if played is None:
        return (state.is_open, state.is_paused, state.is_stopped, state.is_house_stopped)
    phase = Phase.CLOSED if played.phase == Phase.DEALT else played.phase
    table_state = (state.is_open, state.is_paused, state.is_stopped, state.is_house_stopped, state.table_version)
    return (played.id, phase, played.is_void, *table_state)


def board_key(state: State) -> Hashable:
    """Return a key that changes when the scoreboard changes. Cheap to compute."""
    return (state.shoe and state.shoe.number, state.results)


def page_board_key(state: State) -> str:
    """Return the key in the form that a page stores."""
    return hashlib.sha256(repr(board_key(state)).encode()).hexdigest()[:16]


def render_board(state: State, language: str) -> str:
    """Return ``#live-board``, the scoreboard of the shoe on the table, the same for everybody."""
    with override(language):
        view = results_view(state, language)
        return render_fragment("live.html#board", board=view, key=page_board_key(state))


def render_own(
    state: State, row: Mapping[str, Any], language: str, *, notice: Notice | None = None, csrf_token: str = ""
) -> Parts:
    """Return ``#live-own`` for the player of *row*, a row of `READ_OWN`.

    A page passes a CSRF token for its form. A stream passes none, because htmx sends the page's
    token.
    """
    own = own_state(row)
    with override(language):
        view = own_view(state, own, language, None)
        key = _key(replace(view, clock="", controls=frozenset()))
        return render_parts(
            "live.html#own",
            own=replace(view, notice=notice or view.notice),
            key=key,
            version=own.version,
            csrf_token=csrf_token,
            idempotency_key=uuid4() if csrf_token else "",  # a script makes one for each click
        )


def _key(view: OwnView) -> str:
    """Return a key that changes when anything but the time of day changes. The notice is left out."""
    return hashlib.sha256(repr(view).encode()).hexdigest()[:16]
