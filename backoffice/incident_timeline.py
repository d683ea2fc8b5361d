"""Timeline of an incident, from rows and events in order of time, with who acted."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from django.utils.translation import gettext, gettext_lazy

from audit.models import Approval, Event
from audit.staff_text import word
from games.models import Incident, IncidentNote, LetterKind
from players.models import Staff

MOST: Final = 200  # events of a round or of a table
MOST_OWN: Final = 2000  # events of all incidents at a table, which are then filtered by incident
AT_THE_ROUND: Final = {
    "coup.opened": gettext_lazy("Coup opened"),
    "bets.closed": gettext_lazy("No more bets"),
    "bets.sealed": gettext_lazy("Bets sealed in the event log"),
    "round.dealt": gettext_lazy("Cards drawn"),
    "round.settled": gettext_lazy("Round settled and paid"),
    "round.unreadable": gettext_lazy("Stored round could not be displayed"),
    "round.cancelled": gettext_lazy("Round cancelled before the deal"),
    "round.voided": gettext_lazy("Round voided: stakes returned, payouts reversed"),
    "bank.taken": gettext_lazy("Bank taken"),
    "bank.ended": gettext_lazy("Bank ended"),
}
UNPAID: Final = gettext_lazy("All stakes returned; nothing had been paid")
AT_THE_TABLE: Final = {
    "table.reopened": gettext_lazy("Table resumed after a stop"),
    "table.opened": gettext_lazy("Table opened"),
    "table.paused": gettext_lazy("Table paused"),
    "table.went_on": gettext_lazy("Table resumed after a pause"),
    "table.closed": gettext_lazy("Table closed"),
    "table.broken_up": gettext_lazy("Table broken up: all players left their seats"),
}
GOES_ON: Final = ("table.reopened", "table.opened")
OF_THE_INCIDENT: Final = {
    "incident.opened": gettext_lazy("Incident opened, state of the round saved"),
    "incident.ruled": gettext_lazy("Ruling made"),
    "incident.noted": gettext_lazy("Note"),
    "incident.written": gettext_lazy("Letter to the players ordered"),
    "incident.letter_ended": gettext_lazy("Letter to the players completed"),
    "incident.exported": gettext_lazy("Exported for the regulator"),
}
OF_THE_REQUEST: Final = {
    "approval.asked": gettext_lazy("Void of the round requested"),
    "approval.decided": gettext_lazy("Void request refused"),
    "approval.withdrawn": gettext_lazy("Void request withdrawn"),
    "approval.expired": gettext_lazy("Void request expired"),
    "approval.not_decided": gettext_lazy("Decision on the void request not recorded"),
    "approval.not_withdrawn": gettext_lazy("Void request could not be withdrawn"),
}
REFUSALS: Final = {
    "AlreadyDecided": gettext_lazy("Already decided or withdrawn."),
    "CannotExecute": gettext_lazy("The round could not be voided in the state it was in."),
    "Expired": gettext_lazy("The request had expired."),
    "NotAllowed": gettext_lazy("The role may not decide requests of this kind."),
    "NotYours": gettext_lazy("The request was made by another person."),
    "OwnRequest": gettext_lazy("The same person had made the request."),
    "Tampered": gettext_lazy("The stored request did not match the recorded one."),
}
"""Reason for which a decision or withdrawal was not recorded, by `ApprovalError`."""


@dataclass(frozen=True)
class Moment:
    """One entry of the timeline.

    *on* is the subject of the event in the event log, "" if the entry comes from a row.
    """

    at: datetime
    by: str
    what: str
    why: str = ""
    on: str = ""
    event: int | None = None
    name: str = ""  # of the staff member


def timeline(incident: Incident, asked: Sequence[Approval]) -> tuple[Moment, ...]:
    """Return the timeline of an incident, oldest first. It shows no card."""
    round_id = incident.round_id or incident.live_round_id
    found = [
        *_of_rows(incident),
        *_of_the_round(round_id),
        *_of_the_table(incident),
        *_of_the_incident(incident),
        *_of_approvals(asked),
    ]
    names = _names(found)
    named = (replace(each, name=names.get(each.by, "")) for each in found)
    return tuple(sorted(named, key=attrgetter("at")))


def events_of(incident: Incident, asked: Sequence[Approval]) -> list[Event]:
    """Return the events that the timeline is built from, oldest first."""
    round_id = incident.round_id or incident.live_round_id
    found = [
        *_round_events(round_id),
        *(event for event, _data in _table_events(incident)),
        *(event for event, _data in _own_events(incident)),
        *_approval_events(asked),
    ]
    return sorted(found, key=attrgetter("pk"))


def _round_events(round_id: UUID | None) -> Iterable[Event]:
    return Event.objects.filter(on=f"round:{round_id}").order_by("pk")[:MOST]


def _of_the_round(round_id: UUID | None) -> Iterator[Moment]:
    events = list(_round_events(round_id))
    was_paid = any(event.kind == "round.settled" for event in events)
    for event in events:
        what = AT_THE_ROUND.get(event.kind, event.kind)
        if event.kind == "round.voided" and not was_paid:
            what = UNPAID
        yield _moment_of(event, str(what), _data(event))


def _of_the_table(incident: Incident) -> Iterator[Moment]:
    for event, data in _table_events(incident):
        yield _moment_of(event, str(AT_THE_TABLE[event.kind]), data)


def _table_events(incident: Incident) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    """Yield what was done at the table from the incident until the table was resumed."""
    rows = Event.objects.filter(on=f"table:{incident.table_id}", kind__in=AT_THE_TABLE, at__gte=incident.at)
    mode = incident.live_round.live_table.mode if incident.live_round else None
    for event in rows.order_by("pk")[:MOST]:
        data = _data(event)
        if (data.get("mode") or mode) != mode:
            continue
        yield event, data
        if event.kind in GOES_ON:
            return


def _of_the_incident(incident: Incident) -> Iterator[Moment]:
    """Yield the incident's own events, with texts that are stored in rows and not in the log."""
    notes = {each.pk: each.text for each in IncidentNote.objects.filter(incident=incident)}
    for event, data in _own_events(incident):
        moment = _moment_of(event, str(OF_THE_INCIDENT[event.kind]), data)
        match event.kind:
            case "incident.noted":
                moment = replace(moment, why=notes.get(data["note"], ""))
            case "incident.written":
                moment = replace(moment, why=str(LetterKind(data["kind"]).label))
            case "incident.letter_ended":
                moment = replace(moment, why=gettext("Letters: %(count)s") % {"count": data["copies"]})
            case "incident.opened" if incident.done:
                yield moment
                why = " ".join(map(word, incident.done))
                moment = replace(moment, what=gettext("Actions taken"), why=why, by="system")
        yield moment


def _own_events(incident: Incident) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    rows = Event.objects.filter(on=f"table:{incident.table_id}", kind__in=OF_THE_INCIDENT, at__gte=incident.at)
    for event in rows.order_by("pk")[:MOST_OWN]:
        data = _data(event)
        if data.get("incident") == incident.pk:
            yield event, data


def _of_rows(incident: Incident) -> Iterator[Moment]:
    live = incident.live_round
    if live is not None:
        yield Moment(live.opened_at, "system", gettext("Betting opened"))


def _of_approvals(asked: Sequence[Approval]) -> Iterator[Moment]:
    for event in _approval_events(asked):
        data = _data(event)
        is_approved = event.kind == "approval.decided" and data.get("yes")
        what = gettext("Void request approved") if is_approved else str(OF_THE_REQUEST[event.kind])
        moment = _moment_of(event, what, data)
        yield replace(moment, why=str(REFUSALS.get(str(data["why"]), data["why"]))) if "why" in data else moment


def _approval_events(asked: Sequence[Approval]) -> Iterable[Event]:
    return Event.objects.filter(on__in=[f"approval:{each.pk}" for each in asked]).order_by("pk")


def _moment_of(event: Event, what: str, data: Mapping[str, Any]) -> Moment:
    why = str(data.get("reason") or data.get("cause") or data.get("fault") or "")
    if event.kind == "round.voided":
        why = ""  # the reason is a code; the page shows its own text
    return Moment(event.at, event.by, what, why, event.on, event.pk)


def _data(event: Event) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(bytes(event.body))["data"]
    return data


def _names(found: Iterable[Moment]) -> Mapping[str, str]:
    """Return the names of staff by their name in events."""
    called = (each.by.removeprefix("staff:") for each in found if each.by.startswith("staff:"))
    numbers = {int(number) for number in called if number.isdecimal()}
    return {str(member): member.name for member in Staff.objects.filter(pk__in=numbers)}
