"""Two to four live tables in one window, for players whose jurisdiction lets the house offer that.

Each table is a page of this site in a frame, with its own stream, form and clock. The page around
them has the shared parts: header with the balance, session, reality check. Only these pages can be
framed, and only by the site itself.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Final, cast

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
from games.solo.page import play_session_view
from games.tables.access import at_a_shared_table, demand_welcome
from players.access import PlayerRequest, player_required
from players.login.current_user import session_id
from players.models import Player
from players.protection import play_sessions
from wallet.models import Mode

FRAME = "iframe"  # value of Sec-Fetch-Dest for a page in a frame
MOST: Final = 4  # tables in one window

Position = tuple[str, Mode]  # slug of a table and its kind of money
Seat = tuple[Table, Mode]


class PositionsConverter:
    """Path converter of tables in one window: ``live:real,second:free``."""

    _one = "[-a-zA-Z0-9_]+:(?:real|free)"
    regex = f"{_one}(?:,{_one}){{0,{MOST - 1}}}"

    def to_python(self, value: str) -> tuple[Position, ...]:
        """Return slug and mode of each table."""
        parts = (each.rpartition(":") for each in value.split(","))
        return tuple((slug, Mode[word.upper()]) for slug, _, word in parts)

    def to_url(self, value: str | tuple[Position, ...]) -> str:
        """Return the part of a URL. Text that a form sent stays as it is, and has to match."""
        return value if isinstance(value, str) else written(value)


def written(positions: tuple[Position, ...]) -> str:
    """Return tables as `PositionsConverter` reads them."""
    return ",".join(f"{slug}:{mode.name.lower()}" for slug, mode in positions)


@dataclass(frozen=True)
class Window:
    """One of the tables, with its links."""

    table: Table
    mode: Mode
    limits: Limits
    page: str  # the table alone
    frame: str  # the page for the frame
    without: str  # the others without this one
    instead: str  # choose another table for this place
    forward: str  # the same tables, this one a place further forward; "" for the first

    @property
    def is_real(self) -> bool:
        """True for real money."""
        return self.mode is Mode.REAL


@dataclass(frozen=True)
class Candidate:
    """A table that can be opened next to others."""

    table: Table
    mode: Mode
    limits: Limits
    together: str  # URL of all tables

    @property
    def is_real(self) -> bool:
        """True for real money."""
        return self.mode is Mode.REAL


@player_required
@require_safe
def multi_table(request: PlayerRequest, positions: tuple[Position, ...]) -> HttpResponse:
    """Show live tables in one window, or the reason why one of them cannot be shown."""
    return _at_each(request, positions, _together)


@player_required
@require_safe
def add_table(request: PlayerRequest, positions: tuple[Position, ...]) -> HttpResponse:
    """List the tables that can be opened next to these. *at* in the query is the place of the new one."""
    return _at_each(request, positions, _choice)


@player_required
@require_safe
@at_a_shared_table
def live_framed(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Show a live table for a frame, without header.

    If the page is not requested by a frame, the browser is redirected to the full page.
    """
    is_alone = request.headers.get("Sec-Fetch-Dest", FRAME) != FRAME
    if is_alone or not request.player.jurisdiction.may_show_tables_together:
        return redirect("table", slug=found.slug, mode=mode)
    show = partial(live_page, found=found, mode=mode, template="games/live_framed.html")
    return cast("HttpResponse", xframe_options_sameorigin(csp_replace({"frame-ancestors": [SELF]})(show))(request))


def _at_each(
    request: PlayerRequest,
    positions: tuple[Position, ...],
    show: Callable[[PlayerRequest, tuple[Seat, ...]], HttpResponse],
) -> HttpResponse:
    """Show a page about shared tables, unless the player may not play at one of them, or at one only."""

    def enter(request: PlayerRequest, found: tuple[Seat, ...]) -> HttpResponse:
        if len(found) == len(positions):
            return _allowed(request, found, show)

        @at_a_shared_table
        def entered(request: PlayerRequest, table: Table, mode: Mode) -> HttpResponse:
            demand_welcome(request.player, mode, session_id(request))
            return enter(request, (*found, (table, mode)))

        return entered(request, *positions[len(found)])

    return enter(request, ())


def _allowed(
    request: PlayerRequest, found: tuple[Seat, ...], show: Callable[[PlayerRequest, tuple[Seat, ...]], HttpResponse]
) -> HttpResponse:
    if not request.player.jurisdiction.may_show_tables_together:
        return _refused(request, found[0], HTTPStatus.FORBIDDEN)
    if len(set(found)) < len(found):
        return _refused(request, found[0], HTTPStatus.NOT_FOUND)
    return show(request, found)


def _together(request: PlayerRequest, found: tuple[Seat, ...]) -> HttpResponse:
    windows = [_window(request.player, found, at) for at in range(len(found))]
    mode = Mode.REAL if any(window.is_real for window in windows) else Mode.FREE
    session = session_id(request)
    seen = play_sessions.read_session(request.player, session) if session else None
    context = {
        "windows": windows,
        "positions": written(_positions(found)),
        "add": _add_address(found, len(found)) if len(found) < MOST else "",
        "now_mode": mode,
        "mode_word": mode.name.lower(),
        "live": mode is Mode.FREE,  # the header has the balance of real money, the tables that of free money
        "play_session": play_session_view(seen, request.player, mode) if seen else None,
    }
    page = partial(render, template_name="games/multi_table.html", context=context)
    return cast("HttpResponse", csp_replace({"frame-src": [SELF]})(page)(request))


def _choice(request: PlayerRequest, found: tuple[Seat, ...]) -> HttpResponse:
    asked = request.GET.get("at", "")
    at = min(int(asked), len(found)) if asked.isascii() and asked.isdecimal() and len(asked) == 1 else len(found)
    context = {
        "tables": [table for table, _mode in found],
        "back": _address(found),
        "candidates": list(_candidates(request.player, found, at)) if len(found) < MOST else [],
    }
    return render(request, "games/multi_table_add.html", context)


def _refused(request: PlayerRequest, seat: Seat, status: HTTPStatus) -> HttpResponse:
    """Show why another table cannot be opened, with links to other pages."""
    table, mode = seat
    is_law = status is HTTPStatus.FORBIDDEN
    context = {"table": table, "now_mode": mode, "is_law": is_law, "add": _add_address((seat,), 1)}
    return render(request, "games/multi_table_refused.html", context, status=status)


def _window(player: Player, found: tuple[Seat, ...], at: int) -> Window:
    table, mode = found[at]
    others = found[:at] + found[at + 1 :]
    return Window(
        table=table,
        mode=mode,
        limits=_limits(table, player),
        page=reverse("table", args=[table.slug, mode]),
        frame=reverse("live_framed", args=[table.slug, mode]),
        without=_address(others),
        instead=_add_address(others, at),
        forward=_address((*found[: at - 1], found[at], found[at - 1], *found[at + 1 :])) if at else "",
    )


def _candidates(player: Player, found: tuple[Seat, ...], at: int) -> Iterator[Candidate]:
    """Yield the open shared tables, those for the same kind of money first."""
    tables = list(playable(player).filter(shape=Shape.SHARED))
    for mode in sorted(Mode, key=lambda each: each is not found[0][1]):
        for candidate in (
            (table, mode) for table in tables if (table, mode) not in found and seats.takes_bets(table, mode)
        ):
            together = _address((*found[:at], candidate, *found[at:]))
            yield Candidate(*candidate, _limits(candidate[0], player), together)


def _limits(table: Table, player: Player) -> Limits:
    assert table.version is not None  # noqa: S101  (such a table can be played at)
    return Limits.of(table.version.limits, player.currency)


def _positions(found: tuple[Seat, ...]) -> tuple[Position, ...]:
    return tuple((table.slug, mode) for table, mode in found)


def _address(found: tuple[Seat, ...]) -> str:
    """Return the URL of these tables: the page of a single one, or the window of several."""
    if len(found) == 1:
        return reverse("table", args=[found[0][0].slug, found[0][1]])
    return reverse("multi_table", args=[_positions(found)])


def _add_address(found: tuple[Seat, ...], at: int) -> str:
    address = reverse("multi_table_add", args=[_positions(found)])
    return address if at == len(found) else f"{address}?at={at}"
