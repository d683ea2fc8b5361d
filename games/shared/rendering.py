"""What players see of a shared table, as HTML: the part that is everybody's and the part that is one player's.

Nothing here opens a connection or knows a request: pages and streams bring the rows that their own connection read.
The public part has no token, nonce or preference in it, so it is rendered once for everybody who reads a language.
"""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.template.loader import get_template
from django.urls import reverse
from django.utils.translation import override

from games.models import Phase
from games.shared.board import OwnView, own_view, public_view
from games.shared.scoreboard import results_view
from games.shared.state import READ_OWN, READ_PUBLIC, State, own_state, public_state
from games.tables.presentation import Notice

__all__ = [
    "READ_OWN",
    "READ_PUBLIC",
    "State",
    "board_key",
    "board_mark",
    "own_key",
    "public_state",
    "render_board",
    "render_own",
    "render_public",
]


def render_public(state: State, language: str) -> str:
    """Return ``#live-public`` as everybody sees it at the moment of *state*."""
    with override(language):
        return get_template("games/_live_public.html").render({"live": public_view(state, language)})


def own_key(state: State) -> Hashable:
    """Return what is another one when players may find something else in their own part. Cards are dealt after betting
    has closed, and nothing of it is settled until they are turned up.
    """
    played = state.round
    if played is None:
        return (state.is_open, state.is_paused, state.is_stopped, state.is_house_stopped)
    phase = Phase.CLOSED if played.phase == Phase.DEALT else played.phase
    stands = (state.is_open, state.is_paused, state.is_stopped, state.is_house_stopped, state.table_version)
    return (played.id, phase, played.is_annulled, *stands)


def board_key(state: State) -> Hashable:
    """Return what is another one where the board shows something else; it costs no more than reading it."""
    return (state.shoe and state.shoe.number, state.results)


def board_mark(state: State) -> str:
    """Return the key as a page keeps it."""
    return hashlib.sha256(repr(board_key(state)).encode()).hexdigest()[:16]


def render_board(state: State, language: str) -> str:
    """Return ``#live-board``, the results of the shoe on the table, the same for everybody."""
    with override(language):
        view = results_view(state, language)
        return get_template("games/_live_board.html").render({"board": view, "key": board_mark(state)})


def render_own(
    state: State, row: Mapping[str, Any], language: str, *, notice: Notice | None = None, csrf_token: str = ""
) -> str:
    """Return ``#live-own`` as the player of *row* sees it, a row of `READ_OWN`.

    A page that is loaded brings a token for its form; what a stream sends has none, since htmx takes the page's.
    """
    own = own_state(row)
    with override(language):
        view = own_view(state, own, language, None)
        key = _key(replace(view, clock="", controls=frozenset()))
        return get_template("games/_live_own.html").render(
            {
                "own": replace(view, notice=notice or view.notice),
                "key": key,
                "version": own.version,
                "bet_url": reverse("live_bet", args=[state.slug, state.mode]),
                "mode_word": state.mode.name.lower(),
                "csrf_token": csrf_token,
                "mark": uuid4() if csrf_token else "",  # a script makes one for each click
            }
        )


def _key(view: OwnView) -> str:
    """Return what is another one where anything has changed but the time of day, and what is said of a click."""
    return hashlib.sha256(repr(view).encode()).hexdigest()[:16]
