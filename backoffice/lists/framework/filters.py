"""Filters of a list in addition to its search: one column with an index, and a period.

Where row numbers follow the order of time, the period is translated to a range of numbers
(`audit.id_ranges`). This saves every write an index on the time, and lets a period combine with any
other filter. Two other filters combine only if the list declares an index on both.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django import forms
from django.db.models import Choices, Q, QuerySet

from audit import id_ranges

if TYPE_CHECKING:
    from backoffice.lists.framework.listing import Listing

SINCE: Final = "since"  # query parameters
UNTIL: Final = "until"
ANY: Final = ("", "Any")
PICKER: Final = {"type": "datetime-local", "step": "60"}
TOO_MUCH: Final = (
    "Search, or choose one of these: {names}. No index serves two of them at once, and this list would be read to its"
    " end. A time goes with each."
)
BACKWARDS: Final = "It ends before it begins."

Option = tuple[str, str]


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
    options = [(str(value), _sentence(text)) for value, text in choices.choices if value not in left_out]
    return Filter(name, label, lambda: options, lambda value: Q(**{name: value}))


class SieveForm(forms.Form):
    """Filters chosen for a list. The search text is given separately."""

    def __init__(self, asked: dict[str, Any], listing: "Listing", typed: str) -> None:
        super().__init__(asked)
        self._listing, self._typed = listing, typed
        for each in listing.filters:
            self.fields[each.name] = forms.ChoiceField(label=each.label, required=False, choices=[ANY, *each.options()])
        if listing.period:
            for name, label in ((SINCE, "From (UTC)"), (UNTIL, "Before (UTC)")):
                widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
                self.fields[name] = forms.DateTimeField(label=label, required=False, widget=widget)

    def clean(self) -> dict[str, Any]:
        """Refuse combinations that no index serves."""
        found = super().clean() or self.cleaned_data
        names = {each.name for each in self.filters}
        if names and (len(names) + bool(self._typed) > 1) and not self._go_together(names):
            labels = ", ".join(each.label.lower() for each in self._listing.filters)
            raise forms.ValidationError(TOO_MUCH.format(names=labels))
        since, until = found.get(SINCE), found.get(UNTIL)
        if since and until and until <= since:
            self.add_error(UNTIL, BACKWARDS)
        return found

    @property
    def choices(self) -> list[forms.BoundField]:
        """The fields with choices."""
        return [self[each.name] for each in self._listing.filters]

    @property
    def times(self) -> list[forms.BoundField]:
        """The fields of the period."""
        return [self[name] for name in (SINCE, UNTIL) if name in self.fields]

    @property
    def filters(self) -> list[Filter]:
        """The filters in which something was chosen."""
        return [each for each in self._listing.filters if self.cleaned_data.get(each.name)]

    @property
    def key(self) -> Sequence[str]:
        """The fields by which the filtered rows are ordered."""
        own = [each.key for each in self.filters if each.key] if self.is_valid() else []
        return own[0] if own else self._listing.key

    @property
    def is_used(self) -> bool:
        """Whether anything was entered."""
        return not self.is_valid() or any(self.cleaned_data.values())

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return the matching *rows*, none if the form is invalid."""
        if not self.is_valid():
            return rows.none()
        for each in self.filters:
            rows = rows.filter(each.keeps(self.cleaned_data[each.name]))
        since, until = self.cleaned_data.get(SINCE), self.cleaned_data.get(UNTIL)
        return self._between(rows, since, until) if since or until else rows

    def _between(self, rows: QuerySet[Any], since: datetime | None, until: datetime | None) -> QuerySet[Any]:
        at, first = self._listing.period, self.key[0]
        if at != first:
            among = id_ranges.keys(self._listing.model._default_manager.all(), first, at, since, until)
            rows = rows.filter(**{f"{first}__gte": among.start, f"{first}__lt": among.stop})
        if since:
            rows = rows.filter(**{f"{at}__gte": since})
        return rows.filter(**{f"{at}__lt": until}) if until else rows

    def _go_together(self, names: set[str]) -> bool:
        return not self._typed and any(names <= each for each in self._listing.together)


def _sentence(text: object) -> str:
    words = str(text)
    return words[:1].upper() + words[1:]
