"""List of one model: columns, order, search, filters, readers, export and bulk actions.

A list is read-only: it cannot add, change or remove a row. It shows only the columns that it
declares.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from django.contrib import messages
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views import View
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Cell, Column, Row
from backoffice.lists import cells, files
from backoffice.lists.actions import Action, ReasonForm, carry_out
from backoffice.lists.filters import Filter, FilterForm, Find
from backoffice.lists.paging import AFTER, BEFORE, PAGE, Page, read
from players.access import StaffRequest, staff_required
from players.login.current_user import actor
from players.models import User
from players.staff import Section, access_log

FORMAT: Final = "as"  # query parameter: the format of a file
CHOSEN: Final = "chosen"  # form fields: rows that were chosen, all rows of the page, and whether these are meant
SHOWN: Final = "shown"
ALL: Final = "all"
CONFIRM: Final = "confirm"  # form field: the preview was read and confirmed


@dataclass(frozen=True)
class Part:
    """Rows that belong to one row and are shown below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


class StaffListView(View):
    """Read-only list of one model: its pages, its files, and the page of one row.

    Any of the permissions in *readers* lets a user read it. *key* is unique, newest last, and has
    an index. *columns* are shown in the list, in its files and, before *more*, on the page of one
    row. A column is the list's method ``of_<column>`` if it exists, else the value of the row.
    """

    model: ClassVar[type[Model]]
    section: ClassVar[Section]
    name: ClassVar[str]  # title for staff: "Deposits"
    purpose: ClassVar[str]
    readers: ClassVar[tuple[str, ...]]
    key: ClassVar[tuple[str, ...]] = ("id",)
    columns: ClassVar[tuple[Column, ...]]
    more: ClassVar[tuple[Column, ...]] = ()
    finds: ClassVar[tuple[Find, ...]] = ()
    filters: ClassVar[tuple[Filter, ...]] = ()  # each needs an index that continues with the key
    together: ClassVar[tuple[frozenset[str], ...]] = ()  # names of filters that share one index
    period: ClassVar[str] = ""  # field with the time of a row; row numbers follow it
    links: ClassVar[cells.Links] = {}
    related: ClassVar[tuple[str, ...]] = ()  # relations of the columns
    actions: ClassVar[tuple[Action, ...]] = ()

    answer = "list_rows"  # the method that answers; set by `urls`

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer with the method that the URL names."""
        answer: HttpResponseBase = getattr(self, self.answer)(request, *args, **kwargs)
        return answer

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events and in the access log."""
        return cls.model._meta.label_lower

    @classmethod
    def url_name(cls, page: str = "") -> str:
        """Return the URL name of the list, or of its *page*: ``row``, ``file``."""
        return "_".join(filter(None, ["staff_list", cls.label().replace(".", "_"), page]))

    @classmethod
    def urls(cls) -> list[URLPattern]:
        """Return the URLs of the list, its files and one row."""
        base, read_by = cls.label().replace(".", "/"), staff_required(*cls.readers)
        file = read_by(staff_required(files.EXPORT)(require_safe(cls.as_view(answer="export"))))
        row = read_by(require_safe(cls.as_view(answer="show_row")))
        shown = read_by(require_safe(cls.as_view()))
        return [
            path(f"{base}/", cls._listed_or_done(shown) if cls.actions else shown, name=cls.url_name()),
            path(f"{base}/export/", file, name=cls.url_name("file")),
            path(f"{base}/<str:key>/", row, name=cls.url_name("row")),
        ]

    @classmethod
    def may_read(cls, user: User) -> bool:
        """Return whether *user* is one of the list's readers."""
        return any(map(user.has_perm, cls.readers))

    @classmethod
    def rows(cls) -> QuerySet[Any]:
        """Return all rows with the relations that the columns need."""
        return cls.model._default_manager.select_related(*cls.related)

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the parts shown below one row. Lists override this."""
        return ()

    def values(self, row: Model, columns: Sequence[Column] = ()) -> list[Cell]:
        """Return the cells of a row as in files."""
        return [self._cell(row, column) for column in columns or self.columns]

    def list_rows(self, request: StaffRequest) -> HttpResponse:
        """Show a page of the list, and record the players in it in the access log."""
        form = self._form(request)
        page = form.order.page(form.narrow(self.rows()), request.GET.dict()) if form.is_valid() else Page[Any]()
        values = [self.values(row) for row in page.rows]
        access_log.note_list(request, access_log.players_in(values), what=self.name.lower())
        may_export = bool(page.rows) and request.user.has_perm(files.EXPORT)
        context = {
            "form": form,
            "page": page,
            "columns": [(cells.heading(each), cells.style(each), self._sorted(form, each)) for each in self.columns],
            "rows": [
                (row.pk, self.called(row), cells.shown(self.columns, line, self._urls(row), request.user))
                for row, line in zip(page.rows, values, strict=True)
            ],
            "files": self._files(request, form.order.forward) if may_export else {},
            "most": f"{files.MOST:,}",
            "actions": self._allowed(request) if page.rows else (),
        }
        return self._page(request, "list", context)

    def show_row(self, request: StaffRequest, key: str) -> HttpResponse:
        """Show one row, and record the players in it in the access log."""
        row = self.rows().filter(pk__in=self._keys([key])).first()
        if row is None:
            raise Http404
        columns = (*self.columns, *self.more)
        values, parts = self.values(row, columns), self.parts(row)
        players = access_log.players_in(values, [part.rows for part in parts])
        access_log.note(request, *players, what=f"one of {self.name.lower()}")
        context = {
            "called": self.called(row),
            "facts": cells.shown(columns, values, cells.urls(row, self.links), request.user),
            "parts": [
                (part, [cells.shown(part.columns, line, {}, request.user) for line in part.rows]) for part in parts
            ],
        }
        return self._page(request, "row", context)

    def export(self, request: StaffRequest) -> HttpResponse:
        """Export the list as a file, from the page on that the cursor leads to."""
        form, kind = self._form(request), request.GET.get(FORMAT, "csv")
        if kind not in files.TYPES:
            raise Http404
        if not form.is_valid():
            raise BadRequest("What the list was to be narrowed to was refused.")
        order = form.order
        found = read(order.rest(form.narrow(self.rows()), request.GET.dict())[: files.MOST + 1])
        is_more, found = len(found) > files.MOST, found[: files.MOST]
        further = "Newer" if order.is_rising else "Older"
        return files.export(
            request,
            kind,
            name=self.name,
            label=self.label(),
            asked=[(name, str(value)) for name, value in request.GET.items() if name != FORMAT],
            columns=self.columns,
            rows=[self.values(row) for row in found],
            goes_on=f"{further} rows go on {order.forward} {order.cursor(found[-1])}." if is_more else "",
        )

    def act(self, request: StaffRequest) -> HttpResponse:
        """Preview a bulk action on the chosen rows, or carry it out if it was confirmed with a reason.

        After carrying it out, show the result for each row.
        """
        action = next((each for each in self._allowed(request) if each.name == request.POST.get("action")), None)
        keys = self._keys(request.POST.getlist(SHOWN if ALL in request.POST else CHOSEN)[:PAGE])
        rows = self.rows().filter(pk__in=keys).order_by(*self.key)
        if action is None or not rows:
            messages.warning(request, "Choose rows, and what to do to them.")
            return redirect(request.get_full_path())
        players = access_log.players_in([self.values(row) for row in rows])
        access_log.note_list(request, players, what=self.name.lower())
        form = ReasonForm(request.POST if CONFIRM in request.POST else None)
        form.fields["reason"].help_text = action.reason_help
        if form.is_valid():
            outcomes = carry_out(action, rows, reason=form.cleaned_data["reason"], by=actor(request))
            done = [(self.called(each.row), each) for each in outcomes]
            count = sum(outcome.is_done for outcome in outcomes)
            return self._page(request, "action", {"action": action, "outcomes": done, "count": count})
        plans = [(row.pk, self.called(row), action.plan(row)) for row in rows]
        count = sum(not plan.is_skipped for _, _, plan in plans)
        return self._page(request, "action", {"action": action, "plans": plans, "count": count, "form": form})

    def called(self, row: Model) -> str:
        """Return the name of a row: its ``__str__`` if the model defines one, else its first column."""
        if type(row).__str__ is not Model.__str__:
            return str(row)
        return f"{self.columns[0].heading} {self._cell(row, self.columns[0])}"

    @classmethod
    def _listed_or_done(cls, shown: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """Return the view that shows the list to its readers and, on POST, runs bulk actions."""
        permissions = (action.permission for action in cls.actions)
        act = staff_required(*permissions)(require_POST(cls.as_view(answer="act")))

        def either(request: HttpRequest) -> HttpResponseBase:
            return (act if request.method == "POST" else shown)(request)

        return either

    def _form(self, request: HttpRequest) -> FilterForm:
        """Return the search and filters. Another field would reveal its value and read the whole table."""
        form = FilterForm(request.GET, type(self))
        if unknown := set(request.GET) - {*form.fields, BEFORE, AFTER, FORMAT}:
            raise BadRequest(f"This list is not filtered by {', '.join(sorted(unknown))}.")
        return form

    def _page(self, request: StaffRequest, name: str, context: dict[str, Any]) -> HttpResponse:
        query = request.META["QUERY_STRING"] if request.method == "POST" else ""  # of the list
        back = reverse(self.url_name()) + (f"?{query}" if query else "")
        return render(request, f"staff/lists/{name}.html", {"list": self, "back": back, **context})

    def _files(self, request: HttpRequest, forward: str) -> dict[str, str]:
        """Return the addresses of the files, which begin where the page does."""
        query = request.GET.copy()
        query.pop(BEFORE if forward == AFTER else AFTER, None)
        address = reverse(self.url_name("file"))
        found = {}
        for kind in files.TYPES:
            query[FORMAT] = kind
            found[kind.upper()] = f"{address}?{query.urlencode()}"
        return found

    def _sorted(self, form: FilterForm, column: Column) -> str:
        """Return the column's ``aria-sort``, "" if rows are not in its order."""
        first = form.order.key[0] if form.is_valid() else ""
        return ("ascending" if form.order.is_rising else "descending") if column.name == first else ""

    def _urls(self, row: Model) -> dict[str, str]:
        """Return the addresses that the cells of a row in the list lead to; the first leads to its page."""
        return cells.urls(row, self.links) | {self.columns[0].name: reverse(self.url_name("row"), args=[row.pk])}

    def _cell(self, row: Model, column: Column) -> Cell:
        own = getattr(self, f"of_{column.name}", None)
        return cells.plain(own(row)) if own else cells.cell(row, column.name)

    def _keys(self, typed: Sequence[str]) -> list[Any]:
        """Return the valid primary keys among *typed*."""
        keys = []
        for each in typed:
            with suppress(ValidationError):
                keys.append(self.model._meta.pk.clean(each, None))
        return keys

    def _allowed(self, request: StaffRequest) -> list[Action]:
        return [action for action in self.actions if request.user.has_perm(action.permission)]
