"""The floor on a page of the back office: every table of the house at one glance, and what can be done about each. In
English, like all of the back office.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Self

from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from backoffice.tables.table_actions import possible
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
    """Which rows of the floor somebody wants to see, as the address says; what it does not say matters not."""

    state: str
    variant: str
    needs: bool  # only what wants somebody

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Read it from an address. What is no state and no game of the house is left out."""
        state, variant = query.get("state", ""), query.get("game", "")
        return cls(state if state in STATES else "", variant if variant in GAMES else "", query.get("needs") == "1")

    def fits(self, row: Row) -> bool:
        """Say whether a row is one of them."""
        return (
            self.state in ("", row.state)
            and self.variant in ("", row.table.variant)
            and (bool(row.alarms) or not self.needs)
        )


@staff_required(*READERS)
@require_safe
@never_cache
def staff_floor(request: StaffRequest) -> HttpResponse:
    """Every table as it stands now; those that were not asked for are in the page and not shown."""
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
    """Answer a page that asks by itself with every table as it stands, and with a ticket for a stream."""
    rows = read_rows()
    shown = [_html(row, rows) for row in rows.rows]
    context = {"floor": rows, "head": _head(rows), "rows": shown, "stream": _stream(request)}
    return render(request, "staff/_floor_now.html", context)


@staff_required(*READERS)
@access_log.listed("guests of a table")
@require_safe
@never_cache
def staff_floor_table(request: StaffRequest, key: str) -> HttpResponse:
    """One table with everything that can be done about it: a page, and to htmx what unfolds under its row."""
    rows = read_rows()
    row = rows.row(key)
    if row is None:
        raise Http404
    if row.on and row.on.guests:
        access_log.shown(request, *(sitting.player for sitting in row.on.guests.sitting))
    context = {
        "row": row,
        "on": row.on,
        "possible": possible(row.table),
        "has_both": sum(each.table.pk == row.table.pk for each in rows.rows) > 1,
        "html": _html(row, rows, unfolds=False),
    }
    if request.htmx:
        response = render(request, "staff/_floor_deeds.html", context)
    else:
        response = render(request, "staff/floor_table.html", context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _closable(rows: Rows, games: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return what can be closed, each with how many of its tables are not yet."""
    variants = {row.table.pk: row.table.variant for row in rows.rows if row.table.status != Status.CLOSED}
    number = Counter(variants.values())
    every, words = EVERY_GAME
    told = [(every, words, len(variants)), *((slug, name, number[slug]) for slug, name in games)]
    return [(slug, f"{name}: {count} table{'' if count == 1 else 's'}") for slug, name, count in told]


def _html(row: Row, rows: Rows, **how: bool) -> SafeString:
    return mark_safe(render_row(row, rows.now, **how))  # noqa: S308  (a template of ours)


def _head(rows: Rows) -> SafeString:
    return mark_safe(render_head(rows))  # noqa: S308  (a template of ours)


def _stream(request: StaffRequest) -> str:
    """Return the address at which the page may listen."""
    session = session_id(request)
    if session is None:
        return ""
    return stream_tokens.issue(stream_tokens.floor_ticket(request.staff.pk, session), request.session.session_key)
