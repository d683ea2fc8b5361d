"""The course of an incident: what rows and events say of it, in the order of time, with who did it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

from audit.models import Approval, Event
from games.models import Incident, IncidentLetter, IncidentNote
from players.models import Staff

MOST: Final = 200  # events of a round or of a table
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
AT_THE_TABLE: Final = {
    "incident.opened": "The incident was found, and its round kept as it was",
    "incident.ruled": "The incident was ruled on",
    "table.reopened": "The table goes on",
    "table.opened": "The table was opened",
    "table.closed": "The table was closed",
    "table.broken_up": "The table was broken up: every guest got up",
}
GOES_ON: Final = ("table.reopened", "table.opened")
OPENED, RULED = "incident.opened", "incident.ruled"


@dataclass(frozen=True)
class Moment:
    """Something that happened. *on* is the subject under which the event log has it, "" where a row alone says so."""

    at: datetime
    by: str
    what: str
    why: str = ""
    on: str = ""
    event: int | None = None
    name: str = ""  # of the member of staff


def timeline(incident: Incident, asked: Iterable[Approval]) -> tuple[Moment, ...]:
    """Return everything that is known of the course of an incident, oldest first. It tells no card."""
    round_id = incident.round_id or incident.live_round_id
    found = [
        *_of_the_round(round_id),
        *_of_the_table(incident),
        *_of_rows(incident),
        *_of_approvals(asked),
        *_of_steps(incident),
    ]
    names = _names(found)
    named = (Moment(**{**vars(each), "name": names.get(each.by, "")}) for each in found)
    return tuple(sorted(named, key=attrgetter("at")))


def events_of(incident: Incident, asked: Iterable[Approval]) -> list[Event]:
    """Return the events that the course of an incident is told from, oldest first."""
    round_id = incident.round_id or incident.live_round_id
    subjects = [f"approval:{each.pk}" for each in asked]
    others = Event.objects.filter(on__in=subjects).order_by("pk")
    found = [*_round_events(round_id), *(event for event, _data in _table_events(incident)), *others]
    return sorted(found, key=attrgetter("pk"))


def _round_events(round_id: UUID | None) -> Iterable[Event]:
    return Event.objects.filter(on=f"round:{round_id}").order_by("pk")[:MOST]


def _of_the_round(round_id: UUID | None) -> Iterator[Moment]:
    for event in _round_events(round_id):
        yield _told(event, AT_THE_ROUND.get(event.kind, event.kind), _data(event))


def _of_the_table(incident: Incident) -> Iterator[Moment]:
    for event, data in _table_events(incident):
        yield _told(event, AT_THE_TABLE[event.kind], data)


def _table_events(incident: Incident) -> Iterator[tuple[Event, Mapping[str, Any]]]:
    """Yield what was done at the table from the incident on, until it went on."""
    rows = Event.objects.filter(on=f"table:{incident.table_id}", kind__in=AT_THE_TABLE, at__gte=incident.at)
    mode = incident.live_round.live_table.mode if incident.live_round else None
    for event in rows.order_by("pk")[:MOST]:
        data = _data(event)
        is_own = data.get("incident") == incident.pk
        if (event.kind in (OPENED, RULED) and not is_own) or (data.get("mode") or mode) != mode:
            continue
        yield event, data
        if event.kind in GOES_ON:
            return


def _of_rows(incident: Incident) -> Iterator[Moment]:
    live = incident.live_round
    if live is not None:
        yield Moment(live.opened_at, "system", "The round opened for bets")
    if incident.done:
        yield Moment(incident.at, "system", "Done at once", " ".join(incident.done))


def _of_approvals(asked: Iterable[Approval]) -> Iterator[Moment]:
    for each in asked:
        on = f"approval:{each.pk}"
        yield Moment(each.at, each.by, "Asked that the round be annulled", each.reason, on)
        decision = getattr(each, "decision", None)
        if decision:
            what = f"The request to annul was {decision.get_verdict_display().lower()}"
            yield Moment(decision.at, decision.by, what, decision.reason, on)


def _of_steps(incident: Incident) -> Iterator[Moment]:
    for note in IncidentNote.objects.filter(incident=incident):
        yield Moment(note.at, note.by, "Note", note.text)
    for letter in IncidentLetter.objects.filter(incident=incident):
        yield Moment(letter.at, letter.by, f"Letter written to the players: {letter.get_kind_display()}")


def _told(event: Event, what: str, data: Mapping[str, Any]) -> Moment:
    why = str(data.get("reason") or data.get("cause") or data.get("fault") or "")
    if event.kind == "round.voided":
        why = ""  # a word for machines, which the page says in its own
    return Moment(event.at, event.by, what, why, event.on, event.pk)


def _data(event: Event) -> Mapping[str, Any]:
    data: Mapping[str, Any] = json.loads(bytes(event.body))["data"]
    return data


def _names(found: Iterable[Moment]) -> Mapping[str, str]:
    """Return the names of staff by what events call them."""
    called = (each.by.removeprefix("staff:") for each in found if each.by.startswith("staff:"))
    numbers = {int(number) for number in called if number.isdecimal()}
    return {str(member): member.name for member in Staff.objects.filter(pk__in=numbers)}
