"""Export of an incident for the regulator: its page, the round's verification, and events with proofs.

The proofs show that the events are in the signed log. Players and staff are named by number only.
While the round is in progress, the file contains no card: its verification and its events are left
out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string

from audit import log
from audit.models import Approval, Event
from audit.reports.requests import clock
from audit.streamed_zip import zipped
from audit.tree.proofs import NotSealed, proof_of
from backoffice.incidents.timeline import Moment, events_of, timeline
from games.incidents import Case
from games.incidents.letters import delivery
from games.incidents.participants import Concerned, concerned
from games.models import OPEN_PHASES, IncidentNote, LetterCopy
from games.verification.facts import Recall
from games.verification.service import recall

ABOUT: Final = """An incident at {operator}, as it was kept on {at}.

incident.html  All of it to be read, in any browser, without a network. It says what incident.json says.
incident.json  What was found, who was in the round and with how much, what was decided by whom, and the course of it.
round.json     The round, dealt again from its seed under the rules it was played by: what is stored beside what comes
               out. The seed stands there once it is public; its seal (SHA-256) always does.
events/        The events of the log that tell of it, as they were signed, and for each the proof that it is in the log
               (C2SP tlog-proof). The log's own export has the program that checks them.
SHA256SUMS     The hash of every other file: `sha256sum -c SHA256SUMS` holds them against it. The hash of this archive
               as a whole stands in the house's signed log, under the event incident.exported.

Amounts are whole numbers of the currency's smallest unit. Moments are UTC. Players and staff are their numbers in the
house, which tells whose they are to whoever is entitled to ask.
{left_out}"""
SUMS: Final = "SHA256SUMS"
NOT_OVER: Final = "\nThe round is not over: neither its recall nor the events of its cards are here.\n"


@dataclass(frozen=True)
class Taken:
    """The exported file, its SHA-256 in hex, and the numbers of the players in it."""

    content: bytes
    digest: str
    players: Sequence[int]


@transaction.atomic
def export(*, case: Case, requests: Sequence[Approval], by: str) -> Taken:
    """Write the export of an incident, and record who exported it in the event log."""
    people = concerned(case.round_id, case.parts)
    files = list(_files(case, requests, people))
    sums = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in files)
    content = b"".join(zipped((name, [text]) for name, text in [*files, (SUMS, sums.encode())]))
    taken = Taken(content, hashlib.sha256(content).hexdigest(), [each.player.pk for each in people])
    data: dict[str, log.Json] = {"incident": case.incident.pk, "sha256": taken.digest, "players": len(people)}
    log.record("incident.exported", by=by, on=f"table:{case.incident.table_id}", data=data)
    return taken


def _files(case: Case, requests: Sequence[Approval], people: Sequence[Concerned]) -> Iterator[tuple[str, bytes]]:
    live = case.incident.live_round
    is_over = live is None or live.phase not in OPEN_PHASES
    at = clock().isoformat()
    left_out = "" if is_over else NOT_OVER
    yield "README.txt", ABOUT.format(operator=settings.OPERATOR_NAME, at=at, left_out=left_out).encode()
    told = _described(case, requests, people) | {"taken_at": at, "operator": settings.OPERATOR_NAME}
    found = recall(case.round_id) if is_over else None
    recalled = _recalled(found) if found else None
    yield "incident.json", _json(told)
    yield "incident.html", _to_be_read(told, recalled, left_out)
    if recalled:
        yield "round.json", _json(recalled)
    for event in events_of(case.incident, requests):
        if is_over or event.on != f"round:{case.round_id}":
            yield from _proven(event)


def _to_be_read(told: Mapping[str, Any], recalled: Mapping[str, Any] | None, left_out: str) -> bytes:
    context = {"told": told, "recalled": recalled, "left_out": left_out.strip()}
    return render_to_string("staff/incident_file.html", context).encode()


def _proven(event: Event) -> Iterator[tuple[str, bytes]]:
    yield f"events/{event.pk}.json", bytes(event.body)
    try:
        yield f"events/{event.pk}.tlog-proof", proof_of(event.pk).encode()
    except NotSealed:
        return  # signed within a minute; a later export has the proof


def _described(case: Case, requests: Sequence[Approval], people: Sequence[Concerned]) -> dict[str, Any]:
    incident, ruling = case.incident, getattr(case.incident, "ruling", None)
    return {
        "incident": incident.pk,
        "kind": incident.kind,
        "what": incident.get_kind_display(),
        "state": case.state,
        "at": incident.at,
        "cause": incident.cause,
        "findings": incident.findings,
        "done": incident.done,
        "table": {"id": incident.table_id, "name": incident.table.name},
        "round": {"id": str(case.round_id), "code": case.code, "phase": case.phase, "cards": case.cards},
        "players": [_person(each) for each in people],
        "ruling": ruling
        and {
            "ruling": ruling.ruling,
            "words": ruling.get_ruling_display(),
            "by": ruling.by,
            "at": ruling.at,
            "reason": ruling.reason,
        },
        "requests": [_request(each) for each in requests],
        "letters": [_letter(each) for each in delivery.copies(case)],
        "notes": [
            {"at": each.at, "by": each.by, "text": each.text}
            for each in IncidentNote.objects.filter(incident=incident).order_by("pk")
        ],
        "course": [_moment(each) for each in timeline(incident, requests)],
    }


def _person(each: Concerned) -> Mapping[str, Any]:
    return {
        "player": str(each.player),
        "language": each.language,
        "currency": each.currency,
        "staked": each.staked,
        "paid": each.paid,
        "returned": each.returned,
        "shortfall": each.shortfall,
    }


def _request(asked: Approval) -> Mapping[str, Any]:
    decision = getattr(asked, "decision", None)
    return {
        "approval": asked.pk,
        "asked_by": asked.by,
        "asked_at": asked.at,
        "reason": asked.reason,
        "sha256": bytes(asked.sha256).hex(),
        "decision": decision
        and {"verdict": decision.verdict, "by": decision.by, "at": decision.at, "reason": decision.reason},
    }


def _letter(copy: LetterCopy) -> Mapping[str, Any]:
    return {
        "kind": copy.letter.kind,
        "what": copy.letter.get_kind_display(),
        "player": str(copy.player),
        "language": copy.language,
        "written_at": copy.letter.at,
        "by": copy.letter.by,
        "added": copy.letter.sentences.get(copy.language, ""),
        "mailed_at": copy.mail.sent_at,
    }


def _moment(each: Moment) -> Mapping[str, Any]:
    return {"at": each.at, "by": each.by, "what": each.what, "why": each.why, "event": each.event}


def _recalled(found: Recall) -> Mapping[str, Any]:
    deal = found.deal
    facts = [*deal.facts, *deal.coup, *(fact for row in deal.stakes for fact in row.facts)]
    for part in deal.parts:
        facts += [*(fact for row in part.bets for fact in row.facts), *part.facts]
    return {
        "code": found.round.code,
        "at": found.round.at,
        "obstacle": deal.obstacle,
        "differs": [fact.what for fact in found.differences],
        "facts": [{"what": fact.what, "stored": fact.stored, "recomputed": fact.again} for fact in facts],
        "journals": [{"id": each.pk, "at": each.at, "kind": each.kind} for each in found.journals],
    }


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, ensure_ascii=False, default=_plain).encode()


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
