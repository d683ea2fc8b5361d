"""Search, filters, period and order of a list: only what an index serves.

A search accepts exact values. Where row numbers follow the order of time, the period is translated
to a range of numbers (`audit.id_ranges`). This saves every write an index on the time, and lets a
period combine with any other filter. Two other filters combine only if the list declares an index
on both.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db.models import Choices, Q, QuerySet
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from audit import id_ranges
from audit.reports.kinds import Column
from audit.staff_text import in_sentence
from players.staff import access_log

if TYPE_CHECKING:
    from backoffice.lists.view import StaffListView

FIND: Final = "q"  # query parameters
SINCE: Final = "since"
UNTIL: Final = "until"
ORDER: Final = "order"
ANY: Final = ("", pgettext_lazy("filter", "Any"))
OLDEST: Final = "oldest"  # values of `ORDER`
NEWEST: Final = "newest"
FALLING: Final = "-"  # before the name of a column in `ORDER`: highest value first
PICKER: Final = {"type": "datetime-local", "step": "60"}
TOO_MUCH: Final = gettext_lazy(
    "Search, or use only one of these filters: {names}. This list is too long to combine them. A time can be added to "
    "any of them."
)
NOT_FOUND: Final = gettext_lazy("This list cannot be searched for “{typed}”. Search by: {finds}.")
BACKWARDS: Final = gettext_lazy("The end is before the start.")

LARGEST: Final = 2**63 - 1  # largest number that the column holds
DIGITS: Final = re.compile(r"[0-9]{1,19}")
KIND: Final = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
SUBJECT: Final = re.compile(r"[a-z_]+:[^\s]+")

Option = tuple[str, str | Promise]


@dataclass(frozen=True)
class Find:
    """One way to find rows: its label, its field, and a function that reads the search text.

    *read* returns None if the text is something else.
    """

    name: str
    field: str
    read: Callable[[str], Any]

    def condition(self, typed: str) -> Q | None:
        """Return the condition for *typed*, None if this way does not understand it."""
        value = self.read(typed)
        return None if value is None else Q(**{self.field: value})


def number(typed: str) -> int | None:
    """Return a number, None if the text is not one."""
    return int(typed) if DIGITS.fullmatch(typed) and int(typed) <= LARGEST else None


def unique_id(typed: str) -> UUID | None:
    """Return a UUID in any notation, None if the text is not one."""
    try:
        return UUID(typed)
    except ValueError:
        return None


def called(what: str) -> Callable[[str], int | None]:
    """Return a function that reads ``what:12``, as written in events."""

    def read(typed: str) -> int | None:
        before, _, after = typed.lower().partition(":")
        return number(after.strip()) if before == what else None

    return read


def kind(typed: str) -> str | None:
    """Return the kind of an event or an approval: ``round.voided``."""
    return typed if KIND.fullmatch(typed) else None


def subject(typed: str) -> str | None:
    """Return the subject of an event: ``player:12``, ``table:3``."""
    return typed if SUBJECT.fullmatch(typed) else None


@dataclass(frozen=True)
class Filter:
    """Filter of a list: its query parameter, its label, its options, and the rows it keeps.

    *key* is the order of rows in the filter's index, if it differs from that of the list. *is_few*:
    so few rows match, however long the list is, that sorting them is cheap.
    """

    name: str
    label: str
    options: Callable[[], Iterable[Option]]
    keeps: Callable[[str], Q]
    key: tuple[str, ...] = ()
    is_few: bool = False


def chosen(name: str, label: str, choices: type[Choices], *, without: Iterable[object] = ()) -> Filter:
    """Return a filter by a column with *choices*. Leave out values that nearly all rows have."""
    left_out = set(without)
    return Filter(
        name,
        label,
        lambda: [(str(value), _message(text)) for value, text in choices.choices if value not in left_out],
        lambda value: Q(**{name: value}),
    )


class ListForm(forms.Form):
    """Filter and order of a list. The order is its last field.

    *usual* names an order that is neither oldest nor newest first.
    """

    usual: ClassVar[str] = ""

    def __init__(self, asked: Mapping[str, Any], *, is_rising: bool = False) -> None:
        super().__init__(asked)
        named = {NEWEST: gettext("Newest first"), OLDEST: gettext("Oldest first")}
        usual = gettext(self.usual) if self.usual else named.pop(OLDEST if is_rising else NEWEST)
        choices = [("", usual), *named.items()]
        self.fields[ORDER] = forms.ChoiceField(label=gettext("Order"), required=False, choices=choices)
        self.order_fields([*(name for name in self.fields if name != ORDER), ORDER])

    def add_orders(self, columns: Iterable[Column]) -> None:
        """Offer to sort by each of *columns*, in both directions."""
        order = self.fields[ORDER]
        assert isinstance(order, forms.ChoiceField)  # noqa: S101  (declared above)
        added = [
            (f"{sign}{column.name}", f"{gettext(column.heading)}, {way}")
            for column in columns
            for sign, way in ((FALLING, gettext("descending")), ("", gettext("ascending")))
        ]
        order.choices = [*cast("list[Option]", order.choices), *added]

    @property
    def query(self) -> str:
        """The filter and order as a query string, without texts that may identify a person.

        It can be stored: it says nothing that must be erased with a player.
        """
        chosen = {
            name: value
            for name, field in self.fields.items()
            if (value := str(self.data.get(name, "")).strip())
            and (not isinstance(field, forms.CharField) or access_log.is_plain(name, value))
        }
        return urlencode(chosen)

    @property
    def is_used(self) -> bool:
        """True if anything was searched for or chosen."""
        return any(self.data.get(name) for name in self.fields if name != ORDER)


class FilterForm(ListForm):
    """Search, filters, period and order of a `StaffListView`."""

    def __init__(self, asked: QueryDict, listing: "type[StaffListView]") -> None:
        super().__init__(asked, is_rising=listing.is_rising)
        self._listing = listing
        if listing.finds:
            finds = ", ".join(gettext(find.name) for find in listing.finds)
            self.fields[FIND] = forms.CharField(label=gettext("Find"), required=False, help_text=finds)
        for each in listing.filters:
            choices = [ANY, *each.options()]
            self.fields[each.name] = forms.ChoiceField(label=gettext(each.label), required=False, choices=choices)
        if listing.period:
            for name, label in ((SINCE, gettext("From (UTC)")), (UNTIL, gettext("Before (UTC)"))):
                widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
                self.fields[name] = forms.DateTimeField(label=label, required=False, widget=widget)
        self.order_fields([*(name for name in self.fields if name != ORDER), ORDER])

    def clean_q(self) -> Q:
        """Return the condition of the first of the list's ways to find that understands the text."""
        typed = self.cleaned_data[FIND]
        found = [find.condition(typed) for find in self._listing.finds] if typed else [Q()]
        condition = next((each for each in found if each is not None), None)
        if condition is None:
            raise forms.ValidationError(NOT_FOUND.format(typed=typed, finds=self.fields[FIND].help_text))
        return condition

    def clean(self) -> dict[str, Any]:
        """Refuse combinations that no index serves."""
        found = self.cleaned_data
        is_searched = bool(self.data.get(FIND, "").strip())
        if len(self._filters) + is_searched > 1:
            labels = ", ".join(in_sentence(gettext(each.label)) for each in self._listing.filters)
            raise forms.ValidationError(TOO_MUCH.format(names=labels))
        since, until = found.get(SINCE), found.get(UNTIL)
        if since and until and until <= since:
            self.add_error(UNTIL, BACKWARDS)
        return found

    @property
    def key(self) -> tuple[str, ...]:
        """The order of the rows: that of the filter's index, if it has one of its own."""
        own = [each.key for each in self._filters if each.key]
        return own[0] if own else self._listing.key

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the matching *rows*, none if the form is invalid."""
        if not self.is_valid():
            return rows.none()
        rows = rows.filter(self.cleaned_data.get(FIND, Q()))
        for each in self._filters:
            rows = rows.filter(each.keeps(self.cleaned_data[each.name]))
        since, until = self.cleaned_data.get(SINCE), self.cleaned_data.get(UNTIL)
        return self._between(rows, since, until) if since or until else rows

    @property
    def _filters(self) -> Sequence[Filter]:
        return [each for each in self._listing.filters if self.cleaned_data.get(each.name)]

    def _between(self, rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
        at, first = self._listing.period, self.key[0]
        if at != first:
            among = id_ranges.keys(self._listing.model._default_manager.all(), first, at, since, until)
            rows = rows.filter(**{f"{first}__gte": among.start, f"{first}__lt": among.stop})
        if since:
            rows = rows.filter(**{f"{at}__gte": since})
        return rows.filter(**{f"{at}__lt": until}) if until else rows


def _message(text: object) -> str:
    label = str(text)
    return label[:1].upper() + label[1:]
