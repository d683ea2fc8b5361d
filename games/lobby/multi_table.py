"""Two live tables side by side, for players whose jurisdiction allows parallel play.

Each table is a page of this site in a frame, with its own stream, form and clock. The page around
them has the shared parts: header, session, reality check. Only these pages can be framed, and only
by the site itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import cast

from csp.constants import SELF
from csp.decorators import csp_replace
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_safe

from games.betting.limits import Limits
from games.lobby.selectors import playable
from games.models import Shape, Table
from games.shared.pages.views import live_page
from games.solo import seats
from games.tables.access import at_a_shared_table, demand_welcome
from games.tables.solo_page import play_session_view
from players.access import PlayerRequest, player_required
from players.login.current_user import session_id
from players.models import Player
from players.protection import play_sessions
from wallet.models import Mode

FRAME = "iframe"  # value of Sec-Fetch-Dest for a page in a frame
LEFT, RIGHT = "left", "right"

Seat = tuple[Table, Mode]  # a table and its kind of money


@dataclass(frozen=True)
class Side:
    """One of the two tables, with its links."""

    name: str  # LEFT or RIGHT
    table: Table
    mode: Mode
    limits: Limits
    other: Table
    page: str  # the table alone
    frame: str  # the page for the frame
    without: str  # the other table alone
    instead: str  # choose another table for this side

    @property
    def is_real(self) -> bool:
        """True for real money."""
        return self.mode is Mode.REAL


@dataclass(frozen=True)
class Candidate:
    """A table that can be opened next to another one."""

    table: Table
    mode: Mode
    limits: Limits
    pair: str  # URL of both tables

    @property
    def is_real(self) -> bool:
        """True for real money."""
        return self.mode is Mode.REAL


@player_required
@require_safe
def multi_table(request: PlayerRequest, left: str, left_mode: Mode, right: str, right_mode: Mode) -> HttpResponse:
    """Show two live tables in one window, or the reason why one of them cannot be shown."""

    @at_a_shared_table
    def at_the_left(request: PlayerRequest, first: Table, mode: Mode) -> HttpResponse:
        @at_a_shared_table
        def at_the_right(request: PlayerRequest, second: Table, second_mode: Mode) -> HttpResponse:
            return _both(request, (first, mode), (second, second_mode))

        return at_the_right(request, right, right_mode)

    return at_the_left(request, left, left_mode)


@player_required
@require_safe
@at_a_shared_table
def add_table(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """List the tables that can be opened next to this one. *side* is where the other table goes."""
    if not request.player.jurisdiction.may_play_in_parallel:
        return _refused(request, (found, mode), HTTPStatus.FORBIDDEN)
    demand_welcome(request.player, mode, session_id(request))
    side = LEFT if request.GET.get("side") == LEFT else RIGHT
    candidates = list(_candidates(request.player, (found, mode), side))
    context = {"table": found, "now_mode": mode, "is_real": mode is Mode.REAL, "candidates": candidates}
    return render(request, "games/multi_table_add.html", context)


@player_required
@require_safe
@at_a_shared_table
def live_framed(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show a live table for a frame, without header.

    If the page is not requested by a frame, the browser is redirected to the full page.
    """
    is_alone = request.headers.get("Sec-Fetch-Dest", FRAME) != FRAME
    if is_alone or not request.player.jurisdiction.may_play_in_parallel:
        return redirect("table", slug=found.slug, mode=mode)
    show = partial(live_page, found=found, mode=mode, template="games/live_framed.html")
    return cast("HttpResponse", xframe_options_sameorigin(csp_replace({"frame-ancestors": [SELF]})(show))(request))


def _both(request: PlayerRequest, first: Seat, second: Seat) -> HttpResponse:
    """Show two tables, unless they are the same or the player may play at only one."""
    for _, mode in (first, second):
        demand_welcome(request.player, mode, session_id(request))
    if not request.player.jurisdiction.may_play_in_parallel:
        return _refused(request, first, HTTPStatus.FORBIDDEN)
    if first == second:
        return _refused(request, first, HTTPStatus.NOT_FOUND)
    sides = (_side(request.player, LEFT, first, second), _side(request.player, RIGHT, second, first))
    mode = Mode.REAL if any(side.is_real for side in sides) else Mode.FREE
    session = session_id(request)
    seen = play_sessions.read_session(request.player, session) if session else None
    context = {
        "sides": sides,
        "swapped": _address(second, first),
        "now_mode": mode,
        "mode_word": mode.name.lower(),
        "live": True,  # the tables show the balance
        "play_session": play_session_view(seen, request.player, mode) if seen else None,
    }
    page = partial(render, template_name="games/multi_table.html", context=context)
    return cast("HttpResponse", csp_replace({"frame-src": [SELF]})(page)(request))


def _refused(request: PlayerRequest, seat: Seat, status: HTTPStatus) -> HttpResponse:
    """Show why a second table cannot be opened, with links to other pages."""
    table, mode = seat
    is_law = status is HTTPStatus.FORBIDDEN
    context = {"table": table, "now_mode": mode, "is_law": is_law}
    return render(request, "games/multi_table_refused.html", context, status=status)


def _side(player: Player, name: str, this: Seat, other: Seat) -> Side:
    (table, mode), (second_table, its_mode) = this, other
    return Side(
        name=name,
        table=table,
        mode=mode,
        limits=_limits(table, player),
        page=reverse("table", args=[table.slug, mode]),
        frame=reverse("live_framed", args=[table.slug, mode]),
        other=second_table,
        without=reverse("table", args=[second_table.slug, its_mode]),
        instead=f"{reverse('multi_table_add', args=[second_table.slug, its_mode])}?side={name}",
    )


def _candidates(player: Player, seat: Seat, side: str) -> Iterator[Candidate]:
    """Yield the open shared tables, those for the same kind of money first."""
    tables = list(playable(player).filter(shape=Shape.SHARED))
    for mode in sorted(Mode, key=lambda each: each is not seat[1]):
        for candidate in ((table, mode) for table in tables if (table, mode) != seat and seats.takes_bets(table, mode)):
            pair = (candidate, seat) if side == LEFT else (seat, candidate)
            yield Candidate(*candidate, _limits(candidate[0], player), _address(*pair))


def _limits(table: Table, player: Player) -> Limits:
    assert table.version is not None  # noqa: S101  (such a table can be played at)
    return Limits.of(table.version.limits, player.currency)


def _address(left: Seat, right: Seat) -> str:
    return reverse("multi_table", args=[left[0].slug, left[1], right[0].slug, right[1]])
