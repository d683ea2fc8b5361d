"""Two live tables side by side, where the player's law lets them play in parallel.

Each is a page of this house in a frame: it keeps its one line, its one form and its one clock, and has nothing around
it. The page around both has what they share: header, session, reality check. Only these pages may be framed, and only
by the house.
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
from games.shared.views import live_page
from games.solo import seats
from games.tables.access import at_a_shared_table, demand_welcome
from games.tables.page_header import sitting_view
from players.access import PlayerRequest, player_required, session_id
from players.models import Player
from players.protection import play_sessions
from wallet.models import Mode

FRAME = "iframe"  # what a browser says it asks for, where that is what a frame shows
LEFT, RIGHT = "left", "right"

Seat = tuple[Table, Mode]  # a table, and with which money


@dataclass(frozen=True)
class Side:
    """One of two tables, and where its links lead."""

    name: str  # LEFT or RIGHT
    table: Table
    mode: Mode
    limits: Limits
    other: Table
    page: str  # the table alone
    frame: str  # the same without what stands around it
    without: str  # the other one alone
    instead: str  # a choice of others for its place

    @property
    def is_real(self) -> bool:
        """Whether it is played for real money."""
        return self.mode is Mode.REAL


@dataclass(frozen=True)
class Candidate:
    """A table that may stand beside another one."""

    table: Table
    mode: Mode
    limits: Limits
    pair: str  # the address of both

    @property
    def is_real(self) -> bool:
        """Whether it is played for real money."""
        return self.mode is Mode.REAL


@player_required
@require_safe
def beside(request: PlayerRequest, left: str, left_mode: Mode, right: str, right_mode: Mode) -> HttpResponse:
    """Two live tables in one window, or what keeps the player from one of them."""

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
def beside_choose(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """The tables that may stand beside this one; *place* says on which side."""
    if not request.player.jurisdiction.may_play_in_parallel:
        return _refused(request, (found, mode), HTTPStatus.FORBIDDEN)
    demand_welcome(request.player, mode, session_id(request))
    place = LEFT if request.GET.get("place") == LEFT else RIGHT
    candidates = list(_candidates(request.player, (found, mode), place))
    context = {"table": found, "now_mode": mode, "is_real": mode is Mode.REAL, "candidates": candidates}
    return render(request, "games/beside_choose.html", context)


@player_required
@require_safe
@at_a_shared_table
def live_framed(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """The page of a live table without what stands around it. Where a window asks for it by itself, it gets the table
    with everything.
    """
    is_alone = request.headers.get("Sec-Fetch-Dest", FRAME) != FRAME
    if is_alone or not request.player.jurisdiction.may_play_in_parallel:
        return redirect("table", slug=found.slug, mode=mode)
    show = partial(live_page, found=found, mode=mode, template="games/live_framed.html")
    return cast("HttpResponse", xframe_options_sameorigin(csp_replace({"frame-ancestors": [SELF]})(show))(request))


def _both(request: PlayerRequest, first: Seat, second: Seat) -> HttpResponse:
    """Show two tables, unless they are one, or one is all that the player may have."""
    for _, mode in (first, second):
        demand_welcome(request.player, mode, session_id(request))
    if not request.player.jurisdiction.may_play_in_parallel:
        return _refused(request, first, HTTPStatus.FORBIDDEN)
    if first == second:
        return _refused(request, first, HTTPStatus.NOT_FOUND)
    sides = (_side(request.player, LEFT, first, second), _side(request.player, RIGHT, second, first))
    mode = Mode.REAL if any(side.is_real for side in sides) else Mode.FREE
    session = session_id(request)
    seen = play_sessions.sitting(request.player, session) if session else None
    context = {
        "sides": sides,
        "swapped": _address(second, first),
        "now_mode": mode,
        "mode_word": mode.name.lower(),
        "live": True,  # the tables themselves show the balance
        "sitting": sitting_view(seen, request.player, mode) if seen else None,
    }
    page = partial(render, template_name="games/beside.html", context=context)
    return cast("HttpResponse", csp_replace({"frame-src": [SELF]})(page)(request))


def _refused(request: PlayerRequest, seat: Seat, status: HTTPStatus) -> HttpResponse:
    """Say why there is nothing beside the table, and lead to where there may be."""
    table, mode = seat
    is_law = status is HTTPStatus.FORBIDDEN
    context = {"table": table, "now_mode": mode, "is_law": is_law}
    return render(request, "games/beside_refused.html", context, status=status)


def _side(player: Player, name: str, this: Seat, other: Seat) -> Side:
    (table, mode), (beside_it, its_mode) = this, other
    return Side(
        name=name,
        table=table,
        mode=mode,
        limits=_limits(table, player),
        page=reverse("table", args=[table.slug, mode]),
        frame=reverse("live_framed", args=[table.slug, mode]),
        other=beside_it,
        without=reverse("table", args=[beside_it.slug, its_mode]),
        instead=f"{reverse('beside_choose', args=[beside_it.slug, its_mode])}?place={name}",
    )


def _candidates(player: Player, seat: Seat, place: str) -> Iterator[Candidate]:
    """Give the open tables that others play at as well, those for the same kind of money first."""
    tables = list(playable(player).filter(shape=Shape.SHARED))
    for mode in sorted(Mode, key=lambda each: each is not seat[1]):
        for candidate in ((table, mode) for table in tables if (table, mode) != seat and seats.takes_bets(table, mode)):
            pair = (candidate, seat) if place == LEFT else (seat, candidate)
            yield Candidate(*candidate, _limits(candidate[0], player), _address(*pair))


def _limits(table: Table, player: Player) -> Limits:
    assert table.version is not None  # noqa: S101  (such a table can be played at)
    return Limits.of(table.version.limits, player.currency)


def _address(left: Seat, right: Seat) -> str:
    return reverse("beside", args=[left[0].slug, left[1], right[0].slug, right[1]])
