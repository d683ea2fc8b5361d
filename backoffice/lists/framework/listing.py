"""List of one model: columns, order, search, filters, readers and bulk actions.

A row shows only columns that the list declares.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from django import forms
from django.contrib import messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.contrib.admin.options import ShowFacets
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.text import slugify
from unfold.admin import ModelAdmin

from audit import log
from audit.reports.kinds import Cell, Column, Row
from audit.reports.requests import clock
from backoffice.lists.framework import cells, files
from backoffice.lists.framework.access import fenced
from backoffice.lists.framework.actions import Deed, ReasonForm, carry_out
from backoffice.lists.framework.filters import Filter
from backoffice.lists.framework.paging import FORMAT, KeyedList, read
from backoffice.lists.framework.roles import READERS
from backoffice.lists.framework.search import Find
from players.access import StaffRequest, View, actor
from players.models import User
from players.staff import Section, access_log

PAGE: Final = 50  # rows
CONFIRM: Final = "confirm"  # form field: the preview was read and confirmed


@dataclass(frozen=True)
class Part:
    """Rows that belong to one row and are shown below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


class Listing(ModelAdmin):
    """Read-only list of one model.

    Any of the permissions in *readers* lets a user read it; Django's own four permissions of the
    model are not used. *key* is unique, newest last, and has an index. *columns* are shown in the
    list, in its files and, before *more*, on the page of one row.
    """

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
    deeds: ClassVar[tuple[Deed, ...]] = ()

    list_per_page = PAGE
    list_max_show_all = 0
    list_disable_select_all = True
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    sortable_by = ()
    actions_on_top = True
    change_list_template = "staff/lists/list.html"

    def __init__(self, model: type[Model], admin_site: Any) -> None:
        super().__init__(model, admin_site)
        self.list_select_related = self.related or False
        READERS.update(self.readers)
        self.search_fields = tuple(find.field for find in self.finds)
        self.search_help_text = ", ".join(find.name for find in self.finds)

    @property
    def media(self) -> forms.Media:
        """The script that selects all rows of a page, if the list has bulk actions."""
        return forms.Media(js=["admin/js/actions.js"] if self.deeds else [])

    @property
    def pages(self) -> dict[str, str]:
        """The URL names of the list, for templates."""
        return {page: self.address(page) for page in ("changelist", "change", "export")}

    def address(self, page: str) -> str:
        """Return the URL name of a *page*: changelist, change, export."""
        return f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_urls(self) -> list[URLPattern]:
        """Return the URLs of the list, its exports and one row."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        taken = fenced(fenced(self._export, *self.readers), files.EXPORT)
        return [
            path("", self._shown_or_done(), name=f"{prefix}_changelist"),
            path("export/", taken, name=f"{prefix}_export"),
            path("<str:object_id>/", fenced(self._one, *self.readers), name=f"{prefix}_change"),
        ]

    def _shown_or_done(self) -> View[[]]:
        """Return the view that shows the list to its readers and, on POST, runs bulk actions."""
        show = fenced(self.changelist_view, *self.readers)
        if not self.deeds:
            return show
        do = fenced(self._do, *(deed.permission for deed in self.deeds), methods=("POST",))

        def either(request: HttpRequest) -> HttpResponseBase:
            return (do if request.method == "POST" else show)(request)

        return either

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return whether the user is one of the list's readers."""
        return any(map(request.user.has_perm, self.readers))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Return whether the user is one of the list's readers.

        Permissions do not depend on the app.
        """
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: rows cannot be added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: rows cannot be changed here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Return False: rows cannot be removed here."""
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeyedList]:
        """Return the class that pages the list."""
        return KeyedList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Return False, so that no lookup in the query string is allowed.

        A lookup on any field would reveal its value and read the whole table.
        `backoffice.lists.framework.filters` reads the filters.
        """
        return False

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Return the rows found by the first of `finds` that understands the search text.

        The second value says that the result has no duplicates.
        """
        typed = search_term.strip()
        if not typed:
            return queryset, False
        found = next((found for find in self.finds if (found := find.condition(typed)) is not None), None)
        return queryset.none() if found is None else queryset.filter(found), False

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Return the functions that show each column to the user."""
        first, *others = self.columns  # the first column links to the row's page and cannot link elsewhere
        plain = self._showing(first, lambda row: cells.shown(self.cell(row, first), first))
        return [plain, *(self._showing(column, self._linked(column, request.user)) for column in others)]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the bulk actions that the user may run."""
        return {deed.name: (None, deed.name, f"{deed.label}…") for deed in self._allowed(request)}

    def changelist_view(self, request: StaffRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Show the list, and record the players in it in the access log."""
        extra = {"title": self.name, "may_export": request.user.has_perm(files.EXPORT), "most": files.MOST}
        answer: HttpResponseBase = super().changelist_view(request, extra | (extra_context or {}))
        if isinstance(answer, TemplateResponse):
            rows = [self.row(row) for row in (answer.context_data or {})["cl"].result_list]
            access_log.note_list(request, cells.named(rows), what=self.name.lower())
        return answer

    def row(self, row: Model) -> list[Cell]:
        """Return the cells of a row as in files."""
        return [self.cell(row, column) for column in self.columns]

    def cell(self, row: Model, column: Column) -> Cell:
        """Return a cell: the list's method ``of_<column>`` if it exists, else the row's value."""
        own = getattr(self, f"of_{column.name}", None)
        return cells.plain(own(row)) if own else cells.cell(row, column.name)

    def called(self, row: Model) -> str:
        """Return the name of a row: its ``__str__`` if defined, else its first column."""
        if type(row).__str__ is not Model.__str__:
            return str(row)
        first = self.columns[0]
        return f"{first.heading} {self.cell(row, first)}"

    def parts(self, row: Any) -> Sequence[Part]:
        """Return the parts shown below one row. Lists override this."""
        return ()

    def _showing(self, column: Column, show: Callable[[Model], str]) -> Callable[[Model], str]:
        show.short_description = cells.heading(column)  # type: ignore[attr-defined]  # the attribute that Django reads
        return show

    def _linked(self, column: Column, user: User | AnonymousUser) -> Callable[[Model], str]:
        return lambda row: cells.linked(self.cell(row, column), column, row, user, self.links)

    def _one(self, request: StaffRequest, object_id: str) -> TemplateResponse:
        """Show one row, and record the players in it in the access log."""
        keys = self._keys([object_id])
        row = self.get_queryset(request).select_related(*self.related).filter(pk__in=keys).first()
        if row is None:
            raise Http404
        columns = (*self.columns, *self.more)
        values = [self.cell(row, column) for column in columns]
        parts = self.parts(row)
        players = set(cells.named([values, *(line for part in parts for line in part.rows)]))
        access_log.note(request, *players, what=f"one of {self.name.lower()}")
        show = self._shown(request, row, self.links)
        context = {
            "original": self.called(row),
            "facts": list(zip(map(cells.heading, columns), show(columns, values), strict=True)),
            "parts": [
                (
                    part.title,
                    [cells.heading(column) for column in part.columns],
                    [self._shown(request, row, {})(part.columns, line) for line in part.rows],
                )
                for part in parts
            ],
        }
        return self._page(request, "one", context)

    def _shown(self, request: StaffRequest, row: Model, links: cells.Links) -> Callable[..., list[str]]:
        def show(columns: Sequence[Column], values: Row) -> list[str]:
            pairs = zip(values, columns, strict=True)
            return [cells.linked(value, column, row, request.user, links) for value, column in pairs]

        return show

    def _export(self, request: StaffRequest) -> HttpResponseBase:
        """Export the list as a file.

        Record the players in it in the access log, and the file in the event log.
        """
        form = request.GET.get(FORMAT, "csv")
        if form not in files.TYPES:
            raise Http404
        listed = self.get_changelist_instance(request)
        if not listed.sieve.is_valid():
            raise BadRequest("What the list was to be narrowed to was refused.")
        found = read(listed.from_on(request)[: files.MOST + 1])
        rows = [self.row(row) for row in found[: files.MOST]]
        goes_on = f"Older rows go on before {listed.key_of(found[-2])}." if len(found) > files.MOST else ""
        asked = [(name, str(value)) for name, value in request.GET.items() if name != FORMAT]
        by = actor(request)
        taken = files.write(form, name=self.name, by=by, asked=asked, columns=self.columns, rows=rows, goes_on=goes_on)
        access_log.note_list(request, cells.named(rows), what=f"{self.name.lower()} as {form}")
        data = {"list": self.opts.label_lower, "format": form, "rows": len(rows), "sha256": taken.digest}
        log.record("rows.exported", by=by, on=f"list:{self.opts.label_lower}", data=data)
        answer = HttpResponse(taken.content, content_type=files.TYPES[form])
        name = f"{slugify(self.name)}-{clock():%Y%m%d-%H%M%S}"
        answer["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
        return answer

    def _do(self, request: StaffRequest) -> HttpResponseBase:
        """Preview a bulk action on the chosen rows, or carry it out once confirmed.

        After carrying it out, show the result for each row.
        """
        deed = next((deed for deed in self._allowed(request) if deed.name == request.POST.get("action")), None)
        keys = self._keys(request.POST.getlist(ACTION_CHECKBOX_NAME)[:PAGE])
        rows = self.get_queryset(request).select_related(*self.related).filter(pk__in=keys).order_by(*self.key)
        if deed is None or not rows:
            messages.warning(request, "Choose rows, and what to do to them.")
            return redirect(request.get_full_path())
        access_log.note_list(request, cells.named([self.row(row) for row in rows]), what=self.name.lower())
        is_confirmed = CONFIRM in request.POST
        form = ReasonForm(request.POST if is_confirmed else None)
        if is_confirmed and form.is_valid():
            outcomes = carry_out(deed, rows, reason=form.cleaned_data["reason"], by=actor(request))
            count = sum(outcome.is_done for outcome in outcomes)
            lines = [(self.called(outcome.row), outcome) for outcome in outcomes]
            return self._page(request, "done", {"deed": deed, "lines": lines, "count": count})
        plans = [(row, self.called(row), deed.plan(row)) for row in rows]
        count = sum(not plan.is_skipped for _, _, plan in plans)
        context = {"deed": deed, "plans": plans, "count": count, "form": form, "box": ACTION_CHECKBOX_NAME}
        return self._page(request, "deed", context)

    def _page(self, request: StaffRequest, name: str, context: dict[str, Any]) -> TemplateResponse:
        query = request.META["QUERY_STRING"] if request.method == "POST" else ""  # of the list
        back = reverse(self.address("changelist")) + (f"?{query}" if query else "")
        ours = {"opts": self.opts, "listing": self, "title": self.name, "back": back}
        whole = {**self.admin_site.each_context(request), **ours, **context}
        return TemplateResponse(request, f"staff/lists/{name}.html", whole)

    def _keys(self, typed: Sequence[str]) -> list[Any]:
        """Return the valid primary keys among *typed*."""
        keys = []
        for each in typed:
            with suppress(ValidationError):
                keys.append(self.opts.pk.clean(each, None))
        return keys

    def _allowed(self, request: HttpRequest) -> list[Deed]:
        return [deed for deed in self.deeds if request.user.has_perm(deed.permission)]
