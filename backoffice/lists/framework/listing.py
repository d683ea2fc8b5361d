"""One list: its columns, its order, what finds and filters its rows, who may read it, and what can be done to many of
its rows at once. All of it is named; what is not named, a row does not show.
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
from players.staff import access_log
from players.staff.sections import Section

PAGE: Final = 50  # rows
CONFIRM: Final = "confirm"  # field of a form: what was shown has been read


@dataclass(frozen=True)
class Part:
    """Rows of their own that belong to one row and stand below it."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]


class Listing(ModelAdmin):
    """A list of one kind of rows, which changes none of them.

    *readers* are the permissions any one of which lets somebody read it; Django's own four of each model say nothing
    here. *key* is unique, newest last, and served by an index. *columns* stand in the list, its files and in front of
    *more* on the page of one row.
    """

    section: ClassVar[Section]
    name: ClassVar[str]  # what staff call it: "Deposits"
    purpose: ClassVar[str]
    readers: ClassVar[tuple[str, ...]]
    key: ClassVar[tuple[str, ...]] = ("id",)
    columns: ClassVar[tuple[Column, ...]]
    more: ClassVar[tuple[Column, ...]] = ()
    finds: ClassVar[tuple[Find, ...]] = ()
    filters: ClassVar[tuple[Filter, ...]] = ()  # for each of them an index goes on with the key
    together: ClassVar[tuple[frozenset[str], ...]] = ()  # names of filters that one index has all of
    period: ClassVar[str] = ""  # where a row has its time, in whose order rows are numbered
    links: ClassVar[cells.Links] = {}
    related: ClassVar[tuple[str, ...]] = ()  # what columns of other tables stand in
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
        """The script that lets all rows of a page be chosen at once, where something can be done to them."""
        return forms.Media(js=["admin/js/actions.js"] if self.deeds else [])

    @property
    def pages(self) -> dict[str, str]:
        """The names of its addresses, for pages."""
        return {page: self.address(page) for page in ("changelist", "change", "export")}

    def address(self, page: str) -> str:
        """Return the name of the address of its *page*: changelist, change, export."""
        return f"{self.admin_site.name}:{self.opts.app_label}_{self.opts.model_name}_{page}"

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses of the list, of its files, and of one row."""
        prefix = f"{self.opts.app_label}_{self.opts.model_name}"
        taken = fenced(fenced(self._export, *self.readers), files.EXPORT)
        return [
            path("", self._shown_or_done(), name=f"{prefix}_changelist"),
            path("export/", taken, name=f"{prefix}_export"),
            path("<str:object_id>/", fenced(self._one, *self.readers), name=f"{prefix}_change"),
        ]

    def _shown_or_done(self) -> View[[]]:
        """Return the list for whoever reads it, with what is done to its rows for whoever may do some of that."""
        show = fenced(self.changelist_view, *self.readers)
        if not self.deeds:
            return show
        do = fenced(self._do, *(deed.permission for deed in self.deeds), methods=("POST",))

        def either(request: HttpRequest) -> HttpResponseBase:
            return (do if request.method == "POST" else show)(request)

        return either

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Say whether who asks is one of its readers."""
        return any(map(request.user.has_perm, self.readers))

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Say the same: apps are no rooms here."""
        return self.has_view_permission(request)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody adds a row here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes one."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody removes one."""
        return False

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeyedList]:
        """Return what pages it."""
        return KeyedList

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow nothing: an address that compares any field would tell its value, and read the whole table for it. What
        a list is narrowed to, `backoffice.lists.framework.filters` reads.
        """
        return False

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Return the rows that the first of `finds` which knows what was typed finds, and that none stands there
        twice.
        """
        typed = search_term.strip()
        if not typed:
            return queryset, False
        found = next((found for find in self.finds if (found := find.condition(typed)) is not None), None)
        return queryset.none() if found is None else queryset.filter(found), False

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        """Return what shows each column to who asks."""
        first, *others = self.columns  # the first one leads to the page of the row, and can lead nowhere else
        plain = self._showing(first, lambda row: cells.shown(self.cell(row, first), first))
        return [plain, *(self._showing(column, self._linked(column, request.user)) for column in others)]

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return what who asks may do to many rows."""
        return {deed.name: (None, deed.name, f"{deed.label}…") for deed in self._allowed(request)}

    def changelist_view(self, request: StaffRequest, extra_context: dict[str, Any] | None = None) -> HttpResponseBase:
        """Show the list, and put on record whom it names."""
        extra = {"title": self.name, "may_export": request.user.has_perm(files.EXPORT), "most": files.MOST}
        answer: HttpResponseBase = super().changelist_view(request, extra | (extra_context or {}))
        if isinstance(answer, TemplateResponse):
            rows = [self.row(row) for row in (answer.context_data or {})["cl"].result_list]
            access_log.note_list(request, cells.named(rows), what=self.name.lower())
        return answer

    def row(self, row: Model) -> list[Cell]:
        """Return the cells of a row as files have them."""
        return [self.cell(row, column) for column in self.columns]

    def cell(self, row: Model, column: Column) -> Cell:
        """Return one of them: what the list's own method ``of_<column>`` says, or what stands in the row."""
        own = getattr(self, f"of_{column.name}", None)
        return cells.plain(own(row)) if own else cells.cell(row, column.name)

    def called(self, row: Model) -> str:
        """Return what staff call a row: what it calls itself, or else its first column."""
        if type(row).__str__ is not Model.__str__:
            return str(row)
        first = self.columns[0]
        return f"{first.heading} {self.cell(row, first)}"

    def parts(self, row: Any) -> Sequence[Part]:
        """Return what stands below one row; lists that have something there say so."""
        return ()

    def _showing(self, column: Column, show: Callable[[Model], str]) -> Callable[[Model], str]:
        show.short_description = cells.heading(column)  # type: ignore[attr-defined]  # as Django names it
        return show

    def _linked(self, column: Column, user: User | AnonymousUser) -> Callable[[Model], str]:
        return lambda row: cells.linked(self.cell(row, column), column, row, user, self.links)

    def _one(self, request: StaffRequest, object_id: str) -> TemplateResponse:
        """Show one row, and put on record whom it names."""
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
        """Give what the list shows as a file, and put on record whom it names and which file it is."""
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
        """Show what a deed would do to the rows that were chosen. Where that was confirmed with a reason, do it, and
        show what became of each of them.
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
        query = request.META["QUERY_STRING"] if request.method == "POST" else ""  # where it was chosen
        back = reverse(self.address("changelist")) + (f"?{query}" if query else "")
        ours = {"opts": self.opts, "listing": self, "title": self.name, "back": back}
        whole = {**self.admin_site.each_context(request), **ours, **context}
        return TemplateResponse(request, f"staff/lists/{name}.html", whole)

    def _keys(self, typed: Sequence[str]) -> list[Any]:
        """Return the primary keys among what an address or a form says."""
        keys = []
        for each in typed:
            with suppress(ValidationError):
                keys.append(self.opts.pk.clean(each, None))
        return keys

    def _allowed(self, request: HttpRequest) -> list[Deed]:
        return [deed for deed in self.deeds if request.user.has_perm(deed.permission)]
