"""Page of one model's rows that is nothing but its list: search, filters, readers, row page, actions.

Such a list is read-only: it cannot add, change or remove a row. It shows only the columns that it
declares.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django.core.exceptions import BadRequest
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST, require_safe

from audit.reports.kinds import Column, Row
from backoffice.lists import cells, files
from backoffice.lists.filters import Filter, FilterForm, Find
from backoffice.lists.paging import AFTER, BEFORE, Order
from backoffice.lists.staff_list import FORMAT, MOST_SORTED, StaffList
from players.access import StaffRequest, staff_required
from players.models import User
from players.staff import Section, access_log


@dataclass(frozen=True)
class Part:
    """Rows that belong to one row and are shown below it, and the ids of the players in them."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    players: Collection[int] = ()


class StaffListView(StaffList):
    """Read-only list of one model: its pages, its files, and the page of one row.

    Any of the permissions in *readers* lets a user read it. *columns* are shown in the list, in its
    files and, before *more*, on the page of one row. *more_players* are the players in *more*.
    """

    section: ClassVar[Section]
    purpose: ClassVar[str]
    readers: ClassVar[tuple[str, ...]]
    more: ClassVar[tuple[Column, ...]] = ()
    more_players: ClassVar[tuple[str, ...]] = ()
    finds: ClassVar[tuple[Find, ...]] = ()
    filters: ClassVar[tuple[Filter, ...]] = ()  # each needs an index that continues with the key
    period: ClassVar[str] = ""  # field with the time of a row; row numbers follow it
    related: ClassVar[tuple[str, ...]] = ()  # relations of the columns

    form: FilterForm

    @classmethod
    def url_name(cls, page: str = "") -> str:
        """Return the URL name of the list, or of its *page*: ``row``, ``file``."""
        return "_".join(filter(None, ["staff_list", cls.label().replace(".", "_"), page]))

    @classmethod
    def urls(cls) -> list[URLPattern]:
        """Return the URLs of the list, its files and one row."""
        base, read_by = cls.label().replace(".", "/"), staff_required(*cls.readers)
        file = read_by(staff_required(files.EXPORT)(require_safe(cls._view("file"))))
        row = read_by(require_safe(cls._view("show_row")))
        shown = read_by(require_safe(cls._view("list_rows")))
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

    def __init__(self, request: StaffRequest, of: Any = None) -> None:
        """Read the query. Of all rows many are sorted by a column, of those of a filter few."""
        super().__init__(request, of)
        self._sorts_few = self.is_sorted and self.form.is_used
        if self._sorts_few:
            self.refuse_order_of_many(self.form.narrow(self.model._default_manager.all()))

    def make_form(self) -> FilterForm:
        """Return the search and filters. Another field would reveal its value and read the whole table."""
        form = FilterForm(self.request.GET, type(self))
        if unknown := set(self.request.GET) - {*form.fields, BEFORE, AFTER, FORMAT}:
            raise BadRequest(f"This list is not filtered by {', '.join(sorted(unknown))}.")
        return form

    def found(self) -> QuerySet[Any]:
        """Return the rows that the search and filters keep."""
        if not self._sorts_few:
            return self.form.narrow(self.rows())
        few = self.form.narrow(self.model._default_manager.all()).order_by()[:MOST_SORTED]
        return self.rows().filter(pk__in=few.values("pk"))

    def __init_subclass__(cls) -> None:
        """Sort by the time of a row as by the key: row numbers follow it."""
        super().__init_subclass__()
        cls.timed = tuple(filter(None, dict.fromkeys([cls.key[0], *vars(cls).get("timed", ()), cls.period])))

    def usual_order(self) -> Order:
        """Return the order of the index that serves the filter."""
        return Order(self.form.key if self.form.is_valid() else self.key)

    def urls_of(self, row: Any) -> Mapping[str, str]:
        """Return the addresses that the cells of a row in the list lead to; the first leads to its page."""
        found = cells.urls(row, self.links, self.request.user)
        return found | {self.columns[0].name: reverse(self.url_name("row"), args=[row.pk])}

    @property
    def file_page(self) -> str:  # type: ignore[override]  # not the same for every list
        """URL name of the files."""
        return self.url_name("file")

    def list_rows(self) -> HttpResponse:
        """Show a page of the list, and record the players in it in the access log."""
        players = self.players_in(self.shown)
        access_log.note_list(self.request, players, what=self.name.lower())
        return self.answer("staff/lists/list.html")

    def show_row(self, key: str) -> HttpResponse:
        """Show one row, and record the players in it in the access log."""
        row = self.rows().filter(pk__in=self._keys([key])).first()
        if row is None:
            raise Http404
        parts, columns = self.parts(row), (*self.columns, *self.more)
        players = self.players_in([row], self.more_players).union(*(part.players for part in parts))
        access_log.note(self.request, *players, what=f"one of {self.name.lower()}")
        user = self.request.user
        context = {
            "called": self.called(row),
            "facts": cells.shown(columns, self.values(row, columns), cells.urls(row, self.links, user), user),
            "parts": [(part, [cells.shown(part.columns, line, {}, user) for line in part.rows]) for part in parts],
        }
        return render(self.request, "staff/lists/row.html", {"list": self, "back": reverse(self.url_name()), **context})

    @classmethod
    def _view(cls, method: str) -> Callable[..., HttpResponse]:
        """Return the view that answers with *method*."""

        def view(request: StaffRequest, **arguments: str) -> HttpResponse:
            answer: HttpResponse = getattr(cls(request), method)(**arguments)
            return answer

        return view

    @classmethod
    def _listed_or_done(cls, shown: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """Return the view that shows the list to its readers and, on POST, runs bulk actions."""
        permissions = (action.permission for action in cls.actions)
        act = staff_required(*permissions)(require_POST(cls._view("act")))

        def either(request: HttpRequest) -> HttpResponseBase:
            return (act if request.method == "POST" else shown)(request)

        return either
