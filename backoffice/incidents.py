"""Pages of incidents: the list, and one page each with notes, letters and export.

The export for the regulator contains the page, the round's verification, and events with proofs
that they are in the signed log. It names players and staff by number only. While the round is in
progress, the file contains no card: its verification and its events are left out.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, ngettext, override
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import log
from audit.models import Approval, Event
from audit.reports.kinds import Column, Form
from audit.reports.requests import clock
from audit.tree import NotSealed, proof_of
from audit.verification.export import zipped
from backoffice.incident_timeline import Moment, events_of, timeline
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from games import incidents
from games.incidents import Case, Concerned, concerned, letters
from games.incidents.letters import LONGEST_ADDITION, LetterError, Offer, Written
from games.models import OPEN_PHASES, Incident, IncidentKind, IncidentNote, LetterCopy, LetterKind, Phase, Table
from games.shared.malfunction import KIND, PERMISSION, evidence_of, stated
from games.verification.records import RoundVerification
from games.verification.service import verify_round
from players.access import StaffRequest, made_by_the_page, staff_required
from players.staff import access_log
from wallet.money import format_money

ABOUT: Final = """An incident at {operator}, exported on {at}.

incident.html  The whole incident for any browser, without a network. Same content as incident.json.
incident.json  Findings, players in the round with their amounts, decisions and timeline.
round.json     The round, re-dealt from its seed under its rules: stored and recomputed values. It
               contains the seal (SHA-256 of the seed), and the seed once it is public.
events/        The events of the incident as they were signed, and for each the proof that it is in the log
               (C2SP tlog-proof). The export of the log contains the program that verifies them.
SHA256SUMS     The hash of every other file: verify with `sha256sum -c SHA256SUMS`. The hash of this archive
               as a whole is in the signed log, in the event incident.exported.

Amounts are whole numbers of the currency's smallest unit. Times are UTC. Players and staff are identified by
number. The operator discloses identities to authorised parties.
{left_out}"""
SUMS: Final = "SHA256SUMS"
NOT_OVER: Final = "\nThe round is still in progress: its verification and the events of its cards are not included.\n"


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
    facts = _described(case, requests, people) | {"taken_at": at, "operator": settings.OPERATOR_NAME}
    found = verify_round(case.round_id) if is_over else None
    verified = _verification_json(found) if found else None
    yield "incident.json", _json(facts)
    yield "incident.html", _to_be_read(facts, verified, left_out)
    if verified:
        yield "round.json", _json(verified)
    for event in events_of(case.incident, requests):
        if is_over or event.on != f"round:{case.round_id}":
            yield from _proven(event)


def _to_be_read(facts: Mapping[str, Any], verified: Mapping[str, Any] | None, left_out: str) -> bytes:
    context = {"facts": facts, "verified": verified, "left_out": left_out.strip()}
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
        "letters": [_letter(each) for each in letters.copies(case)],
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


def _verification_json(found: RoundVerification) -> Mapping[str, Any]:
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


@transaction.atomic
def note(*, incident: Incident, text: str, by: str) -> IncidentNote:
    """Add a note. The text is stored with the incident and not in the log.

    Raises MalfunctionError if the text is empty.
    """
    stored = IncidentNote.objects.create(incident=incident, text=stated(text), by=by)
    log.record(
        "incident.noted", by=by, on=f"table:{incident.table_id}", data={"incident": incident.pk, "note": stored.pk}
    )
    return stored


READ: Final = "games.view_incident"
MOST_WAITING: Final = 20  # shown above the list
EXPORT: Final = "audit.export_rows"


def _tables() -> list[tuple[object, str]]:
    return [("", gettext("Any table")), *Table.objects.order_by("name").values_list("pk", "name")]


class IncidentsForm(ListForm):
    """Filter of the list."""

    state = forms.ChoiceField(
        label=gettext_lazy("State"),
        required=False,
        choices=[
            ("", gettext_lazy("All")),
            ("awaiting", gettext_lazy("Awaiting ruling")),
            ("over", gettext_lazy("Ruled or closed")),
        ],
    )
    table = forms.TypedChoiceField(
        label=gettext_lazy("Table"), required=False, coerce=int, empty_value=None, choices=_tables
    )
    kind = forms.ChoiceField(
        label=gettext_lazy("Type"), required=False, choices=[("", gettext_lazy("Any kind")), *IncidentKind.choices]
    )


class Incidents(StaffList):
    """Incidents that await no ruling, or by the filter those that do."""

    model = Incident
    name = gettext_noop("Incidents")
    players = NO_PLAYERS
    form_class = IncidentsForm
    columns = (
        Column("incident__id", "No.", Form.NUMBER),
        Column("state", "State"),
        Column("incident__table__name", "Table"),
        Column("code", "Round"),
        Column("incident__kind", "Type"),
        Column("incident__at", "When", Form.TIME),
        Column("in_all", "Players"),
    )
    links = {"incident__id": ("staff_incident", "incident_id", "incident__id")}
    empty = gettext_noop("No incidents yet.")
    unmatched = gettext_noop("No incidents match this filter.")

    @property
    def of_filter(self) -> QuerySet[Incident]:
        """The incidents of the table and kind asked for."""
        return incidents.find(table_id=self.asked.get("table"), kind=self.asked.get("kind", ""))

    def found(self) -> QuerySet[Incident]:
        """Return the incidents of the filter."""
        awaits = self.asked.get("state") == "awaiting"
        return incidents.awaiting(self.of_filter) if awaits else incidents.concluded(self.of_filter)

    def items(self, rows: Sequence[Incident]) -> Sequence[Case]:
        """Return the incidents with their rounds and amounts."""
        return incidents.cases(rows)

    def of_in_all(self, case: Case) -> str:
        """Return the players and their stakes."""
        stakes = [
            (
                gettext("%(players)s with %(staked)s")
                % {"players": sums.players, "staked": format_money(sums.staked, sums.currency, get_language() or "en")}
            )
            for sums in case.in_all
        ]
        return "; ".join(stakes) or (gettext("none") if case.is_over else gettext("in progress"))

    def show_incident__id(self, case: Case) -> str:
        """Return the number with a link."""
        return cells.link(
            self.urls_of(case)["incident__id"], gettext("Incident %(incident)s") % {"incident": case.incident.pk}, "num"
        )

    def show_state(self, case: Case) -> str:
        """Return the state, marked if a ruling is awaited."""
        return cells.badge(case.state, "brass") if case.awaits_ruling else case.state


class AwaitingIncidents(Incidents):
    """Incidents that await a ruling, longest waiting first."""

    is_rising = True

    def found(self) -> QuerySet[Incident]:
        """Return those of the filter."""
        return incidents.awaiting(self.of_filter)


class NoteForm(forms.Form):
    """Note of staff."""

    text = forms.CharField(max_length=1000)


@staff_required(READ)
@access_log.listed("incidents")
@require_safe
def staff_incidents(request: StaffRequest) -> HttpResponse:
    """List incidents: those that await a ruling, then the rest."""
    listed = Incidents(request)
    is_whole = not listed.is_file and listed.page.is_first and not listed.asked.get("state")
    waiting = AwaitingIncidents(request).first(MOST_WAITING) if is_whole else None
    return listed.answer("staff/incidents.html", {"waiting": waiting})


@staff_required(READ)
@access_log.listed("an incident")
@require_safe
def staff_incident(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Show everything about one incident."""
    case = case_or_404(incident_id)
    requests = approvals_of(case)
    facts = {
        "requests": requests,
        "people": concerned(case.round_id, case.parts),
        "timeline": timeline(case.incident, requests),
        "notes": IncidentNote.objects.filter(incident=case.incident).order_by("pk"),
        "evidence": _evidence(case) if request.user.has_perm(PERMISSION) else (),
    }
    access_log.shown(request, facts, *(player for player, _ in case.refunds))
    context = {
        "case": case,
        **facts,
        **letters.on_page(case),
    }
    return render(request, "staff/incident.html", context)


@staff_required(READ)
@require_POST
def staff_incident_note(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Add a note to an incident."""
    case = case_or_404(incident_id)
    form = NoteForm(request.POST)
    if form.is_valid():
        note(incident=case.incident, text=form.cleaned_data["text"], by=str(request.staff))
        messages.success(request, gettext("Note saved."))
    else:
        messages.error(request, gettext("Enter a note of at most 1000 characters."))
    return redirect("staff_incident", incident_id)


@staff_required(EXPORT)
@staff_required(READ)
@require_safe
def staff_incident_export(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Export an incident as a file for the regulator, in English whatever the language of staff.

    Its hash is recorded in the event log.
    """
    with override("en"):
        case = case_or_404(incident_id)
        taken = export(case=case, requests=approvals_of(case), by=str(request.staff))
    access_log.note_list(request, taken.players, what="incident export")
    answer = HttpResponse(taken.content, content_type="application/zip")
    answer["Content-Disposition"] = f'attachment; filename="incident-{incident_id}-{taken.digest[:12]}.zip"'
    return answer


def _evidence(case: Case) -> Sequence[tuple[str, str]]:
    """Return whether seed and rules confirm the round, for the staff who rule on it.

    Returns nothing for a voided round.
    """
    live = case.incident.live_round
    if live is None or not case.awaits_ruling or case.is_void:
        return ()
    if live.phase not in (Phase.DEALT, Phase.SETTLED):
        return [(gettext("Seed reproduces it"), gettext("no cards drawn yet, nothing to recompute"))]
    return evidence_of(live)


def case_or_404(incident_id: int) -> Case:
    """Return an incident with everything that belongs to it. Raises Http404."""
    case = incidents.case_of(incident_id) if incident_id < 2**63 else None
    if case is None:
        raise Http404
    return case


def approvals_of(case: Case) -> list[Approval]:
    """Return the requests about the incident's round with their decisions, oldest first."""
    asked = Approval.objects.filter(kind=KIND, on=f"round:{case.round_id}")
    return list(asked.select_related("decision").order_by("pk"))


SEND: Final = "send"


class LetterForm(forms.Form):
    """Choice of a letter, added sentences in each language, and the previewed player."""

    kind = forms.ChoiceField(label=gettext_lazy("Letter"))
    player = forms.IntegerField(
        label=gettext_lazy("Preview for player number"), required=False, min_value=1, max_value=2**63 - 1
    )

    def __init__(self, *args: Any, offers: Mapping[LetterKind, Offer], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["kind"].choices = [  # type: ignore[attr-defined]  # django-stubs know no choices of a plain field
            (kind.value, f"{kind.label}{' (sent)' if offer.sent else ''}") for kind, offer in offers.items()
        ]
        read = {language for offer in offers.values() for language in offer.languages}
        self.added = [language for language, _name in settings.LANGUAGES if language in read]
        for language in self.added:
            self.fields[f"added_{language}"] = forms.CharField(
                label=(gettext("Additional text, %(languages)s") % {"languages": dict(settings.LANGUAGES)[language]}),
                required=False,
                max_length=LONGEST_ADDITION,
                widget=forms.Textarea({"rows": 2, "lang": language}),
            )

    @property
    def sentences(self) -> dict[str, str]:
        """Sentences that staff add, by language."""
        return {language: self.cleaned_data.get(f"added_{language}", "") for language in self.added}


@staff_required(PERMISSION)
@staff_required(READ)
@access_log.listed("letter to the players of a round")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_incident_letter(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Choose, preview and send a letter."""
    case = case_or_404(incident_id)
    offers = letters.offers(case)
    if request.method != "POST":
        return _page(request, case, offers, LetterForm(offers=offers))
    form = LetterForm(request.POST, offers=offers)
    if not form.is_valid():
        return _page(request, case, offers, form)
    kind = LetterKind(form.cleaned_data["kind"])
    try:
        if request.POST.get("action") != SEND:
            shown = letters.preview(case, offers[kind], form.sentences, form.cleaned_data["player"])
            return _page(request, case, offers, form, offers[kind], shown)
        if "sure" not in request.POST:
            raise LetterError(gettext("Tick the confirmation. A sent letter cannot be recalled."))
        letters.send(case=case, kind=kind, sentences=form.sentences, staff=request.staff)
    except LetterError as error:
        messages.error(request, str(error))
        return _page(request, case, offers, form)
    count = len(offers[kind].people)
    messages.success(
        request,
        (
            ngettext(
                "The letter is being sent to %(count)s player. The progress is shown on this page.",
                "The letter is being sent to %(count)s players. The progress is shown on this page.",
                count,
            )
            % {"count": count}
        ),
    )
    return redirect("staff_incident", incident_id)


@made_by_the_page
@staff_required(READ)
@require_safe
def staff_incident_letters(request: StaffRequest, incident_id: int) -> HttpResponse:
    """Show the delivery of an incident's letters.

    The page refreshes this part while letters go out.
    """
    case = case_or_404(incident_id)
    return render(request, "staff/incident.html#letters", {"case": case, **letters.on_page(case)})


def _page(
    request: StaffRequest,
    case: Case,
    offers: Mapping[LetterKind, Offer],
    form: LetterForm,
    offer: Offer | None = None,
    shown: list[Written] | None = None,
) -> HttpResponse:
    names = dict(settings.LANGUAGES)
    access_log.shown(request, shown)
    context = {
        "case": case,
        "form": form,
        "offers": [
            (each, [(names[language], count) for language, count in each.languages.items()]) for each in offers.values()
        ],
        "offer": offer,
        "shown": [(names[each.language], each) for each in shown or ()],
    }
    return render(request, "staff/incident_letter.html", context)
