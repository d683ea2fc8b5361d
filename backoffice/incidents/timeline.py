"""Timeline of an incident, from rows and events in order of time, with who acted."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from audit.models import Approval, Event
from games.models import Incident, IncidentNote, LetterKind
from players.models import Staff

MOST: Final = 200  # events of a round or of a table
MOST_OWN: Final = 2000  # events of all incidents at a table, which are then filtered by incident
AT_THE_ROUND: Final = {
    "coup.opened": "The coup opened",
    "bets.closed": "No more bets",
    "round.dealt": "The cards were drawn",
    "round.settled": "The round was settled and paid",
    "round.unreadable": "A page could not show what is stored of the round",
    "round.cancelled": "The round was cancelled before its deal",
    "round.voided": "The round was annulled: stakes given back, payouts taken back",
    "bank.taken": "A bank was taken",
    "bank.ended": "A bank ended",
}
UNPAID: Final = "Every stake was given back; nothing of the round had been paid"
AT_THE_TABLE: Final = {
    "table.reopened": "The table goes on",
    "table.opened": "The table was opened",
    "table.paused": "The table was paused",
    "table.went_on": "The table went on after its pause",
    "table.closed": "The table was closed",
    "table.broken_up": "The table was broken up: every guest got up",
}
GOES_ON: Final = ("table.reopened", "table.opened")
OF_THE_INCIDENT: Final = {
    "incident.opened": "The incident was found, and its round kept as it was",
    "incident.ruled": "The incident was ruled on",
    "incident.noted": "Note",
    "incident.written": "A letter to the players was decided on",
    "incident.letter_ended": "The letter to the players was written to the last of them",
    "incident.exported": "The file for the regulator was taken out",
}
OF_THE_REQUEST: Final = {
    "approval.asked": "Asked that the round be annulled",
    "approval.decided": "The request to annul was {}",
    "approval.withdrawn": "The request to annul was withdrawn",
    "approval.expired": "The request to annul expired: nobody decided in time",
}


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
        yield _told(event, what, _data(event))


def _of_the_table(incident: Incident) -> Iterator[Moment]:
    for event, data in _table_events(incident):
        yield _told(event, AT_THE_TABLE[event.kind], data)


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
        told = _told(event, OF_THE_INCIDENT[event.kind], data)
        match event.kind:
            case "incident.noted":
                told = replace(told, why=notes.get(data["note"], ""))
            case "incident.written":
                told = replace(told, why=LetterKind(data["kind"]).label)
            case "incident.letter_ended":
                told = replace(told, why=f"{data['copies']} in all")
            case "incident.opened" if incident.done:
                yield told
                told = replace(told, what="Done at once", why=" ".join(incident.done), by="system")
        yield told


def _own_events(incident: Incident) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    rows = Event.objects.filter(on=f"table:{incident.table_id}", kind__in=OF_THE_INCIDENT, at__gte=incident.at)
    for event in rows.order_by("pk")[:MOST_OWN]:
        data = _data(event)
        if data.get("incident") == incident.pk:
            yield event, data


def _of_rows(incident: Incident) -> Iterator[Moment]:
    live = incident.live_round
    if live is not None:
        yield Moment(live.opened_at, "system", "The round opened for bets")


def _of_approvals(asked: Sequence[Approval]) -> Iterator[Moment]:
    for event in _approval_events(asked):
        data = _data(event)
        what = OF_THE_REQUEST[event.kind]
        yield _told(event, what.format("approved" if data.get("yes") else "refused"), data)


def _approval_events(asked: Sequence[Approval]) -> Iterable[Event]:
    return Event.objects.filter(on__in=[f"approval:{each.pk}" for each in asked]).order_by("pk")


def _told(event: Event, what: str, data: Mapping[str, Any]) -> Moment:
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
