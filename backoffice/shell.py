"""Frame of every back office page: sidebar, breadcrumbs and the state of the event log.

It is in the language of the reader.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, pgettext_lazy

from audit.models import Checkpoint
from backoffice.dashboard.queues import Count, open_work
from backoffice.navigation import SECTION_NAMES, Function, function_at, functions_of
from players.models import Staff, User
from players.staff import Section

ICONS: Final = {
    Section.PEOPLE: "user",
    Section.MONEY: "wallet",
    Section.GAMES: "layout-grid",
    Section.COMPLIANCE: "shield-check",
    Section.HOUSE: "sliders",
}
PAGES: Final = {"staff_play_reports": "staff_play"}  # function of a queue that has a page of its own
# Pages of everybody, which no function is.
COMMON: Final = {
    "staff_roles": pgettext_lazy("staff page", "Roles and pages"),
    "staff_search": pgettext_lazy("staff page", "Search"),
}
# Pages that other pages are below, by URL name. The arguments of the URL are filled in.
PARENTS: Final = {
    "staff_player": pgettext_lazy("staff page", "Player %(player_id)s"),
    "staff_incident": pgettext_lazy("staff page", "Incident %(incident_id)s"),
    "staff_person": pgettext_lazy("staff page", "Staff member %(staff_id)s"),
    "staff_chat_log": pgettext_lazy("staff page", "Chat log"),
    "staff_play_reports": pgettext_lazy("staff page", "Reports from players"),
}


@dataclass(frozen=True)
class Entry:
    """A function with the open work on its page. *is_more*: counting stopped at this number."""

    function: Function
    count: int
    is_more: bool
    is_wrong: bool  # a fault, or past a deadline


@dataclass(frozen=True)
class Group:
    """A section of the sidebar. *key* names it in scripts."""

    key: str
    name: Promise
    icon: str
    entries: Sequence[Entry]

    @property
    def count(self) -> int:
        """Open work of all entries."""
        return sum(entry.count for entry in self.entries)

    @property
    def is_more(self) -> bool:
        """True if the open work exceeds `count`."""
        return any(entry.is_more for entry in self.entries)

    @property
    def is_wrong(self) -> bool:
        """True if any entry is wrong."""
        return any(entry.is_wrong for entry in self.entries)


@dataclass(frozen=True)
class Crumb:
    """A breadcrumb. The address is "" for a section, which has no page, and for the page itself."""

    name: str | Promise
    address: str = ""


@dataclass(frozen=True)
class Shell:
    """Frame of a page for one member of staff.

    *here*: the function of the page, None where the reader has none.
    """

    member: Staff
    groups: Sequence[Group]
    here: Function | None
    crumbs: Sequence[Crumb]
    checkpoint: Checkpoint | None


def shell_of(request: HttpRequest, user: User, member: Staff) -> Shell:
    """Return the frame of the page at the path of the request."""
    sections = functions_of(user)
    work = open_work(request, member)
    here = function_at(request.path, [function for _section, functions in sections for function in functions])
    return Shell(
        member=member,
        groups=[
            Group(section.name.lower(), SECTION_NAMES[section], ICONS[section], _entries(functions, work))
            for section, functions in sections
        ],
        here=here,
        crumbs=list(_crumbs(request.path, here)),
        checkpoint=Checkpoint.objects.order_by("-size").first(),
    )


def _entries(functions: Iterable[Function], work: Sequence[Count]) -> list[Entry]:
    found = []
    for function in functions:
        queues = [each for each in work if each.count and PAGES.get(each.page, each.page) == function.page]
        found.append(
            Entry(
                function,
                sum(each.count for each in queues),
                any(each.is_more for each in queues),
                any(each.is_wrong or each.is_late for each in queues),
            )
        )
    return found


def _crumbs(path: str, here: Function | None) -> Iterator[Crumb]:
    """Yield the pages above the page at *path*; the page of a function itself comes last."""
    if path == reverse("staff_home"):
        return
    yield Crumb(gettext_lazy("Back office"), reverse("staff_home"))
    if here is None:
        yield from (Crumb(name) for page, name in COMMON.items() if path == reverse(page))
        return
    if str(SECTION_NAMES[here.group]) != str(here.name):
        yield Crumb(SECTION_NAMES[here.group])
    start = reverse(here.page)
    yield Crumb(here.name, "" if path == start else start)
    above = start
    for part in path.removeprefix(start).strip("/").split("/")[:-1]:
        above += f"{part}/"
        try:
            match = resolve(above)
        except Resolver404:
            continue
        if match.url_name in PARENTS:
            yield Crumb(str(PARENTS[match.url_name]) % match.kwargs, above)
