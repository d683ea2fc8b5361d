"""Staff pages of tables: the list, a table, and the floor of live tables.

The forms that change the status are on the floor (`backoffice.tables.views`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Self

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, ngettext, pgettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import NEWEST, OLDEST, ORDER, ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from backoffice.tables.actions import ACTIONS, SUPERVISE, UNSURE, FinalForm, possible, state_text, to_the_table
from backoffice.templatetags.back_office import table_state
from games.betting.limits import Limits
from games.labels import variant_label
from games.models import Shape, Status, Table
from games.shared.floor import Floor, floor
from games.shared.floor.rows import READERS, STATES, Row, Rows, read_rows, render_head, render_row
from games.shared.pages import stream_tokens
from games.tables import status, versions
from games.tables.checks import TableError
from games.tables.chemin_rules import CheminRules
from games.variants import GAMES
from players.access import StaffRequest, made_by_the_page, staff_required
from players.login.current_user import actor, session_id
from players.staff import access_log
from wallet.money import format_money

LANGUAGES = [("", gettext_lazy("any language")), *settings.LANGUAGES]
EVERY_GAME = ("all", gettext_lazy("All games"))
OPERATE = "games.operate_table"
BADGES: Mapping[str, str] = {Status.OPEN: "on", Status.PAUSED: "brass"}


class StatusForm(forms.Form):
    """Action on a table, with a reason."""

    action = forms.ChoiceField(choices=[(name, name) for name in ACTIONS])
    reason = forms.CharField(max_length=300)


class CloseForm(FinalForm):
    """Choice of the game to close, or of all games, with a reason."""

    game = forms.ChoiceField(choices=lambda: [EVERY_GAME, *_games()])


class ChatLanguageForm(forms.Form):
    """Chat language of a table; empty for any."""

    chat_language = forms.ChoiceField(required=False, choices=LANGUAGES)


class TablesForm(ListForm):
    """Filter of tables by game and state."""

    usual = gettext_noop("By name")
    game = forms.ChoiceField(
        label=gettext_lazy("Game"), required=False, choices=lambda: [("", gettext_lazy("All games")), *_games()]
    )
    status = forms.ChoiceField(
        label=gettext_lazy("State"), required=False, choices=[("", gettext_lazy("All")), *Status.choices]
    )


class Tables(StaffList):
    """Every table with its state, version and limits."""

    model = Table
    name = gettext_noop("Tables")
    players = NO_PLAYERS
    form_class = TablesForm
    size = 100
    columns = (
        Column("name", "Table"),
        Column("variant", "Game"),
        Column("shape", "Format"),
        Column("status", "State"),
        Column("version__number", "Version", Form.NUMBER),
        Column("limits", "Limits"),
        Column("chat_language", "Chat language"),
        Column("links", "Actions"),
    )
    file_columns = (Column("id", "No.", Form.ID), *columns[:-1], Column("version__rules_version", "Rules"))
    sorts = {"name": ("name", "id"), "variant": ("variant", "id"), "status": ("status", "id")}
    empty = gettext_noop("No tables yet. manage.py load_tables creates the default tables.")
    unmatched = gettext_noop("No tables match this filter.")

    def found(self) -> QuerySet[Table]:
        """Return the tables of the filter."""
        found = Table.objects.select_related("version")
        if game := self.asked.get("game"):
            found = found.filter(variant=game)
        if state := self.asked.get("status"):
            found = found.filter(status=state)
        return found

    def usual_order(self) -> Order:
        """Return the order by name, unless the newest or oldest are asked for."""
        by_name = self.asked.get(ORDER) not in (NEWEST, OLDEST)
        return Order(("name", "id"), is_rising=True) if by_name else Order(self.key)

    @cached_property
    def live(self) -> Mapping[int, Sequence[Floor]]:
        """The floor of each live table."""
        return floor()

    def of_variant(self, table: Table) -> str:
        """Return the name of the game."""
        return variant_label(GAMES[table.variant], "name", get_language() or "en")

    def of_shape(self, table: Table) -> str:
        """Return the format in one word."""
        return in_sentence(table.get_shape_display())

    def of_status(self, table: Table) -> str:
        """Return the state, for each kind of money where there are two."""
        states = [
            gettext("%(mode)s money: %(state)s")
            % {"mode": in_sentence(on.live_table.get_mode_display()), "state": table_state(on.state)}
            for on in self.live.get(table.pk, ())
        ]
        return ", ".join(states) or table.get_status_display()

    def of_limits(self, table: Table) -> str:
        """Return the limits on Player and Banker by currency, or of a bank."""
        return " · ".join(_ranges(table))

    def of_chat_language(self, table: Table) -> str:
        """Return the chat language ("": no chat)."""
        return "" if table.shape == Shape.SOLO else str(dict(LANGUAGES)[table.chat_language])

    def of_links(self, table: Table) -> str:
        """Return nothing: the pages of the table are links on the screen."""
        return ""

    def show_name(self, table: Table) -> str:
        """Return the name, with a link to the table's page for those who may open it."""
        url = cells.address_of(f"table:{table.pk}", self.request.user) if table.version else ""
        return cells.link(url, table.name) if url else table.name

    def show_status(self, table: Table) -> str:
        """Return the state as a badge, for each kind of money where there are two."""
        if not (live := self.live.get(table.pk, ())):
            return cells.badge(table.get_status_display(), BADGES.get(table.status, "off"))
        states = [
            (cells.badge(table_state(on.state), BADGES.get(on.state, "off")), on.live_table.get_mode_display())
            for on in live
        ]
        return format_html_join(
            " ", '<span class="range">{} {}</span>', [(badge, mode.lower()) for badge, mode in states]
        )

    def show_limits(self, table: Table) -> str:
        """Return the limits, each in one line."""
        return format_html_join(" ", '<span class="range">{}</span>', [(each,) for each in _ranges(table)])

    def show_chat_language(self, table: Table) -> str:
        """Return the chat language, as a form for those who may set it."""
        if table.shape == Shape.SOLO or not self.request.user.has_perm(OPERATE):
            return self.of_chat_language(table) or cells.NOTHING
        return render_to_string("staff/tables.html#chat", {"table": table, "languages": LANGUAGES}, self.request)

    def show_links(self, table: Table) -> str:
        """Return the links to other pages of the table."""
        return render_to_string("staff/tables.html#links", {"table": table}, self.request)


@staff_required(*READERS)
@access_log.listed("tables")
@require_safe
def staff_tables(request: StaffRequest) -> HttpResponse:
    """List every table with its state, version and limits."""
    return Tables(request).answer("staff/tables.html")


@staff_required("games.operate_table")
@require_POST
@transaction.atomic
def staff_table_status(request: HttpRequest, table_id: int) -> HttpResponse:
    """Open, pause, resume or close a table. A round in progress is finished first.

    A warning is shown if the table is already in that state; an error is shown if the action is not
    possible.
    """
    form, row = StatusForm(request.POST), request.POST.get("back", "")
    table = status.locked(get_object_or_404(Table, pk=table_id).pk)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_floor")
    action = ACTIONS[form.cleaned_data["action"]]
    if table.status == action.leads_to:
        messages.warning(
            request,
            (
                gettext("%(table)s is already %(status)s. Your reason was not recorded.")
                % {"table": table, "status": table.get_status_display()}
            ),
        )
        return redirect("staff_floor")
    try:
        table = action.do(table_id=table_id, reason=form.cleaned_data["reason"], by=actor(request))
    except TableError as error:
        messages.error(request, str(error))
    else:
        show_outcome = messages.warning if table.live.filter(stopped_by__isnull=False).exists() else messages.success
        show_outcome(request, to_the_table(state_text(table), row))
    return redirect("staff_floor")


@staff_required(SUPERVISE)
@require_POST
def staff_tables_close(request: HttpRequest) -> HttpResponse:
    """Close every table of a game, or all tables. Rounds in progress are finished first."""
    form = CloseForm(request.POST)
    if not form.is_valid():
        choose = gettext("Choose the tables to close.")
        messages.error(request, f"{choose} {UNSURE}")
        return redirect("staff_floor")
    given = form.cleaned_data
    variant = None if given["game"] == EVERY_GAME[0] else given["game"]
    closed = status.close_tables(variant=variant, reason=given["reason"], by=actor(request))
    if closed:
        messages.success(request, (gettext("Closed: %(join)s.") % {"join": ", ".join(table.name for table in closed)}))
    else:
        messages.warning(request, gettext("All of these tables are already closed. Your reason was not recorded."))
    return redirect("staff_floor")


@staff_required("games.operate_table")
@require_POST
def staff_table_chat(request: HttpRequest, table_id: int) -> HttpResponse:
    """Set the chat language of a shared or Chemin de Fer table."""
    table = get_object_or_404(Table.objects.exclude(shape=Shape.SOLO), pk=table_id)
    form = ChatLanguageForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Unknown language."))
    else:
        language = form.cleaned_data["chat_language"]
        versions.set_chat_language(table_id=table.pk, language=language, by=actor(request))
        messages.success(
            request,
            (
                gettext("Chat language of %(table)s: %(languages)s.")
                % {"table": table.name, "languages": dict(LANGUAGES)[language]}
            ),
        )
    return redirect("staff_tables")


def _ranges(table: Table) -> list[str]:
    """Return the table's limits as text: Player and Banker by currency, or a bank."""
    if table.version is None:
        return []
    if table.shape == Shape.CHEMIN:
        rules = CheminRules.of(table.version.limits)
        return [(gettext("bank: %(minimum)s") % {"minimum": _range(rules.minimum, rules.maximum, rules.currency)})]
    allowed = ((currency, Limits.of(table.version.limits, currency).main) for currency in table.version.limits)
    return [_range(main.minimum, main.maximum, currency) for currency, main in allowed]


def _range(minimum: int, maximum: int, currency: str) -> str:
    return gettext("%(minimum)s to %(maximum)s") % {
        "minimum": format_money(minimum, currency, get_language() or "en"),
        "maximum": format_money(maximum, currency, get_language() or "en"),
    }


def _games() -> list[tuple[str, str]]:
    return [(slug, variant_label(game, "name", get_language() or "en")) for slug, game in GAMES.items()]


ORDERS: Final = {
    "": gettext_lazy("Alarms first"),
    "name": pgettext_lazy("order of tables", "Name"),
    "game": pgettext_lazy("order of tables", "Game"),
    "state": pgettext_lazy("order of tables", "State"),
    "players": gettext_lazy("Most players first"),
}


@dataclass(frozen=True)
class Choice:
    """Filter and order of rows, from the query string."""

    state: str
    variant: str
    needs: bool  # only tables that need attention
    order: str  # of `ORDERS`; floor.js sorts in the same way

    @classmethod
    def of(cls, query: QueryDict) -> Self:
        """Read the filter from a query string. Unknown states, games and orders are ignored."""
        state, variant, order = query.get("state", ""), query.get("game", ""), query.get("order", "")
        return cls(
            state if state in STATES else "",
            variant if variant in GAMES else "",
            query.get("needs") == "1",
            order if order in ORDERS else "",
        )

    def sorted(self, rows: Sequence[Row]) -> list[Row]:
        """Return *rows* in the order asked for, by name where they are equal."""
        games = list(GAMES)
        match self.order:
            case "":
                return list(rows)
            case "game":
                return sorted(rows, key=lambda row: (games.index(row.table.variant), row.full_name))
            case "state":
                return sorted(rows, key=lambda row: (STATES.index(row.state), row.full_name))
            case "players":
                return sorted(rows, key=lambda row: (-row.bettors, row.full_name))
        return sorted(rows, key=lambda row: row.full_name)

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
    games = [(slug, variant_label(game, "name", get_language() or "en")) for slug, game in GAMES.items()]
    context = {
        "floor": rows,
        "head": _head(rows),
        "rows": [_html(row, rows, is_hidden=row.key in hidden) for row in choice.sorted(rows.rows)],
        "is_any_shown": len(hidden) < len(rows.rows),
        "choice": choice,
        "states": STATES,
        "orders": ORDERS.items(),
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
    has_both = sum(each.table.pk == row.table.pk for each in rows.rows) > 1
    called = gettext("%(table)s, real and free money") % {"table": row.name} if has_both else row.name
    context = {
        "row": row,
        "on": row.on,
        "possible": [(name, each.button(called), each.what) for name, each in possible(row.table).items()],
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
    every, label = EVERY_GAME
    choices = [(every, label, len(variants)), *((slug, name, number[slug]) for slug, name in games)]
    return [
        (
            slug,
            ngettext("%(game)s: %(count)s table", "%(game)s: %(count)s tables", count) % {"game": name, "count": count},
        )
        for slug, name, count in choices
    ]


def _html(row: Row, rows: Rows, **how: bool) -> SafeString:
    return mark_safe(render_row(row, rows.now, **how))  # noqa: S308  (our own template)


def _head(rows: Rows) -> SafeString:
    return mark_safe(render_head(rows))  # noqa: S308  (our own template)


def _stream(request: StaffRequest) -> str:
    """Return the URL of the page's event stream, "" without a session."""
    session = session_id(request)
    if session is None:
        return ""
    ticket = stream_tokens.floor_ticket(request.staff.pk, session, get_language() or "en")
    return stream_tokens.issue(ticket, request.session.session_key)
