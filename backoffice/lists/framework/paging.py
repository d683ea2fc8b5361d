"""Keyset pagination of a list: pages in the order of its key.

The cost of a page does not depend on its position. No rows are counted or skipped: the query enters
the index of the key where the page begins.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db import connection, transaction
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from unfold.views import ChangeList

from backoffice.lists.framework.files import TYPES
from backoffice.lists.framework.filters import SieveForm

BEFORE: Final = "before"  # query parameters: the key of the row above or below the page
AFTER: Final = "after"
FORMAT: Final = "as"  # query parameter: the format of a file
BETWEEN: Final = "~"  # separator of the parts of a key


# Rows are stored roughly in the order of their key, so PostgreSQL considers a scan of the key's
# index cheap, even if it reads all rows before it finds a match. With page costs of zero, the
# planner picks the index that reads the fewest rows, which is the filter's index.
BY_ROWS_ALONE: Final = "SELECT set_config('seq_page_cost', '0', true), set_config('random_page_cost', '0', true)"


def read(rows: QuerySet[Any]) -> list[Any]:
    """Return rows of a list, read with the index of the filter or search."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(BY_ROWS_ALONE)
        return list(rows)


class KeyedList(ChangeList):
    """One page of the rows that match, newest first."""

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the filter parameters, without cursors.

        A new filter or search begins at the newest row.
        """
        for ours in (BEFORE, AFTER, FORMAT):
            self.params.pop(ours, None)
            self.filter_params.pop(ours, None)
        found: dict[str, Any] = super().get_filters_params(params)
        return {name: value for name, value in found.items() if name not in self.sieve.fields}

    def get_queryset(self, request: HttpRequest, exclude_parameters: Any = None) -> QuerySet[Any]:
        """Return the matching rows, in order."""
        found: QuerySet[Any] = self.sieve.narrowed(super().get_queryset(request, exclude_parameters))
        self.has_active_filters = self.sieve.is_used
        return found

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """Return the key, newest first. There is no other order."""
        return [f"-{name}" for name in self.key]

    @cached_property
    def sieve(self) -> SieveForm:
        """The filters of the list."""
        return SieveForm(self.params, self.model_admin, self.query)

    @property
    def key(self) -> Sequence[str]:
        """The fields that rows are ordered by. A filter may have another order than the list."""
        return self.sieve.key

    def get_results(self, request: HttpRequest) -> None:
        """Read one page, and whether there are pages before and after it."""
        self._top = request.GET.get(BEFORE, "")
        above, below = (self._key(request.GET.get(name, "")) for name in (BEFORE, AFTER))
        if below and not above:
            rows = list(reversed(self._read(self.queryset.reverse().filter(self._beyond(below, "gt")))))
            self.is_newer, self.is_older = len(rows) > self.list_per_page, True
            rows = rows[-self.list_per_page :]
        else:
            rows = self._read(self.from_on(request))
            self.is_newer, self.is_older = above is not None, len(rows) > self.list_per_page
            rows = rows[: self.list_per_page]
        self.result_list = rows
        self.result_count = self.full_result_count = len(rows)  # number of rows shown; the total is not counted
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.paginator = Paginator(rows, self.list_per_page)

    def from_on(self, request: HttpRequest) -> QuerySet[Any]:
        """Return all matching rows from the top of an older page on."""
        above = self._key(request.GET.get(BEFORE, ""))
        found: QuerySet[Any] = self.queryset.filter(self._beyond(above, "lt")) if above else self.queryset
        return found

    @property
    def newer(self) -> str:
        """Query string of the page above this one, "" if there is none."""
        return self.get_query_string({AFTER: self.key_of(self.result_list[0])}) if self._goes(self.is_newer) else ""

    @property
    def older(self) -> str:
        """Query string of the page below this one, "" if there is none."""
        return self.get_query_string({BEFORE: self.key_of(self.result_list[-1])}) if self._goes(self.is_older) else ""

    @property
    def files(self) -> dict[str, str]:
        """Query strings of the exports, which begin where the page does."""
        here = {BEFORE: self._top} if self._top else {}
        return {form: self.get_query_string({FORMAT: form} | here) for form in TYPES}

    def key_of(self, row: Model) -> str:
        """Return the key of a row as used in URLs."""
        values = (getattr(row, name) for name in self.key)
        return BETWEEN.join(value.isoformat() if isinstance(value, datetime) else str(value) for value in values)

    def _goes(self, is_more: bool) -> bool:
        return is_more and bool(self.result_list)

    def _read(self, found: QuerySet[Any]) -> list[Any]:
        return read(found[: self.list_per_page + 1])

    def _key(self, text: str) -> Sequence[Any] | None:
        """Return the values of a key, None if *text* is not a key.

        None leads to the newest page.
        """
        parts = text.split(BETWEEN)
        names = self.key
        if len(parts) != len(names) or not all(parts):
            return None
        fields = [self.model._meta.get_field(name) for name in names]
        try:
            return [field.clean(part, None) for field, part in zip(fields, parts, strict=True)]
        except ValidationError:
            return None

    def _beyond(self, key: Sequence[Any], way: str) -> Q:
        """Return the condition for rows on one side of *key*, in a form that can use the index."""
        (first, *names), (value, *values) = self.key, key
        if not names:
            return Q(**{f"{first}__{way}": value})
        (name,), (tie,) = names, values
        return Q(**{f"{first}__{way}e": value}) & (Q(**{f"{first}__{way}": value}) | Q(**{f"{name}__{way}": tie}))
