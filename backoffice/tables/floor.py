"""Floor: the current state of every table on one page, and the actions possible at each."""

from collections import Counter
from dataclasses import dataclass
from typing import Self

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from backoffice.tables.actions import possible
from backoffice.tables.views import EVERY_GAME
from games.labels import variant_label
from games.models import Status
from games.shared import stream_tokens
from games.shared.floor.rows import READERS, STATES, Row, Rows, read_rows, render_head, render_row
from games.variants import GAMES
from players.access import StaffRequest, made_by_the_page, session_id, staff_required
from players.staff import access_log


@dataclass(frozen=True)
class Choice:
    """Filter of rows, from the query string."""

    state: str
    variant: str
    needs: bool  # only tables that need attention

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Read the filter from a query string. Unknown states and games are ignored."""
        state, variant = query.get("state", ""), query.get("game", "")
        return cls(state if state in STATES else "", variant if variant in GAMES else "", query.get("needs") == "1")

    def fits(self, row: Row) -> bool:
        """Return whether a row matches."""
        return (
            self.state in ("", row.state)
            and self.variant in ("", row.table.variant)
            and (bool(row.alarms) or not self.needs)
        )


@staff_required(*READERS)
@require_safe
@never_cache
def staff_floor(request: StaffRequest) -> HttpResponse:
    """Show the current state of every table.

    Rows that the filter excludes are in the page, but hidden.
    """
    rows, choice = read_rows(), Choice.of(request.GET)
    hidden = {row.key for row in rows.rows if not choice.fits(row)}
    games = [(slug, variant_label(game, "name", "en")) for slug, game in GAMES.items()]
    context = {
        "floor": rows,
        "head": _head(rows),
        "rows": [_html(row, rows, is_hidden=row.key in hidden) for row in rows.rows],
        "is_any_shown": len(hidden) < len(rows.rows),
        "choice": choice,
        "states": STATES,
        "games": games,
        "closable": _closable(rows, games),
        "stream": _stream(request),
    }
    return render(request, "staff/floor.html", context)


@made_by_the_page
@staff_required(*READERS)
@require_safe
@never_cache
def staff_floor_now(request: StaffRequest) -> HttpResponse:
    """Return the current state of every table and a stream ticket, for the page's own refresh."""
    rows = read_rows()
    shown = [_html(row, rows) for row in rows.rows]
    context = {"floor": rows, "head": _head(rows), "rows": shown, "stream": _stream(request)}
    return render(request, "staff/floor.html#now", context)


@staff_required(*READERS)
@access_log.listed("players at a table")
@require_safe
@never_cache
def staff_floor_table(request: StaffRequest, key: str) -> HttpResponse:
    """Show one table with all possible actions: as a page, or for htmx as a part below its row."""
    rows = read_rows()
    row = rows.row(key)
    if row is None:
        raise Http404
    if row.on and row.on.chemin_state:
        access_log.shown(request, *(seated.player for seated in row.on.chemin_state.seated))
    context = {
        "row": row,
        "on": row.on,
        "possible": possible(row.table),
        "has_both": sum(each.table.pk == row.table.pk for each in rows.rows) > 1,
        "html": _html(row, rows, unfolds=False),
    }
    if request.htmx:
        response = render(request, "staff/floor_table.html#actions", context)
    else:
        response = render(request, "staff/floor_table.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _closable(rows: Rows, games: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the choices of what to close, each with the number of tables not yet closed."""
    variants = {row.table.pk: row.table.variant for row in rows.rows if row.table.status != Status.CLOSED}
    number = Counter(variants.values())
    every, words = EVERY_GAME
    choices = [(every, words, len(variants)), *((slug, name, number[slug]) for slug, name in games)]
    return [(slug, f"{name}: {count} table{'' if count == 1 else 's'}") for slug, name, count in choices]


def _html(row: Row, rows: Rows, **how: bool) -> SafeString:
    return mark_safe(render_row(row, rows.now, **how))  # noqa: S308  (our own template)


def _head(rows: Rows) -> SafeString:
    return mark_safe(render_head(rows))  # noqa: S308  (our own template)


def _stream(request: StaffRequest) -> str:
    """Return the URL of the page's event stream, "" without a session."""
    session = session_id(request)
    if session is None:
        return ""
    return stream_tokens.issue(stream_tokens.floor_ticket(request.staff.pk, session), request.session.session_key)
