"""What a list can be narrowed to beside what is typed into its search: one thing that an index serves, and a time.

Rows that are numbered in the order of their times are found by their numbers (`audit.id_ranges`): an index of the times
would be one more for everything that happens to write to. So a time goes with everything else; two other things go
together only where a list says that an index has both.
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
    """A thing to narrow a list to: its query parameter, what staff call it, what may be chosen, and which rows that
    keeps. Where an index has them in another order than that of the list, *key* says in which. *is_few* where so few
    rows are kept, however long the list is, that they may be sorted.
    """

    name: str
    label: str
    options: Callable[[], Iterable[Option]]
    keeps: Callable[[str], Q]
    key: tuple[str, ...] = ()
    is_few: bool = False


def chosen(name: str, label: str, choices: type[Choices], *, without: Iterable[object] = ()) -> Filter:
    """Return a filter by a column that has *choices*, but for those of which nearly all rows are."""
    left_out = set(without)
    options = [(str(value), _sentence(text)) for value, text in choices.choices if value not in left_out]
    return Filter(name, label, lambda: options, lambda value: Q(**{name: value}))


class SieveForm(forms.Form):
    """What a list was asked to be narrowed to. What staff typed into its search stands beside it."""

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
        """Refuse what no index serves."""
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
        """The fields in which something is chosen."""
        return [self[each.name] for each in self._listing.filters]

    @property
    def times(self) -> list[forms.BoundField]:
        """The fields in which a time is told."""
        return [self[name] for name in (SINCE, UNTIL) if name in self.fields]

    @property
    def filters(self) -> list[Filter]:
        """What something was chosen of."""
        return [each for each in self._listing.filters if self.cleaned_data.get(each.name)]

    @property
    def key(self) -> Sequence[str]:
        """The key in whose order its rows are."""
        own = [each.key for each in self.filters if each.key] if self.is_valid() else []
        return own[0] if own else self._listing.key

    @property
    def is_used(self) -> bool:
        """Whether anything was asked."""
        return not self.is_valid() or any(self.cleaned_data.values())

    def narrowed(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of *rows* that were asked for: none where that was refused."""
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
