"""One list on a page of the back office: filter form, order, keyset page, table, files, access log.

Every list of the back office is a `StaffList`. `backoffice.lists.view.StaffListView` is a page that
has nothing but its list; the other pages show a list and what staff do with its rows.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, Self, cast

from django.contrib import messages
from django.contrib.auth.models import Group
from django.core.exceptions import BadRequest, ObjectDoesNotExist, ValidationError
from django.db.models import Manager, Model, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import conditional_escape
from django.utils.translation import gettext, gettext_noop, override

from audit.reports.kinds import Cell, Column
from backoffice.lists import cells, files, saved
from backoffice.lists.actions import Action, ReasonForm, carry_out
from backoffice.lists.filters import FALLING, NEWEST, OLDEST, ORDER, ListForm
from backoffice.lists.paging import AFTER, BEFORE, BETWEEN, PAGE, Order, Page, of_queryset
from backoffice.lists.totals import Sums, Total, totals_of
from players import staff
from players.access import StaffRequest, staff_required
from players.login.current_user import actor
from players.models import Player, SavedFilter
from players.staff import access_log
from players.staff.access_log import NAMED

FORMAT: Final = "as"  # query parameter: the format of a file
NUMBERS: Final = re.compile(rf"[0-9]{{1,18}}({BETWEEN}[0-9]{{1,18}})*")  # cursor of a `ComputedList`
CHOSEN: Final = "chosen"  # form fields: rows that were chosen, all rows of the page, and whether these are meant
SHOWN: Final = "shown"
ALL: Final = "all"
CONFIRM: Final = "confirm"  # form field: the preview was read and confirmed
FEW_COLUMNS: Final = 3  # none of them is left out
MOST_SORTED: Final = 50_000
"""Largest number of filtered rows that are sorted by a column: no index serves both, so a query may read many rows."""
NO_PLAYERS: Final = ()  # for a list whose rows are of no player


@dataclass(frozen=True)
class Heading:
    """Head of a column: its text, CSS class, ``aria-sort`` ("": the rows are not in its order), and
    the value of `ORDER` that sorts by it, or the other way round (None: nothing does).
    """

    text: str
    style: str
    sort: str
    order: str | None


@dataclass(frozen=True)
class Line:
    """A row on the page: what is shown of it, its key, its name and its cells."""

    item: Any
    key: Any
    called: str
    cells: Sequence[cells.Shown]
    is_choosable: bool


class StaffList:
    """A list for one request.

    A subclass declares what the list has. *columns* are on the screen and, without *file_columns*,
    in files. A column is the list's method ``of_<column>`` if it exists, else the value of the row;
    ``show_<column>`` returns its HTML where the text is not enough. *players* are the paths of the
    player ids in a row: numbers, players, or texts that name players as events do. All are recorded
    in the access log.
    """

    model: ClassVar[type[Model]]
    name: ClassVar[str]  # English title: "Deposits"; pages translate it, as they do `empty` and `unmatched`
    columns: ClassVar[tuple[Column, ...]]
    players: ClassVar[tuple[str, ...]]
    file_columns: ClassVar[tuple[Column, ...]] = ()
    key: ClassVar[tuple[str, ...]] = ("id",)  # unique, newest last, with an index
    is_rising: ClassVar[bool] = False  # oldest first, unless asked for otherwise
    form_class: ClassVar[type[ListForm]] = ListForm
    size: ClassVar[int] = PAGE
    links: ClassVar[cells.Links] = {}
    accounts: ClassVar[tuple[str, ...]] = ()  # columns with an account that the screen shows by its staff name
    currency: ClassVar[str] = ""  # path of the currency, for lists that write it with every amount
    timed: ClassVar[tuple[str, ...]] = ()  # columns that rise with the key: rows are sorted by them as by the key
    sorts: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # column -> its key, with an index or of few rows
    sums: ClassVar[Sums | None] = None  # what is summed above the rows
    actions: ClassVar[tuple[Action, ...]] = ()  # what can be done to several rows at once
    empty: ClassVar[str] = gettext_noop("Nothing here yet.")
    unmatched: ClassVar[str] = gettext_noop("Nothing matches this filter.")
    file_page: ClassVar[str] = ""  # URL name of the files, if they have an address of their own
    do_not_call_in_templates: ClassVar[bool] = True  # a template reads the class

    def __init__(self, request: StaffRequest, of: Any = None) -> None:
        """Read the query of *request*. *of* is what the list belongs to, such as a player."""
        self.request = request
        self.of = of
        self.may_sort = True  # the headings lead to other orders
        self.form = self.make_form()
        self.form.add_orders(each for each in self.columns if each.name in self.sorts)

    # Methods that a list may override

    @classmethod
    def rows(cls) -> QuerySet[Any]:
        """Return all rows, with the relations that the columns need."""
        return cls.model._default_manager.all()

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events."""
        return cls.model._meta.label_lower

    def make_form(self) -> ListForm:
        """Return the form of the list."""
        return self.form_class(self.request.GET, is_rising=self.is_rising)

    def found(self) -> QuerySet[Any]:
        """Return the rows that the valid form asks for, in any order."""
        return self.rows()

    def filtered(self) -> QuerySet[Any]:
        """Return all rows of the filter, which `totals` sums. A list that overrides `read` overrides it too."""
        return self.found()

    def usual_order(self) -> Order:
        """Return the order of the rows, unless the form asks for another."""
        return Order(self.key, self.is_rising)

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Any]:
        """Return the rows beyond the key *start* (none: from the beginning) in *order*, at most *most*."""
        return of_queryset(self.found())(order, start, most)

    def key_of(self, cursor: str) -> Sequence[Any]:
        """Return the key that a cursor holds, none if it is invalid."""
        return self.order.values(self.found().model, cursor)

    def cursor_after(self, rows: Sequence[Any]) -> str:
        """Return the cursor that leads on from *rows*."""
        return self.order.cursor(rows[-1])

    def items(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return what the columns and *players* are read from, for each row."""
        return rows

    def called(self, row: Any) -> str:
        """Return the name of a row: its ``__str__`` if the class defines one, else its first column."""
        plain: tuple[object, ...] = (Model.__str__, object.__str__)
        if type(row).__str__ not in plain:
            return str(row)
        return f"{gettext(self.columns[0].heading)} {self.cell(row, self.columns[0])}"

    def about(self) -> Sequence[tuple[str, str]]:
        """Return the lines of a file's heading that say what the list belongs to."""
        return [("Of", str(self.of))] if self.of else []

    def players_of_subject(self) -> set[int]:
        """Return the ids of the players in `about`. The heading of a workbook names them even if it has no rows."""
        return set(_players(self.of))

    def urls_of(self, row: Any) -> Mapping[str, str]:
        """Return the addresses that the cells of a row lead to, by column."""
        return cells.urls(row, self.links, self.request.user)

    def is_choosable(self, row: Any) -> bool:
        """Return whether a row can be chosen."""
        return True

    def choosable_rows(self) -> QuerySet[Any]:
        """Return the rows that the reader may choose for an action."""
        return self.rows()

    # Attributes and methods for pages and templates

    @cached_property
    def asked(self) -> dict[str, Any]:
        """The cleaned fields of the form, if it is valid, else none."""
        return self.form.cleaned_data if self.form.is_valid() else {}

    @cached_property
    def order(self) -> Order:
        """The order of the rows."""
        usual, asked = self.usual_order(), self.asked.get(ORDER, "")
        if own := self.sorts.get(asked.removeprefix(FALLING)):
            return Order(own, is_rising=not asked.startswith(FALLING))
        return replace(usual, is_rising={OLDEST: True, NEWEST: False}.get(asked, usual.is_rising))

    @cached_property
    def page(self) -> Page[Any]:
        """The page of rows asked for. No row is shown for an invalid form."""
        if not self.form.is_valid():
            return Page()
        return self.order.page(self.read, self.key_of, self.request.GET, self.size)

    @cached_property
    def shown(self) -> Sequence[Any]:
        """The items of the page. The players in them are declared to the access log."""
        items = self.items(self.page.rows)
        access_log.shown(self.request, *self.players_in(items))
        return items

    @cached_property
    def lines(self) -> list[Line]:
        """The rows of the page with their cells."""
        return [
            Line(item, getattr(row, "pk", None), self.called(item), self.cells_of(item), self.is_choosable(item))
            for row, item in zip(self.page.rows, self.shown, strict=True)
        ]

    @cached_property
    def headings(self) -> list[Heading]:
        """The heads of the columns that are shown. The first one in whose order the rows are says so."""
        heads, is_said = [], False
        for each in self.shown_columns:
            way, order = self._sort(each.name)
            heads.append(Heading(cells.heading(each), cells.style(each), "" if is_said else way, order))
            is_said = is_said or bool(way)
        return heads

    def _sort(self, column: str) -> tuple[str, str | None]:
        """Return the direction of the rows by *column*, and the value of `ORDER` for a click on its heading."""
        usual, way = self.usual_order(), "ascending" if self.order.is_rising else "descending"
        if own := self.sorts.get(column):
            is_first = self.order.key == own
            return way if is_first else "", column if is_first and not self.order.is_rising else f"{FALLING}{column}"
        if column not in (usual.key[0], *self.timed):
            return "", None
        is_first = self.order.key == usual.key
        other = usual.is_rising is self.order.is_rising if is_first else False
        return way if is_first else "", (NEWEST if usual.is_rising else OLDEST) if other else ""

    @property
    def is_sorted(self) -> bool:
        """True if the rows are sorted by a column instead of by time."""
        return self.asked.get(ORDER, "").removeprefix(FALLING) in self.sorts

    def refuse_order_of_many(self, rows: QuerySet[Any]) -> None:
        """Refuse to sort *rows* by a column if they are more than `MOST_SORTED`."""
        if rows.order_by()[: MOST_SORTED + 1].count() > MOST_SORTED:
            most = number_format(MOST_SORTED, force_grouping=True)
            self.form.add_error(
                ORDER, gettext("More than %(most)s rows. Narrow the search to sort by this column.") % {"most": most}
            )

    @cached_property
    def shown_columns(self) -> Sequence[Column]:
        """The columns on the screen: the first, and those that the reader chose."""
        chosen = saved.columns_of(self.request, self.label()) if self.may_choose_columns else ()
        return [each for each in self.columns if not chosen or each.name in chosen or each is self.columns[0]]

    @property
    def may_choose_columns(self) -> bool:
        """True if the list is on a page of the back office and has columns to choose from."""
        return self.request.resolver_match is not None and len(self.columns) > FEW_COLUMNS

    @cached_property
    def saved_filters(self) -> Sequence[SavedFilter]:
        """The saved filters of the page."""
        return list(saved.filters_of(self.request))

    @property
    def roles(self) -> Iterable[Group]:
        """The roles that a filter may be shared with."""
        return self.request.user.groups.order_by("name")

    @cached_property
    def totals(self) -> list[Total] | None:
        """The sums of all rows of the filter, None if they are too many. Empty for a list without amounts."""
        return totals_of(self.filtered(), self.sums, files.MOST) if self.sums and self.form.is_valid() else []

    @property
    def is_file(self) -> bool:
        """True if the request is for a file."""
        return FORMAT in self.request.GET

    @property
    def files(self) -> dict[str, str]:
        """The URLs of the files, which begin with the same row as the page; empty if the reader may not export."""
        if not (self.page.rows and self.request.user.has_perm(files.EXPORT)):
            return {}
        query = self.request.GET.copy()
        query.pop(BEFORE if self.order.forward == AFTER else AFTER, None)
        address = reverse(self.file_page) if self.file_page else self.request.path
        found = {}
        for kind in files.TYPES:
            query[FORMAT] = kind
            found[kind.upper()] = f"{address}?{query.urlencode()}"
        return found

    @property
    def most(self) -> str:
        """The most rows of a file."""
        return number_format(files.MOST, force_grouping=True)

    def first(self, most: int) -> Self:
        """Show the first *most* rows, whatever the request asks for, and return the list."""
        self.may_sort = False
        order = self.usual_order()
        found = self.read(order, (), most + 1)
        self.page = Page(found[:most], older=order.cursor(found[most - 1]) if len(found) > most else "")
        return self

    def answer(self, template: str, context: Mapping[str, Any] | None = None) -> HttpResponse:
        """Return the page with the list, or the file asked for."""
        if self.is_file:
            return self.file()
        self.shown  # noqa: B018  (the players are declared before the page is rendered)
        return render(self.request, template, {"list": self, "page": self.page, "form": self.form, **(context or {})})

    @cached_property
    def offered(self) -> list[Action]:
        """The actions on chosen rows that the reader may take."""
        return [action for action in self.actions if self.request.user.has_perm(action.permission)]

    @property
    def may_choose(self) -> bool:
        """True if rows can be chosen for a bulk action."""
        return bool(self.offered)

    def act(self) -> HttpResponse:
        """Preview a bulk action on the chosen rows, or carry it out if it was confirmed with a reason.

        After carrying it out, show the result for each row.
        """
        sent, back = self.request.POST, self.request.get_full_path()
        action = next((each for each in self.offered if each.name == sent.get("action")), None)
        keys = self._keys(sent.getlist(SHOWN if ALL in sent else CHOSEN)[:PAGE])
        rows = self.choosable_rows().filter(pk__in=keys).order_by(*self.key)
        if action is None or not rows:
            messages.warning(self.request, gettext("Choose rows and an action."))
            return redirect(back)
        plans = [(row.pk, self.called(row), action.plan(row)) for row in rows]
        shown = access_log.players_in([(called, plan.what) for _, called, plan in plans])
        access_log.note_list(self.request, shown, what=self.name.lower())
        form = ReasonForm(sent if CONFIRM in sent else None)
        form.fields["reason"].help_text = str(action.reason_help)
        context: dict[str, Any] = {"list": self, "back": back, "action": action}
        if form.is_valid():
            outcomes = carry_out(action, rows, reason=form.cleaned_data["reason"], by=actor(self.request))
            context["outcomes"] = [(self.called(each.row), each) for each in outcomes]
            context["count"] = sum(outcome.is_done for outcome in outcomes)
        else:
            count = sum(not plan.is_skipped for _, _, plan in plans)
            context |= {"plans": plans, "count": count, "form": form}
        return render(self.request, "staff/lists/action.html", context)

    def file(self) -> HttpResponse:
        """Return the list as a file, from the page on that the cursor leads to.

        Who may take no files is refused on record. Raises Http404 for an unknown format, and
        BadRequest for an invalid form.
        """
        with override("en"):  # programs read files: the same columns and values in every language
            return cast("HttpResponse", staff_required(files.EXPORT)(lambda _: self._file())(self.request))

    def _file(self) -> HttpResponse:
        kind = self.request.GET.get(FORMAT, "csv")
        if kind not in files.TYPES:
            raise Http404
        if not self.form.is_valid():
            raise BadRequest("What the list was to be narrowed to was refused.")
        start = self.key_of(self.request.GET.get(self.order.forward, ""))
        found = self.read(self.order, start, files.MOST + 1)
        is_more, found = len(found) > files.MOST, found[: files.MOST]
        further = "Further" if self.is_sorted else "Newer" if self.order.is_rising else "Older"
        items = self.items(found)
        columns = self.file_columns or self.columns
        return files.export(
            self.request,
            kind,
            name=self.name,
            label=self.label(),
            asked=[*self.about(), *((name, str(value)) for name, value in self.request.GET.items() if name != FORMAT)],
            columns=columns,
            rows=[self.values(item, columns) for item in items],
            players=self.players_in(items) | (self.players_of_subject() if kind == files.WORKBOOK else set()),
            goes_on=f"{further} rows go on {self.order.forward} {self.cursor_after(found)}." if is_more else "",
        )

    def players_in(self, items: Iterable[Any], more: Sequence[str] = ()) -> set[int]:
        """Return the ids of the players that *items* show, by the list's declaration and the paths *more*."""
        paths = (*self.players, *more)
        return {number for item in items for path in paths for value in _at(item, path) for number in _players(value)}

    def values(self, row: Any, columns: Sequence[Column] = ()) -> list[Cell]:
        """Return the cells of a row as in files."""
        return [self.cell(row, column) for column in columns or self.columns]

    def cell(self, row: Any, column: Column) -> Cell:
        """Return one cell as in files."""
        own = getattr(self, f"of_{column.name}", None)
        return cells.plain(own(row)) if own else cells.cell(row, column.name)

    def cells_of(self, row: Any, columns: Sequence[Column] = ()) -> list[cells.Shown]:
        """Return the cells of a row as on the screen."""
        urls = self.urls_of(row)
        return [
            cells.Shown(cells.heading(column), self._html(row, column, urls), cells.style(column))
            for column in columns or self.shown_columns
        ]

    def reference(self, name: str) -> str:
        """Return a reference to what *name* names in events, staff by their names."""
        return cells.reference(name, self.request.user, self._names)

    def staff_name(self, account: str) -> str:
        """Return the name of a staff account, or *account* if it is not one."""
        return self._names.get(account, account)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return staff.called()

    def _keys(self, typed: Sequence[str]) -> list[Any]:
        """Return the valid primary keys among *typed*."""
        keys = []
        for each in typed:
            with suppress(ValidationError):
                keys.append(self.model._meta.pk.clean(each, None))
        return keys

    def _html(self, row: Any, column: Column, urls: Mapping[str, str]) -> str:
        if show := getattr(self, f"show_{column.name}", None):
            return conditional_escape(show(row))
        value = self.cell(row, column)
        if column.name in self.accounts:
            return self.reference(str(value or ""))
        currency = str(next(_at(row, self.currency))) if self.currency else ""
        return cells.html(column, value, urls.get(column.name, ""), self.request.user, currency)


class ComputedList(StaffList):
    """A list of rows that are computed, all at once. The key is of whole numbers."""

    def compute(self) -> Sequence[Any]:
        """Return all rows that the valid form asks for, in their usual order."""
        raise NotImplementedError

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Any]:
        """Return the rows after the one with the key *start*, at most *most*."""
        rows = list(self.compute())
        if order.is_rising is not self.usual_order().is_rising:
            rows.reverse()
        keys = [order.cursor(row) for row in rows]
        cursor = BETWEEN.join(map(str, start))
        return rows[keys.index(cursor) + 1 if cursor in keys else 0 :][:most]

    def key_of(self, cursor: str) -> Sequence[Any]:
        """Return the numbers of the key."""
        return [int(part) for part in cursor.split(BETWEEN)] if NUMBERS.fullmatch(cursor) else ()


def _at(item: Any, path: str) -> Iterator[Any]:
    """Yield the values at *path*, which may lead to many rows; none if a relation on the way has no row."""
    name, _, rest = path.partition(cells.PATH)
    try:
        value = getattr(item, name)
    except ObjectDoesNotExist:
        return
    for each in value.all() if isinstance(value, Manager) else [value]:
        if each is not None:
            yield from _at(each, rest) if rest else [each]


def _players(value: Any) -> Iterator[int]:
    match value:
        case int():
            yield value
        case Player():
            yield value.pk
        case str():
            yield from map(int, NAMED.findall(value))
        case bytes() | memoryview():
            yield from _players(bytes(value).decode())
        case Mapping():
            yield from _players(list(value.values()))
        case Iterable():
            for each in value:
                yield from _players(each)
