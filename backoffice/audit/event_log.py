"""Staff pages of the event log: its state, searches and exports.

The status page shows the tree, the checkpoints, the keys, and events not yet sealed. The other page
shows the current periods, the last deletions and requests; another person must approve a change.

The page shows personal values as hashes. The log itself knows no players, so accesses to their data
are recorded here.
"""

import base64
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain
from typing import Any, Final
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import connection
from django.db.models import BooleanField, F, Func, Q, QuerySet, TextField, Value
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from audit import approvals, retention
from audit.event_search import Wanted, query
from audit.models import Checkpoint, Event, Pending, RetainedData, Retention, VerificationRun
from audit.reports.kinds import Column, Form
from audit.sealing import alarms, checkpoint_delivery, checkpoints, sealer, witnesses
from audit.staff_text import recognised
from audit.tree import NotSealed, sealed
from audit.verification import export, house
from audit.verification.verify import Unproven
from backoffice.chat import READ
from backoffice.lists import cells
from backoffice.lists.filters import BACKWARDS, ListForm
from backoffice.lists.paging import Order, of_queryset, read
from backoffice.lists.staff_list import StaffList
from backoffice.rounds import When, id_for_code
from games.models import ChatMessage
from games.verification.search import players_called
from players.access import StaffRequest, staff_required
from players.login.current_user import actor_of
from players.models import ServiceMessage, Staff, User
from players.search import read_uuid
from players.staff import access_log
from players.support.complaints import ANSWER
from wallet.models import Payment

SHOWN: Final = 20  # checkpoints, and findings, on the page
LATEST_NEW: Final = timedelta(minutes=5)  # without another run of what is new, beat or worker is not running
LATEST_WHOLE: Final = timedelta(hours=30)


@dataclass(frozen=True)
class Signed:
    """A checkpoint as a line of the page."""

    size: int
    root: str  # in base64, as in the note
    at: datetime
    note: str

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> "Signed":
        """Return the line for a checkpoint."""
        root = base64.b64encode(bytes(checkpoint.root)).decode()
        return cls(checkpoint.size, root, checkpoint.at, checkpoint.note)


@dataclass(frozen=True)
class Refusal:
    """Refusal by the signer: since when, why, and the size of the tree it refused."""

    since: datetime
    reason: str
    size: int
    signed: int


@dataclass(frozen=True)
class VerificationLine:
    """The last verification of everything or of what is new, as a line of the page. None where there was none."""

    is_whole: bool
    run: VerificationRun | None

    @property
    def what(self) -> str:
        """The scope of the verification and its frequency, as text."""
        return gettext("Everything, once a day") if self.is_whole else gettext("New records, every minute")

    @property
    def is_late(self) -> bool:
        """True if the next run is overdue."""
        longest = LATEST_WHOLE if self.is_whole else LATEST_NEW
        return self.run is not None and self.run.began_at < timezone.now() - longest

    @property
    def progress(self) -> str:
        """Progress of a run in percent of its leaves; "" if no run is in progress."""
        if self.run is None or self.run.ended_at:
            return ""
        leaves = self.run.beyond - self.run.first
        return f"{100 * (self.run.next - self.run.first) // leaves} %" if leaves else "0 %"


@require_safe
def log_state(request: HttpRequest) -> HttpResponse:
    """Show the status of the log. The calling view checks permissions."""
    signed = [Signed.of(each) for each in checkpoints.latest(SHOWN)]
    leaves = sealer.leaves()
    waiting = Pending.objects.count()
    found = alarms.lag()
    lags_for = duration_text(timedelta(seconds=found.seconds))
    vkeys, fault = _keys()
    refusal = _refusal()
    destinations = [checkpoint_delivery.record(destination) for destination in settings.AUDIT_CHECKPOINTS_TO]
    altered = alarms.begun(alarms.ALTERED)
    open_findings = house.open_findings(SHOWN)
    access_log.note_list(
        request, access_log.players_in(*(f"{each.on} {each.text}" for each in open_findings)), what="findings"
    )
    is_unsigned = bool(refusal or fault or altered or found.is_long)
    is_unwitnessed = alarms.begun(alarms.UNWITNESSED) is not None
    context = {
        "is_signed": bool(signed) and not is_unsigned,
        "is_wrong": is_unsigned
        or is_unwitnessed
        or not destinations
        or any(destination.failures for destination in destinations),
        "signed": signed,
        "last": signed[0] if signed else None,
        "age": duration_text(timezone.now() - signed[0].at) if signed else "",
        "leaves": leaves,
        "uncovered": leaves - (signed[0].size if signed else 0),
        "waiting": waiting,
        "lag": found,
        "lags_for": lags_for,
        "uncovered_for": gettext("No signed checkpoint covers the events of the last %(time)s.") % {"time": lags_for},
        "longest_lag": settings.AUDIT_LAG_SECONDS,
        "refusal": refusal,
        "keys": vkeys,
        "fault": fault and gettext("AUDIT_KEYS cannot be read: %(fault)s") % {"fault": fault},
        "destinations": destinations,
        "altered": altered,
        "runs": [VerificationLine(is_whole, run) for is_whole, run in house.last_runs().items()],
        "findings": open_findings,
        "parts": [recognised(name) for name in house.names()],
        "witnesses": witnesses.records(),
        "quorum": settings.AUDIT_WITNESS_QUORUM,
        "witnessed": witnesses.witnessed(),
        "is_unwitnessed": is_unwitnessed,
    }
    return render(request, "audit/log.html", context)


def duration_text(time: timedelta) -> str:
    """Return a time span in words. Longer spans use larger units."""
    seconds = max(int(time.total_seconds()), 0)
    for count, length in ((_days, 86_400), (_hours, 3_600), (_minutes, 60)):
        if seconds >= 2 * length:
            return count(seconds // length)
    return f"{seconds} s"


def _days(count: int) -> str:
    return ngettext("%(count)s day", "%(count)s days", count) % {"count": count}


def _hours(count: int) -> str:
    return ngettext("%(count)s hour", "%(count)s hours", count) % {"count": count}


def _minutes(count: int) -> str:
    return ngettext("%(count)s minute", "%(count)s minutes", count) % {"count": count}


def _keys() -> tuple[str, str]:
    """Return the keys that the house trusts, one per line, and the error found in them."""
    try:
        return "\n".join(key.vkey for key in checkpoints.trusted_keys()), ""
    except Unproven as error:
        return "", str(error)


def _refusal() -> Refusal | None:
    event = alarms.begun(alarms.REFUSED)
    if event is None:
        return None
    said = json.loads(bytes(event.body))["data"]
    return Refusal(event.at, said["reason"], said["size"], said["signed"])


SEE: Final = "audit.view_event"
LONGEST: Final = 36_525  # days, a hundred years
FEW: Final = 10  # runs


class ChangeForm(forms.Form):
    """Request for another retention period."""

    what = forms.TypedChoiceField(choices=RetainedData.choices, coerce=RetainedData)
    days = forms.IntegerField(min_value=1, max_value=LONGEST)
    reason = forms.CharField(max_length=300)


@dataclass(frozen=True)
class Run:
    """One run of the deletion: rows deleted of each kind, and the kinds that failed."""

    at: datetime
    gone: tuple[tuple[str, int], ...]
    failed: tuple[str, ...]


@staff_required(SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_retention(request: StaffRequest) -> HttpResponse:
    """Show retention periods, who set them and the latest deletions.

    On POST, request another period.
    """
    if request.method == "POST":
        return _ask(request)
    rules = {rule.what: rule for rule in Retention.objects.all()}
    asked = {each.on.partition(":")[2]: each for each in approvals.waiting().filter(kind=retention.KIND)}
    context = {
        "rules": [(rules[what], what.label, asked.get(what)) for what in RetainedData],
        "runs": [_run(event) for event in Event.objects.filter(kind="retention.applied").order_by("-id")[:FEW]],
        "longest": LONGEST,
    }
    return render(request, "staff/retention.html", context)


def _ask(request: StaffRequest) -> HttpResponse:
    form = ChangeForm(request.POST)
    if not request.user.has_perm(retention.PERMISSION):
        messages.error(request, gettext("Your role cannot change retention periods."))
    elif not form.is_valid():
        messages.error(request, gettext("Enter a number of days and a reason. Both are recorded."))
    else:
        try:
            retention.ask(by=str(request.staff), person=request.staff.person, **form.cleaned_data)
        except (retention.TooShort, approvals.AskedTwice) as error:
            messages.error(request, str(error))
        else:
            messages.success(request, gettext("Change requested. A second person must approve it under Approvals."))
    return redirect("staff_retention")


def _run(event: Event) -> Run:
    said = json.loads(bytes(event.body))["data"]
    gone = tuple((str(RetainedData(what).label), count) for what, count in said["gone"].items() if count)
    return Run(event.at, gone, tuple(str(RetainedData(what).label) for what in said["failed"]))


SAID: Final = Func("body", Value("UTF8"), function="convert_from", output_field=TextField())
MOST_PEOPLE: Final = 20  # staff of one name
MOST_TEXTS: Final = 200  # by players, that a search finds

# DISTINCT reads every entry of the index. This query jumps from one kind to the next.
KINDS = """
WITH RECURSIVE found(kind) AS (
    SELECT min(kind) FROM audit_event
    UNION ALL
    SELECT (SELECT min(event.kind) FROM audit_event AS event WHERE event.kind > found.kind)
    FROM found WHERE found.kind IS NOT NULL
)
SELECT kind FROM found WHERE kind IS NOT NULL ORDER BY kind
"""


class EventsForm(ListForm):
    """Search of events. An empty field matches all."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        required=False,
        choices=lambda: [("", gettext_lazy("All")), *((kind, kind) for kind in kinds())],
        error_messages={"invalid_choice": gettext_lazy("Unknown kind of event.")},
    )
    by = forms.CharField(
        required=False,
        label=gettext_lazy("Person"),
        help_text=gettext_lazy("name of a staff member, e-mail address of a player, or staff:1"),
    )
    on = forms.CharField(
        required=False, label=gettext_lazy("Subject"), help_text=gettext_lazy("table:1, player:7 or a round code")
    )
    since = When(gettext_lazy("From (UTC)"))
    until = When(gettext_lazy("Before (UTC)"))
    text = forms.CharField(
        required=False,
        max_length=100,
        label=gettext_lazy("Text"),
        help_text=gettext_lazy("in what staff wrote, such as reasons"),
    )
    written = forms.CharField(
        required=False,
        max_length=100,
        label=gettext_lazy("Text by players"),
        help_text=gettext_lazy("in messages, complaints and chat"),
    )

    def clean(self) -> dict[str, Any]:
        """Require a range that begins before it ends."""
        asked = super().clean() or {}
        if asked.get("since") and asked.get("until") and asked["until"] <= asked["since"]:
            self.add_error("until", BACKWARDS)
        return asked


class IsOf(Func):
    """SQL expression that is true if a text matches a regular expression, for a filter."""

    template = "(%(expressions)s)"
    arg_joiner = " ~ "
    output_field = BooleanField()


class EventLog(StaffList):
    """The event log, with the canonical JSON of each event."""

    model = Event
    name = gettext_noop("Audit log")
    players = ("by", "on", "body")
    form_class = EventsForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "When", Form.TIME),
        Column("kind", "Kind"),
        Column("by", "By"),
        Column("on", "Subject"),
        Column("body", "Details"),
        Column("proof", "Proof"),
    )
    file_columns = columns[:-1]
    accounts = ("by",)
    unmatched = gettext_noop("No events match this filter.")

    def make_form(self) -> ListForm:
        """Return the form, in which only those who may read what players wrote search for it."""
        form = super().make_form()
        if not any(map(self.request.user.has_perm, (ANSWER, READ))):
            del form.fields["written"]
        return form

    def found(self) -> QuerySet[Event]:
        """Return the events of the search, by anybody."""
        asked = self.asked
        subject = asked.get("on", "")
        payment_id = read_uuid(subject, "payment") if ":" in subject else None
        exact = {name: asked[name] for name in ("kind", "on") if asked.get(name) and not (name == "on" and payment_id)}
        found = query(Wanted(exact, asked.get("since"), asked.get("until"), text=asked.get("text", "")))
        if asked.get("written"):
            found = found.filter(_about_texts(asked["written"], self.request.user))
        return _of_deposit(found, payment_id) if payment_id else found

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Event]:
        """Return events of the search. Those of several people are read from the index of each.

        Events with a word are sorted by an expression that no index serves: PostgreSQL takes any
        word for a frequent one, and would read all events by their ids until it met a rare one.
        """
        if not self.asked.get("by"):
            if not self.asked.get("text"):
                return super().read(order, start, most)
            number = F("pk") + 0
            rows = order.beyond(self.found(), start)
            return read(rows.order_by(number.asc() if order.is_rising else number.desc())[:most])
        found = (self.found().filter(by=name) for name in self.people(self.asked["by"]))
        of_people = chain(*(of_queryset(each)(order, start, most) for each in found))
        return sorted(of_people, key=lambda event: event.pk, reverse=not order.is_rising)[:most]

    def people(self, typed: str) -> Sequence[str]:
        """Return the names in events of the staff or player that *typed* names, by default *typed* itself."""
        if ":" in typed:
            return [typed]
        members = Staff.objects.filter(name__icontains=typed).order_by("pk")[:MOST_PEOPLE]
        may_see = self.request.user.has_perm("players.view_player")
        players = players_called(typed, by_address=may_see, by_name=may_see) if not typed.isdecimal() else ()
        return [*map(str, members), *(f"player:{number}" for number in players)] or [typed]

    @cached_property
    def proven(self) -> Collection[int]:
        """The events of the page that a signed checkpoint covers."""
        return sealed(event.pk for event in self.page.rows)

    def of_body(self, event: Event) -> str:
        """Return the event as it was signed."""
        return bytes(event.body).decode()

    def show_on(self, event: Event) -> str:
        """Return the subject, and the code of a round."""
        return self.reference(event.on)

    def show_body(self, event: Event) -> str:
        """Return the event, indented, in a part of the page that opens."""
        body = json.dumps(json.loads(bytes(event.body)), indent=2, ensure_ascii=False)
        return format_html("<details><summary>{}</summary><pre>{}</pre></details>", gettext("Show"), body)

    def show_proof(self, event: Event) -> str:
        """Return a link to the event with its proof, once there is one."""
        if event.pk not in self.proven:
            return gettext("not sealed yet")
        return cells.link(reverse("staff_event_proof", args=[event.pk]), gettext("Download"))


def _of_deposit(events: QuerySet[Event], payment_id: UUID) -> QuerySet[Event]:
    """Return the events about a deposit. They are about its player, and name the deposit in their data."""
    player = Payment.objects.filter(pk=payment_id).values_list("player_id", flat=True).first()
    named = Q(on=f"player:{player}", said__contains=str(payment_id))
    return events.alias(said=SAID).filter(Q(on=f"payment:{payment_id}") | named)


def kinds() -> list[str]:
    """Return all kinds of events in the log.

    The query takes one index step for each kind, whatever the number of events.
    """
    with connection.cursor() as cursor:
        cursor.execute(KINDS)
        return [kind for (kind,) in cursor.fetchall()]


def _about_texts(text: str, reader: User) -> Q:
    """Match the events about messages, complaints and chat messages in which players wrote *text*.

    The texts are not in the events. Each is searched only if *reader* may read it, and the newest
    `MOST_TEXTS` of each are found.
    """
    found = Q(pk=None)
    if reader.has_perm(ANSWER):
        said = ServiceMessage.objects.filter(staff=None, text__icontains=text).order_by("-pk")[:MOST_TEXTS]
        for player, conversation in set(said.values_list("conversation__player", "conversation")):
            of_it = rf'"conversation":{conversation}[,}}]|"subject":"conversation:{conversation}"'
            found |= Q(IsOf(SAID, Value(of_it)), on=f"player:{player}", kind__regex=r"^(service|complaint)\.")
    if reader.has_perm(READ):
        said_in_chat = ChatMessage.objects.filter(text__icontains=text).order_by("-pk")[:MOST_TEXTS]
        found |= Q(on__in=[f"chat_message:{number}" for number in said_in_chat.values_list("pk", flat=True)])
    return found


class PartForm(forms.Form):
    """Range of leaves. *end* is excluded. Without values, the form asks for all leaves."""

    first = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)
    end = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)


@staff_required("audit.view_event")
@access_log.listed("events")
@require_safe
@id_for_code("on", "round:")
def staff_events(request: StaffRequest) -> HttpResponse:
    """Show a page of the event log."""
    return EventLog(request).answer("audit/events.html")


@staff_required("audit.view_event")
@require_safe
def staff_event_proof(request: StaffRequest, event_id: int) -> HttpResponse:
    """Download one event, byte for byte, with its proof.

    Redirect to the events if no proof exists yet.
    """
    try:
        archive = export.export_event(event_id)
    except NotSealed:
        return redirect("staff_events")
    body = bytes(Event.objects.get(pk=event_id).body)
    access_log.note_list(request, access_log.players_in(body.decode()), what="an event")
    response = HttpResponse(archive, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="event-{event_id}.zip"'
    return response


@staff_required("audit.view_event")
@require_safe
def staff_log_export(request: StaffRequest) -> HttpResponseBase:
    """Download the log or a part of it, without personal values.

    Without a range it is the whole log. Redirects to the log's page if no signed tree has these
    leaves.
    """
    form = PartForm(request.GET)
    if not form.is_valid():
        return redirect("staff_log")
    try:
        chosen = export.part(form.cleaned_data["first"] or 0, form.cleaned_data["end"])
    except NotSealed:
        return redirect("staff_log")
    pieces = export.export(chosen, by=actor_of(request.user))
    response = StreamingHttpResponse(pieces, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="log-{chosen.first}-{chosen.end}.zip"'
    return response
