"""Access log: which staff member viewed which player's data, and who exported the event log.

`players.staff.access_log` records the accesses.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django import forms
from django.contrib.postgres.fields import ArrayField
from django.db.models import Func, Q, QuerySet, TextField
from django.http import HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext, pgettext, pgettext_lazy
from django.views.decorators.http import require_safe

from audit.models import Event
from audit.reports.kinds import Column, Form
from audit.verification.export import EXPORTED
from backoffice.lists import cells, files
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order, of_queryset
from backoffice.lists.staff_list import StaffList
from backoffice.navigation import FUNCTIONS, function_at
from players.access import StaffRequest, staff_required
from players.models import Part, Player, Staff
from players.staff import access_log
from players.staff.access_log import ACCESSED

SEE: Final = "audit.view_event"
LONGEST_ID: Final = 19  # digits: the column holds shorter numbers
NOT_ONE: Final = gettext_lazy("Several people have this name. Enter the number as shown in the audit log.")
NOBODY: Final = gettext_lazy("Nobody has this name. Enter a name or the number as shown in the audit log.")
MOST_SHOWN: Final = 3  # names of players in one line of the page

# Names of players in a list, for which there is an index. An access to one player has that player
# in `on`.
NAMED: Final = Func("body", function="audit_players", output_field=ArrayField(TextField()))


class NumberField(forms.CharField):
    """Number with or without its prefix in events: ``prefix:12`` or ``12``, or a name that one person has."""

    def __init__(self, prefix: str, *, label: Any, called: Callable[[str], Sequence[int]]) -> None:
        super().__init__(label=label, required=False, max_length=254)
        self._prefix = prefix
        self._called = called

    def clean(self, value: str) -> str:
        """Return the name as used in events, "" for no input."""
        typed = super().clean(value)
        number = typed.lower().removeprefix(f"{self._prefix}:")
        if not number:
            return ""
        if number.isascii() and number.isdecimal() and len(number) < LONGEST_ID:
            return f"{self._prefix}:{int(number)}"
        found = self._called(typed)
        if len(found) != 1:
            raise forms.ValidationError(NOT_ONE if found else NOBODY)
        return f"{self._prefix}:{found[0]}"


def _staff_called(typed: str) -> Sequence[int]:
    return list(Staff.objects.filter(name__icontains=typed).order_by("pk").values_list("pk", flat=True)[:2])


def _players_called(typed: str) -> Sequence[int]:
    return list(Player.objects.filter(user__email=typed.strip().lower()).values_list("pk", flat=True))


class AccessLogForm(ListForm):
    """Filter of accesses."""

    staff = NumberField("staff", label=gettext_lazy("Staff member"), called=_staff_called)
    player = NumberField("player", label=gettext_lazy("Player"), called=_players_called)
    since = forms.DateTimeField(
        label=gettext_lazy("From (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label=gettext_lazy("Before (UTC)"), required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )


DATA: Final[Mapping[str, Promise]] = {
    "a chat message and its context": gettext_lazy("Chat message"),
    "a deposit": gettext_lazy("Deposit"),
    "a journal": gettext_lazy("Journal"),
    "a report": gettext_lazy("Report"),
    "a withdrawal": gettext_lazy("Withdrawal"),
    "access_log": gettext_lazy("Access log"),
    "account": gettext_lazy("Account"),
    "account status": gettext_lazy("Account status"),
    "an account": gettext_lazy("Account"),
    "an event": gettext_lazy("Event"),
    "an incident": gettext_lazy("Incident"),
    "api tokens": gettext_lazy("API tokens"),
    "case": gettext_lazy("Case"),
    "chat": pgettext_lazy("staff menu", "Chat"),
    "chemin de fer coups": gettext_lazy("Chemin de Fer coups"),
    "complaint": pgettext_lazy("case kind", "Complaint"),
    "contacts": gettext_lazy("Contacts"),
    "data export": gettext_lazy("Data export"),
    "e-mail address": gettext_lazy("E-mail address"),
    "events": gettext_lazy("Audit log"),
    "facts": gettext_lazy("Player details"),
    "findings": gettext_lazy("Findings"),
    "identities to review": gettext_lazy("KYC submissions"),
    "identity": gettext_lazy("KYC"),
    "incident export": gettext_lazy("Incident export"),
    "letter to the players of a round": gettext_lazy("Letters to players"),
    "kyc submissions": gettext_lazy("KYC submissions"),
    "limits": gettext_lazy("Limits"),
    "marker": gettext_lazy("Marker of harm"),
    "money": gettext_lazy("Balances and payments"),
    "named on another player’s page": gettext_lazy("Named on another player’s page"),
    "national rules": pgettext_lazy("staff menu", "National rules"),
    "notes": gettext_lazy("Notes"),
    "operator message": gettext_lazy("Operator message"),
    "play": gettext_lazy("Play"),
    "player pairs": gettext_lazy("Pairs of players"),
    "player reports": gettext_lazy("Player reports"),
    "players at a table": gettext_lazy("Players at the table"),
    "possible duplicate": gettext_lazy("Possible duplicate"),
    "possible duplicates": gettext_lazy("Possible duplicates"),
    "protection": gettext_lazy("Limits and exclusions"),
    "rtp alarms": gettext_lazy("RTP alarms"),
    "search results": gettext_lazy("Search results"),
    "service": gettext_lazy("Messages"),
    "significant event": gettext_lazy("Significant event"),
    "source of funds": gettext_lazy("Source of funds"),
    "tags": gettext_lazy("Tags"),
    "the recipient": gettext_lazy("Recipient"),
    "the selected player": gettext_lazy("Selected player"),
    "timeline": gettext_lazy("Timeline"),
    "verification of a round": gettext_lazy("Verification of a round"),
    "watches": gettext_lazy("Significant events"),
    "winners and losers": gettext_lazy("Winners and losers"),
}
"""Names of what was shown, by its name in events. A list has its own name there, in small letters."""

AS_FILE: Final = re.compile(r"(.+) as (csv|xlsx|json)")
ONE_OF: Final = "one of "
DOCUMENT: Final = "document: "
PERIOD: Final = re.compile(r"play from ([0-9-]+) until ([0-9-]+)")


def data_label(what: str) -> str:
    """Return what was shown, as events name it, in the active language."""
    if found := AS_FILE.fullmatch(what):
        return gettext("%(data)s as %(form)s") % {"data": data_label(found[1]), "form": found[2].upper()}
    if found := PERIOD.fullmatch(what):
        return gettext("Play from %(since)s until %(until)s") % {"since": found[1], "until": found[2]}
    if what.startswith(DOCUMENT):
        part = dict(Part.choices).get(what.removeprefix(DOCUMENT), pgettext("document", "requested"))
        return gettext("Document: %(part)s") % {"part": part}
    return ", ".join(_part_label(part.removeprefix(ONE_OF)) for part in what.split(", "))


def _part_label(part: str) -> str:
    return str(DATA[part]) if part in DATA else gettext(capfirst(part))


@dataclass(frozen=True)
class AccessLogEntry:
    """One access: the data that was shown, the number of players, and their names where recorded."""

    id: int
    at: datetime
    kind: str
    by: str
    page: str
    of: str
    what: str
    count: int
    players: tuple[str, ...]
    address: str = ""  # path of the page, "" if it is no page any more
    about: tuple[str, ...] = ()  # what the page was about, as events name it


class AccessLog(StaffList):
    """Accesses to players' data and exports of the event log.

    For one player there are no exports: an export names no player.
    """

    model = Event
    name = gettext_noop("Access log")
    players: ClassVar[tuple[str, ...]] = ("by", "players")
    form_class = AccessLogForm
    columns: ClassVar[tuple[Column, ...]] = (
        Column("at", "When", Form.TIME),
        Column("by", "By"),
        Column("page", "Page"),
        Column("what", "Data"),
        Column("players", "Player"),
    )
    file_columns = (
        Column("id", "No.", Form.NUMBER),
        *columns[:3],
        Column("of", "Of"),
        columns[3],
        Column("count", "Players", Form.NUMBER),
        Column("players", "Name"),
    )
    accounts = ("by",)
    file_page = "staff_access_log_file"
    empty = gettext_noop("No access recorded yet.")
    unmatched = gettext_noop("No access recorded for this filter.")

    @classmethod
    def label(cls) -> str:
        """Return the list's name in events."""
        return "audit.access"

    def found(self) -> QuerySet[Event]:
        """Return the accesses that the form asks for."""
        return self._narrowed(Event.objects.filter(kind=ACCESSED))

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Event]:
        """Return accesses and exports in one order, each kind read from its index."""
        found = [self.found()]
        if not self.asked.get("player"):
            found.append(self._narrowed(Event.objects.filter(kind=EXPORTED)))
        rows = chain(*(of_queryset(each)(order, start, most) for each in found))
        return sorted(rows, key=lambda event: event.pk, reverse=not order.is_rising)[:most]

    def items(self, rows: Sequence[Event]) -> Sequence[AccessLogEntry]:
        """Return the accesses built from their events."""
        return [_entry(event) for event in rows]

    def of_players(self, entry: AccessLogEntry) -> str:
        """Return the names of the players that the event stores."""
        return " ".join(entry.players)

    def show_at(self, entry: AccessLogEntry) -> str:
        """Return the time with a link to the event."""
        query = urlencode({"kind": entry.kind, "before": entry.id + 1})
        return cells.link(f"{reverse('staff_events')}?{query}", cells.moment(entry.at))

    def show_page(self, entry: AccessLogEntry) -> str:
        """Return the menu entry that the page belongs to, and what the page was about."""
        function = function_at(entry.address, FUNCTIONS) if entry.address else None
        name = function.name if function else entry.page.removeprefix("staff_").replace("_", " ")
        about = cells.joined(*map(self.reference, entry.about), by=", ")
        return format_html('{}<br><span class="dim">{}</span>', name, about) if entry.about else str(name)

    def show_what(self, entry: AccessLogEntry) -> str:
        """Return the data in the reader's language."""
        return entry.what if entry.kind == EXPORTED else data_label(entry.what)

    def show_players(self, entry: AccessLogEntry) -> str:
        """Return the players, or their number where they are many."""
        if not entry.count:
            return cells.NOTHING
        if entry.players and len(entry.players) <= MOST_SHOWN:
            return cells.joined(*map(self.reference, entry.players), by=", ")
        names = cells.joined(*map(self.reference, entry.players), by=", ")
        said = ngettext("%(players)s player", "%(players)s players", entry.count) % {"players": entry.count}
        return format_html("<details><summary>{}</summary><p>{}</p></details>", said, names)

    def _narrowed(self, entries: QuerySet[Event]) -> QuerySet[Event]:
        asked = self.asked
        if player := asked.get("player"):
            entries = entries.alias(named=NAMED).filter(Q(on=player) | Q(named__contains=[player]))
        if asked.get("staff"):
            entries = entries.filter(by=asked["staff"])
        if asked.get("since"):
            entries = entries.filter(at__gte=asked["since"])
        return entries.filter(at__lt=asked["until"]) if asked.get("until") else entries


class AccessesTo(AccessLog):
    """Accesses to one player's data."""

    columns = AccessLog.columns[:-1]
    players = ()

    def __init__(self, request: StaffRequest, player: Player) -> None:
        """Ask for the accesses to *player*."""
        super().__init__(request)
        self.form = AccessLogForm({"player": str(player.pk)})


@staff_required(SEE)
@access_log.listed("access_log")
@require_safe
def staff_access_log(request: StaffRequest) -> HttpResponse:
    """Show a page of the access log."""
    return AccessLog(request).answer("staff/access_log.html")


@staff_required(files.EXPORT)
@staff_required(SEE)
@require_safe
def staff_access_log_file(request: StaffRequest) -> HttpResponse:
    """Export the access log, from the current page on."""
    return AccessLog(request).file()


def _entry(event: Event) -> AccessLogEntry:
    said = json.loads(bytes(event.body))["data"]
    if event.kind == EXPORTED:
        of = gettext("leaves %(first)s to %(value)s of %(size)s") % {
            "first": said["first"],
            "value": said["end"] - 1,
            "size": said["size"],
        }
        whole = (said["first"], said["end"]) == (0, said["size"])
        what = gettext("exported the whole log") if whole else gettext("exported part of the log")
        if said["personal"]:
            what = gettext("%(what)s, with personal data") % {"what": what}
        return AccessLogEntry(event.pk, event.at, event.kind, event.by, "staff_log_export", of, what, 0, ())
    players = said.get("players") or ([event.on] if event.on.startswith("player:") else [])
    of = ", ".join(f"{name} {value}" for name, value in said.get("of", {}).items())
    about = tuple(f"{name.removesuffix('_id')}:{value}" for name, value in said.get("of", {}).items())
    count = said.get("count", len(players))
    try:
        address = reverse(said["page"], kwargs=said.get("of", {}))
    except NoReverseMatch:
        address = ""
    return AccessLogEntry(
        event.pk, event.at, event.kind, event.by, said["page"], of, said["what"], count, tuple(players), address, about
    )
