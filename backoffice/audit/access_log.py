"""Access log: which staff member viewed which player's data, and who exported the event log.

`players.staff.access_log` records the accesses.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib.postgres.fields import ArrayField
from django.db.models import Func, Q, QuerySet, TextField
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from audit.models import Event
from audit.reports.kinds import Column, Form, Row
from audit.verification.export import EXPORTED
from backoffice.lists import files
from players.access import StaffRequest, staff_required
from players.models import Player
from players.staff import access_log
from players.staff.access_log import ACCESSED

SEE: Final = "audit.view_event"
PAGE: Final = 50
LONGEST_ID: Final = 19  # digits: the column holds shorter numbers
COLUMNS: Final = (
    Column("id", "No.", Form.NUMBER),
    Column("at", "When", Form.TIME),
    Column("by", "By"),
    Column("page", "Page"),
    Column("of", "Of"),
    Column("what", "Data"),
    Column("count", "Players", Form.NUMBER),
    Column("players", "Name"),
)

# Names of players in a list, for which there is an index. An access to one player has that player
# in `on`.
NAMED: Final = Func("body", function="audit_players", output_field=ArrayField(TextField()))


class NumberField(forms.CharField):
    """Number with or without its prefix in events: ``prefix:12`` or ``12``."""

    def __init__(self, prefix: str, *, label: str) -> None:
        super().__init__(label=label, required=False, max_length=30)
        self._prefix = prefix

    def clean(self, value: str) -> str:
        """Return the name as used in events, "" for no input."""
        number = super().clean(value).lower().removeprefix(f"{self._prefix}:")
        if number and not (number.isascii() and number.isdecimal() and len(number) < LONGEST_ID):
            raise forms.ValidationError("Enter the number as shown in the audit log.")
        return f"{self._prefix}:{int(number)}" if number else ""


class AccessLogForm(forms.Form):
    """Filter of accesses. ``before`` is the number of the last event on the previous page."""

    staff = NumberField("staff", label="Staff number")
    player = NumberField("player", label="Player number")
    since = forms.DateTimeField(
        label="From (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label="Before (UTC)", required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


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


@staff_required(SEE)
@access_log.listed("access_log")
@require_safe
def staff_access_log(request: StaffRequest) -> HttpResponse:
    """Show a page of the access log, newest first."""
    form = AccessLogForm(request.GET)
    rows = read(found(form, PAGE + 1))
    shown = rows[:PAGE]
    wanted = {name: value for name, value in request.GET.items() if name != "before" and value}
    access_log.shown(request, shown)
    context = {
        "form": form,
        "entries": shown,
        "wanted": urlencode(wanted),
        "older": urlencode(wanted | {"before": shown[-1].id}) if len(rows) > PAGE else "",
    }
    return render(request, "staff/access_log.html", context)


@staff_required(files.EXPORT)
@staff_required(SEE)
@require_safe
def staff_access_log_file(request: StaffRequest) -> HttpResponse:
    """Export the filtered access log as CSV, at most `files.MOST` rows."""
    form = AccessLogForm(request.GET)
    entries = read(found(form, files.MOST + 1))
    is_more, entries = len(entries) > files.MOST, entries[: files.MOST]
    return files.export(
        request,
        "csv",
        name="Access log",
        label="audit.access",
        asked=[(name, request.GET[name]) for name in form.fields if request.GET.get(name)],
        columns=COLUMNS,
        rows=[_row(entry) for entry in entries],
        players=access_log.players_in(entries),
        goes_on=f"More rows follow before {entries[-1].id}." if is_more else "",
    )


def found(form: AccessLogForm, most: int) -> list[Event]:
    """Return the events that the form asks for, newest first, at most *most*.

    Returns none where the form is invalid. Exports of the log are included, except where the form
    asks about one player: an export names no player.
    """
    if not form.is_valid():
        return []
    asked = form.cleaned_data
    if asked["player"]:
        named = Event.objects.filter(kind=ACCESSED).alias(named=NAMED)
        about = named.filter(Q(on=asked["player"]) | Q(named__contains=[asked["player"]]))
        return list(_narrowed(about, asked)[:most])
    both = (_narrowed(Event.objects.filter(kind=kind), asked)[:most] for kind in (ACCESSED, EXPORTED))
    return sorted(chain(*both), key=lambda event: event.pk, reverse=True)[:most]


def _narrowed(entries: QuerySet[Event], asked: Mapping[str, Any]) -> QuerySet[Event]:
    if asked["staff"]:
        entries = entries.filter(by=asked["staff"])
    if asked["since"]:
        entries = entries.filter(at__gte=asked["since"])
    if asked["until"]:
        entries = entries.filter(at__lt=asked["until"])
    if asked["before"]:
        entries = entries.filter(pk__lt=asked["before"])
    return entries.order_by("-id")


def latest(player: Player, most: int) -> list[AccessLogEntry]:
    """Return the latest accesses to a player's data, newest first."""
    return read(found(AccessLogForm({"player": str(player.pk)}), most))


def read(events: Iterable[Event]) -> list[AccessLogEntry]:
    """Return accesses built from their events."""
    return [_entry(event) for event in events]


def _entry(event: Event) -> AccessLogEntry:
    said = json.loads(bytes(event.body))["data"]
    if event.kind == EXPORTED:
        of = f"leaves {said['first']} to {said['end'] - 1} of {said['size']}"
        whole = (said["first"], said["end"]) == (0, said["size"])
        what = f"took {'the whole' if whole else 'a part of the'} log{', personal values too' * said['personal']}"
        return AccessLogEntry(event.pk, event.at, event.kind, event.by, "staff_log_export", of, what, 0, ())
    players = said.get("players") or ([event.on] if event.on.startswith("player:") else [])
    of = ", ".join(f"{name} {value}" for name, value in said.get("of", {}).items())
    count = said.get("count", len(players))
    return AccessLogEntry(
        event.pk, event.at, event.kind, event.by, said["page"], of, said["what"], count, tuple(players)
    )


def _row(entry: AccessLogEntry) -> Row:
    at, names = entry.at.isoformat(), " ".join(entry.players)
    return entry.id, at, entry.by, entry.page, entry.of, entry.what, entry.count, names
