"""Keyset pagination: pages in the order of a key.

The cost of a page does not depend on its position. No rows are counted or skipped: the query enters
the index of the key where the page begins.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar, cast

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import F, Model, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.db.models.fields.tuple_lookups import TupleGreaterThan, TupleLessThan

Row = TypeVar("Row")

PAGE: Final = 50  # rows
BEFORE: Final = "before"  # query parameters: the page below this key, or the one above it
AFTER: Final = "after"
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


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of a page, and the cursors of the pages of older and of newer rows ("": none)."""

    rows: Sequence[Row] = ()
    older: str = ""
    newer: str = ""
    is_rising: bool = False  # oldest first
    is_first: bool = True  # no cursor led to it


@dataclass(frozen=True)
class Order:
    """Order of a list: a time or other values (if any), then a unique field, with an index over all.

    *is_rising*: oldest first.
    """

    key: Sequence[str]
    is_rising: bool = False

    def page(
        self,
        reader: "Reader[Row]",
        values: Callable[[str], Sequence[Any]],
        asked: Mapping[str, str],
        size: int = PAGE,
    ) -> Page[Row]:
        """Return the page of *size* rows that the cursors in *asked* lead to.

        *reader* reads the rows, *values* reads a cursor. An invalid cursor leads to the first page.
        """
        before, after = (values(asked.get(name, "")) for name in (BEFORE, AFTER))
        goes_up = not before if before or after else self.is_rising
        found = reader(replace(self, is_rising=goes_up), before or after, size + 1)
        is_more, found = len(found) > size, found[:size]
        shown = found if goes_up is self.is_rising else found[::-1]
        is_first = not (before or after)
        if not shown:
            return Page(is_rising=self.is_rising, is_first=is_first)
        oldest, newest = (shown[0], shown[-1]) if self.is_rising else (shown[-1], shown[0])
        has_older, has_newer = (bool(after), is_more) if goes_up else (is_more, bool(before))
        return Page(
            shown,
            self.cursor(oldest) if has_older else "",
            self.cursor(newest) if has_newer else "",
            self.is_rising,
            is_first,
        )

    @property
    def forward(self) -> str:
        """Query parameter of the cursor that leads to the next page."""
        return AFTER if self.is_rising else BEFORE

    @property
    def fields(self) -> list[str]:
        """The fields as `QuerySet.order_by` reads them."""
        return [name if self.is_rising else f"-{name}" for name in self.key]

    def cursor(self, row: Any) -> str:
        """Return the key of a row as used in URLs."""
        values = (attrgetter(name.replace(LOOKUP_SEP, "."))(row) for name in self.key)
        return BETWEEN.join(value.isoformat() if isinstance(value, datetime) else str(value) for value in values)

    def beyond(self, rows: QuerySet[Any], start: Sequence[Any]) -> QuerySet[Any]:
        """Return the *rows* beyond the key *start* (none: all).

        PostgreSQL enters an index at a row of values, but at two conditions only at the first value, of which there
        may be as many rows as the list has.
        """
        if not start:
            return rows
        is_beyond = TupleGreaterThan if self.is_rising else TupleLessThan
        return rows.filter(is_beyond(tuple(map(F, self.key)), tuple(start)))

    def values(self, model: type[Model], cursor: str) -> Sequence[Any]:
        """Return the values in a cursor, none if it is invalid."""
        parts = cursor.rsplit(BETWEEN, len(self.key) - 1)  # a text may contain the separator
        if len(parts) != len(self.key) or not all(parts) or "\0" in cursor:  # PostgreSQL stores no NUL
            return ()
        fields = [_field(model, name) for name in self.key]
        try:
            values = [field.clean(part, None) for field, part in zip(fields, parts, strict=True)]
        except ValidationError:
            return ()
        return () if any(map(_is_no_key, values)) else values


def _is_no_key(value: object) -> bool:
    match value:
        case int():
            return value < 0
        case datetime():
            return value.tzinfo is None
    return False


def _field(model: type[Model], path: str) -> Any:
    """Return the field at *path*, which may follow relations (``coup__at``)."""
    *relations, name = path.split(LOOKUP_SEP)
    for relation in relations:
        model = cast("type[Model]", model._meta.get_field(relation).related_model)
    field = model._meta.get_field(name)
    return getattr(field, "target_field", field)


Reader = Callable[[Order, Sequence[Any], int], Sequence[Row]]
"""Reads the rows beyond a key (none: from the beginning) in an order, at most so many."""


def of_queryset(rows: QuerySet[Any]) -> Reader[Any]:
    """Return the reader of a queryset."""
    return lambda order, start, most: read(order.beyond(rows, start).order_by(*order.fields)[:most])
