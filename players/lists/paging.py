"""A list in the order of its key, a page from one row on. How far down it is costs nothing: no row is counted, none is
skipped; the index of the key is entered where the page begins.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.core.exceptions import ValidationError
from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from unfold.views import ChangeList

from players.lists.files import TYPES

BEFORE: Final = "before"  # query parameters: the key of the row above, or below, which the page stands
AFTER: Final = "after"
FORMAT: Final = "as"  # query parameter: which file
BETWEEN: Final = "~"  # the parts of a key


class KeyedList(ChangeList):
    """The rows of a list that are asked for, at most a page of them, the newest first."""

    def get_filters_params(self, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what is filtered by; a new filter or search begins at the newest row."""
        for ours in (BEFORE, AFTER, FORMAT):
            self.params.pop(ours, None)
            self.filter_params.pop(ours, None)
        found: dict[str, Any] = super().get_filters_params(params)
        return found

    def get_ordering(self, request: HttpRequest, queryset: QuerySet[Any]) -> list[str]:
        """Return the key, newest first: there is no other order."""
        return [f"-{name}" for name in self.model_admin.key]

    def get_results(self, request: HttpRequest) -> None:
        """Read one page, and whether there is another one on either side."""
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
        self.result_count = self.full_result_count = len(rows)  # what is shown; how many there are nobody asks
        self.show_full_result_count = self.can_show_all = self.multi_page = False
        self.paginator = Paginator(rows, self.list_per_page)

    def from_on(self, request: HttpRequest) -> QuerySet[Any]:
        """Return everything that is asked for from the top of an older page on."""
        above = self._key(request.GET.get(BEFORE, ""))
        found: QuerySet[Any] = self.queryset.filter(self._beyond(above, "lt")) if above else self.queryset
        return found

    @property
    def newer(self) -> str:
        """The query of the page above this one, "" where there is none."""
        return self.get_query_string({AFTER: self.key_of(self.result_list[0])}) if self._goes(self.is_newer) else ""

    @property
    def older(self) -> str:
        """The query of the page below this one, "" where there is none."""
        return self.get_query_string({BEFORE: self.key_of(self.result_list[-1])}) if self._goes(self.is_older) else ""

    @property
    def files(self) -> dict[str, str]:
        """The queries of its files, which begin where the page does."""
        here = {BEFORE: self._top} if self._top else {}
        return {form: self.get_query_string({FORMAT: form} | here) for form in TYPES}

    def key_of(self, row: Model) -> str:
        """Return the key of a row as addresses have it."""
        values = (getattr(row, name) for name in self.model_admin.key)
        return BETWEEN.join(value.isoformat() if isinstance(value, datetime) else str(value) for value in values)

    def _goes(self, is_more: bool) -> bool:
        return is_more and bool(self.result_list)

    def _read(self, found: QuerySet[Any]) -> list[Any]:
        return list(found[: self.list_per_page + 1])

    def _key(self, text: str) -> Sequence[Any] | None:
        """Return the values of a key, None where *text* is none: that leads to the newest page."""
        parts = text.split(BETWEEN)
        names = self.model_admin.key
        if len(parts) != len(names) or not all(parts):
            return None
        fields = [self.model._meta.get_field(name) for name in names]
        try:
            return [field.clean(part, None) for field, part in zip(fields, parts, strict=True)]
        except ValidationError:
            return None

    def _beyond(self, key: Sequence[Any], way: str) -> Q:
        """Return what keeps the rows on one side of *key*, in a form that enters the index there."""
        (first, *names), (value, *values) = self.model_admin.key, key
        if not names:
            return Q(**{f"{first}__{way}": value})
        (name,), (tie,) = names, values
        return Q(**{f"{first}__{way}e": value}) & (Q(**{f"{first}__{way}": value}) | Q(**{f"{name}__{way}": tie}))
