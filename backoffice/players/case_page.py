"""The page of one case: its subject, history and actions, with a panel for each kind of case.

A case about a suspicion must not show in a player's data export, so its page is recorded in the access log as a
list is.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import approvals
from audit.models import Significant
from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.staff_list import StaffList
from backoffice.money.withdrawals import READERS as WITHDRAWAL_READERS
from backoffice.players.cases import READERS, about, kinds_of, text_of, title_of
from backoffice.players.facts import deposits_by_day, facts, may
from backoffice.players.identity import PAIR_LABELS
from backoffice.support import letters
from games.models import Round
from games.models.rounds import round_code
from players import cases, mail
from players.access import StaffRequest, staff_required
from players.identity import duplicates, requested_documents
from players.models import (
    Case,
    CaseAction,
    CaseEntry,
    CaseKind,
    CaseOutcome,
    Contact,
    ContactWay,
    Document,
    DocumentContent,
    LimitChange,
    LimitKind,
    Paper,
    PaperState,
    Period,
    Player,
    RequestedDocument,
    Submission,
    User,
)
from players.protection import harm_markers, screening
from players.staff import STAFF_ONLY, VISIBLE_TO_PLAYER, access_log
from players.support import complaints
from wallet.limits import what, written
from wallet.models import Payment, Withdrawal
from wallet.models.payments import OPEN
from wallet.money import format_money
from wallet.withdrawals.releases import facts_of

FUNDS: Final = cases.PERMISSIONS[CaseKind.FUNDS]
ROWS: Final = 100  # shown for each sighting; all are stored
MOST_LINKS: Final = 50
ACTIONS: Final = (
    CaseAction.ASSIGNED,
    CaseAction.DUE,
    CaseAction.NOTED,
    CaseAction.LINKED,
    CaseAction.HELD,
    CaseAction.CLOSED,
    CaseAction.REOPENED,
)
TIMED: Final = (CaseAction.OPENED, CaseAction.DUE, CaseAction.OVERDUE)  # their value is a deadline
MOST_OTHERS: Final = 10  # other cases and withdrawals of the player
WORDS: Final = {
    "games_round": gettext_lazy("Round"),
    "wallet_payment": gettext_lazy("Deposit"),
    "wallet_withdrawal": gettext_lazy("Withdrawal cancelled"),
    "players_limitchange": gettext_lazy("Limit requested"),
}
# Kind of an object that a case can be linked to -> its name, and its address.
LINKS: Final[Mapping[str, tuple[str | Promise, Callable[[str], str]]]] = {
    "round": (gettext_lazy("Round"), lambda number: reverse("staff_round", args=[number])),
    "deposit": (gettext_lazy("Deposit"), lambda number: reverse("staff_deposit", args=[number])),
    "withdrawal": (gettext_lazy("Withdrawal"), lambda number: reverse("staff_withdrawal", args=[number])),
    "player": (gettext_lazy("Player"), lambda number: reverse("staff_player", args=[number])),
    "table": (gettext_lazy("Table"), lambda _number: reverse("staff_tables")),
    "journal": (gettext_lazy("Journal"), lambda number: reverse("staff_ledger_journal", args=[number])),
    "conversation": (gettext_lazy("Message"), lambda number: reverse("staff_service_thread", args=[number])),
    "case": (gettext_lazy("Case"), lambda number: reverse("staff_case", args=[number])),
}


class CaseHistory(StaffList):
    """The entries of one case, oldest first. Its files are the file of the case."""

    model = CaseEntry
    name = gettext_noop("History")
    players = ("case__player_id",)
    is_rising = True
    columns = (
        Column("at", "When", Form.TIME),
        Column("action", "Action"),
        Column("by", "By"),
        Column("to", "Value"),
        Column("text", "Text"),
    )
    accounts = ("by", "to")

    def found(self) -> QuerySet[CaseEntry]:
        """Return the entries of the case."""
        return CaseEntry.objects.filter(case=self.of).select_related("case")

    def about(self) -> Sequence[tuple[str, str]]:
        """Return what the case is, for the heading of its file."""
        case: Case = self.of
        return [
            (gettext("Case"), str(case.pk)),
            (gettext("Kind"), title_of(case)),
            (gettext("Player"), str(case.player)),
            (gettext("Case owner"), case.owner.name if case.owner else "nobody"),
            (gettext("Deadline"), f"{case.due_at:%Y-%m-%d %H:%M} UTC"),
            (gettext("Payouts held"), "yes" if case.holds and not case.closed_at else "no"),
            (gettext("Closing reason"), str(case.get_outcome_display()) or "open"),
        ]

    def players_of_subject(self) -> set[int]:
        """Return the player of the case."""
        return {self.of.player_id}

    def of_to(self, entry: CaseEntry) -> str:
        """Return the value as text: a closing reason by its name."""
        if entry.action == CaseAction.CLOSED:
            return str(CaseOutcome(entry.to).label)
        if entry.action in TIMED and entry.to:
            return f"{datetime.fromisoformat(entry.to):%Y-%m-%d %H:%M}"
        return str(Paper(entry.to).label) if entry.to in Paper.values else entry.to

    def of_text(self, entry: CaseEntry) -> str:
        """Return the text."""
        return text_of(entry.case, entry.text)

    def show_to(self, entry: CaseEntry) -> str:
        """Return the value with a link to a linked object."""
        if entry.action == CaseAction.LINKED:
            return _linked(entry.to)
        return self.staff_name(self.of_to(entry)) or cells.NOTHING


class ActForm(forms.Form):
    """An action on a case."""

    action = forms.ChoiceField(choices=[(each.value, each.label) for each in ACTIONS])
    to = forms.CharField(required=False, max_length=80)
    kind = forms.ChoiceField(
        required=False, choices=[("", ""), *((name, label) for name, (label, _at) in LINKS.items())]
    )
    words = forms.CharField(required=False, max_length=cases.LONGEST)

    def clean(self) -> dict[str, Any]:
        """Put the value together: a day is its end, and an object is a kind and a number."""
        said = self.cleaned_data
        typed = str(said.get("to") or "").strip()
        if said.get("action") == CaseAction.DUE and typed:
            said["to"] = f"{typed}T23:59:59Z"
        if said.get("action") == CaseAction.LINKED:
            said["to"] = f"{said.get('kind')}:{_number(str(said.get('kind')), typed)}"
        return said


class ContactForm(forms.Form):
    """Contact with the player."""

    made_at = forms.DateTimeField(
        label=gettext_lazy("When (UTC)"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    way = forms.ChoiceField(label=gettext_lazy("Channel"), choices=[("", gettext_lazy("Choose")), *ContactWay.choices])
    said = forms.CharField(
        label=gettext_lazy("Notes on the contact, or why none was needed"),
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=VISIBLE_TO_PLAYER,
    )
    next_review = forms.DateField(
        label=gettext_lazy("Follow-up on (optional)"), required=False, widget=forms.DateInput(attrs={"type": "date"})
    )


class AskForm(forms.Form):
    """A document to ask the player for."""

    paper = forms.ChoiceField(label=gettext_lazy("Document"), choices=[("", gettext_lazy("Choose")), *Paper.choices])
    note = forms.CharField(
        label=gettext_lazy("Note, shown to the player"),
        max_length=1000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy(
            "For example the months it must cover, in the player’s language. Required if you choose “Another "
            "document”. Do not give the reason."
        ),
    )

    def clean(self) -> None:
        """Refuse another document that is not named."""
        if self.cleaned_data.get("paper") == Paper.OTHER and self.cleaned_data.get("note") == "":
            self.add_error(None, gettext("Enter a note that says which document you need."))


class ReviewForm(forms.Form):
    """Decision about a document that the player sent."""

    number = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    accepts = forms.BooleanField(required=False)
    reason = forms.CharField(required=False, max_length=1000)

    def clean(self) -> None:
        """Refuse a refusal without a reason."""
        if not self.cleaned_data.get("accepts") and self.cleaned_data.get("reason") == "":
            self.add_error(None, gettext("Enter the reason for the refusal. The player reads it."))


FUNDS_LAST: Final = timedelta(days=14)  # usual time for documents about the source of funds


class FundsForm(forms.Form):
    """Opening of a case about the source of a player's funds."""

    due = forms.DateField(
        label=gettext_lazy("Deadline"),
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        initial=lambda: datetime.now(UTC).date() + FUNDS_LAST,
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=1000, widget=forms.Textarea(attrs={"rows": 3}), help_text=STAFF_ONLY
    )


@dataclass(frozen=True)
class ShownRow:
    """Row behind a marker: name, time, amount and link ("" if the reader may not follow it)."""

    name: str
    at: datetime | None
    amount: str
    url: str


@staff_required(*READERS)
@require_safe
def staff_case(request: StaffRequest, case_id: int) -> HttpResponse:
    """Show one case, or its file."""
    return _allowed(request, case_id, _page)


@staff_required(*READERS)
@require_POST
def staff_case_act(request: StaffRequest, case_id: int) -> HttpResponse:
    """Take an action on a case."""
    return _allowed(request, case_id, _act)


@staff_required(*READERS)
@require_POST
def staff_case_contact(request: StaffRequest, case_id: int) -> HttpResponse:
    """Record a contact with the player because of a marker."""
    return _allowed(request, case_id, _record_contact)


@staff_required(FUNDS)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_funds(request: StaffRequest, player_id: int) -> HttpResponse:
    """Open a case about the source of a player's funds."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    access_log.note_list(request, [player], what="source of funds")
    form = FundsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        due = datetime.combine(form.cleaned_data["due"], datetime.max.time().replace(microsecond=0), UTC)
        try:
            number = cases.ask_source_of_funds(
                player=player, due_at=due, reason=form.cleaned_data["reason"], by=request.staff
            )
        except cases.CaseError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, (gettext("Case %(number)s is open.") % {"number": number}))
            return redirect("staff_case", number)
    return render(request, "staff/case_funds.html", {"subject": player, "form": form})


@staff_required(FUNDS)
@require_POST
def staff_case_document(request: StaffRequest, case_id: int) -> HttpResponse:
    """Ask the player of a case for a document, or accept or refuse one."""
    return _allowed(request, case_id, _document)


def _document(request: StaffRequest, case: Case) -> HttpResponse:
    is_review = "number" in request.POST
    form: forms.Form = ReviewForm(request.POST) if is_review else AskForm(request.POST)
    if not form.is_valid():
        lacks = (
            form.non_field_errors()
            or form.errors.get("reason" if is_review else "note")
            or [gettext("Choose a document and fill in the required fields.")]
        )
        messages.error(request, str(lacks[0]))
        return redirect("staff_case", case.pk)
    said = form.cleaned_data
    try:
        if is_review:
            asked = get_object_or_404(RequestedDocument.objects.select_related("case__player__user"), pk=said["number"])
            if asked.case_id != case.pk:
                raise Http404
            accepts = said["accepts"]
            requested_documents.review(asked=asked, accepts=accepts, reason=said["reason"], by=request.staff)
            done = (
                gettext("Document accepted.") if accepts else gettext("Document refused. The player has been notified.")
            )
        else:
            requested_documents.ask(case=case, paper=Paper(said["paper"]), note=said["note"], by=request.staff)
            done = gettext("Document requested. The player has been notified by e-mail.")
    except cases.CaseError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("staff_case", case.pk)


def _allowed(request: StaffRequest, case_id: int, view: Callable[[StaffRequest, Case], HttpResponse]) -> HttpResponse:
    """Call *view* with the case, for those who may see its kind; others are refused on record."""
    people = ("player__user", "player__jurisdiction", "closed_by", "owner")
    case = get_object_or_404(Case.objects.select_related(*people), pk=case_id)
    inner = staff_required(cases.PERMISSIONS[CaseKind(case.kind)])
    return inner(lambda admitted: view(admitted, case))(request)  # type: ignore[return-value]


def _act(request: StaffRequest, case: Case) -> HttpResponse:
    form = ActForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose an action and fill in the required fields."))
        return redirect("staff_case", case.pk)
    said = form.cleaned_data
    if (case.kind, said["action"]) == (CaseKind.SCREENING, CaseAction.CLOSED):
        return _ask_to_close(request, case, said["to"], said["words"])
    if (case.kind, said["action"]) == (CaseKind.COMPLAINT, CaseAction.CLOSED):
        messages.error(request, gettext("A complaint can only be decided with a verdict and reasons."))
        return redirect("staff_case", case.pk)
    try:
        if (case.kind, said["action"]) == (CaseKind.COMPLAINT, CaseAction.REOPENED):
            complaints.reopen_by_house(by=request.staff, case=case, text=said["words"])
        else:
            cases.act(
                case=case, action=CaseAction(said["action"]), by=request.staff, to=said["to"], words=said["words"]
            )
    except cases.CaseError as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, (gettext("Recorded: %(label)s.") % {"label": in_sentence(CaseAction(said["action"]).label)})
        )
    return redirect("staff_case", case.pk)


def _ask_to_close(request: StaffRequest, case: Case, outcome: str, reason: str) -> HttpResponse:
    """Ask a second person to close a match with a list."""
    try:
        screening.ask(case=case, outcome=outcome, reason=reason, by=request.staff)
    except (cases.CaseError, approvals.ApprovalError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Requested. Another person decides it under Approvals."))
    return redirect("staff_case", case.pk)


def _record_contact(request: StaffRequest, case: Case) -> HttpResponse:
    form = ContactForm(request.POST)
    if not form.is_valid() or case.kind != CaseKind.MARKER:
        return _page(request, case, form)
    said = form.cleaned_data
    try:
        harm_markers.record_contact(
            case_id=case.pk,
            made_at=said["made_at"],
            way=ContactWay(said["way"]),
            said=said["said"],
            next_review=said["next_review"],
            by=request.staff,
        )
    except cases.CaseError as error:
        form.add_error(None, str(error))
        return _page(request, case, form)
    messages.success(request, gettext("Contact recorded."))
    return redirect("staff_case", case.pk)


def show_complaint(
    request: StaffRequest, case: Case, form: letters.AnswerForm | None, decision: letters.Decision | None
) -> HttpResponse:
    """Show the case of a complaint with an answer that was not sent, or the preview of a decision."""
    return _page(request, case, data=_complaint(request, case, form, decision))


def _page(
    request: StaffRequest,
    case: Case,
    contact_form: ContactForm | None = None,
    data: Mapping[str, Any] | None = None,
) -> HttpResponse:
    history = CaseHistory(request, case)
    if history.is_file:
        return history.file()
    kind, sees_player = CaseKind(case.kind), request.user.has_perm("players.view_player")
    if kind is CaseKind.MARKER:
        access_log.note(request, case.player, what="marker, facts, contacts")
    elif kind is CaseKind.COMPLAINT:
        access_log.note(request, case.player, what=f"complaint, messages{', facts' if sees_player else ''}")
    else:
        access_log.note_list(request, [case.player], what="case")
    panel, read = PANELS[kind]
    links = CaseEntry.objects.filter(case=case, action=CaseAction.LINKED).order_by("-pk")[:MOST_LINKS]
    context = {
        "case": case,
        "title": title_of(case),
        "is_overdue": case.closed_at is None and case.due_at < datetime.now(UTC),
        "subject": case.player,  # "player" would be the player whose balance the header shows
        "facts": facts(case.player) if sees_player else None,
        "deposits": deposits_by_day(case.player) if sees_player else None,
        "panel": panel,
        "data": data or read(request, case),
        "payouts": _payouts(case) if may(request.user, WITHDRAWAL_READERS) else None,
        "links": [_linked(entry.to) for entry in links],
        "kinds": [(name, label) for name, (label, _at) in LINKS.items()],
        "others": Case.objects.filter(player=case.player, kind__in=kinds_of(request.user))
        .exclude(pk=case.pk)
        .order_by("-pk")[:MOST_OTHERS],
        "workers": [(str(user.staff), user.staff.name) for user in mail.holders(cases.PERMISSIONS[kind])],
        "outcomes": [(outcome.value, outcome.label) for outcome in cases.OUTCOMES[kind]],
        "contact_form": contact_form,
        "me": request.staff,
        "visibility": VISIBLE_TO_PLAYER if kind in cases.READ_BY_PLAYER else STAFF_ONLY,
        "is_by_hand": kind not in (CaseKind.DUPLICATE, CaseKind.COMPLAINT),  # closed with the form of all kinds
        "may_hold": kind not in cases.READ_BY_PLAYER,
        "may_decide": request.user.has_perm(complaints.DECIDE),
    }
    return history.answer("staff/case.html", context)


def _payouts(case: Case) -> list[tuple[Withdrawal, str, bool]]:
    """Return the player's open withdrawals with their amount and whether they are held."""
    found = Withdrawal.objects.filter(player=case.player, status__in=OPEN).select_related("player", "account")
    waiting = list(found.order_by("-pk")[:MOST_OTHERS])
    known = facts_of(waiting)
    return [
        (each, format_money(each.amount, each.currency, get_language() or "en"), known[each.pk].is_held)
        for each in waiting
    ]


def _marker(request: StaffRequest, case: Case) -> Mapping[str, Any]:
    return {
        "sightings": [
            (seen, list(_rows(seen.rows[-ROWS:], case.player, request.user)), max(0, len(seen.rows) - ROWS))
            for seen in case.sightings.order_by("-id")
        ],
        "contacts": Contact.objects.filter(case=case).select_related("staff").order_by("-id"),
        "form": ContactForm(initial={"made_at": datetime.now(UTC).replace(second=0, microsecond=0)}),
    }


def _aml(request: StaffRequest, case: Case) -> Mapping[str, Any]:
    found = Significant.objects.filter(pk=about(case)).first()
    return {"found": found, "headings": list(found.rows[0]) if found and found.rows else []}


def _funds(request: StaffRequest, case: Case) -> Mapping[str, Any]:
    sent = Submission.objects.filter(player=case.player).prefetch_related("document_set").order_by("-pk")
    kept = Document.objects.annotate(is_kept=Exists(DocumentContent.objects.filter(pk=OuterRef("pk"))))
    requested = list(case.requested.prefetch_related(Prefetch("documents", kept)).order_by("pk"))
    return {
        "requested": requested,
        "is_under_review": any(each.state == PaperState.RECEIVED for each in requested),
        "need_review": [outcome.label for outcome in cases.NEED_REVIEW],
        "missing": sum(each.state in requested_documents.TO_SEND for each in requested),
        "form": AskForm(),
        "submissions": sent[:MOST_OTHERS],
        "may_see": request.user.has_perm("players.review_identity"),
    }


def _screening(request: StaffRequest, case: Case) -> Mapping[str, Any]:
    entry = screening.entry_of(case)
    may_see = request.user.has_perm("players.review_identity")
    latest = Submission.objects.filter(player=case.player).exclude(family_name="").order_by("-pk").first()
    return {
        "entry": entry,
        "readings": [each for each in screening.last_readings() if each.list == entry.list],
        "asked": approvals.waiting().filter(kind=screening.KIND, on=str(case)).first(),
        "person": latest if may_see else None,
    }


def _duplicate(request: StaffRequest, case: Case) -> Mapping[str, Any]:
    first = about(case)
    pair = next(each for each in duplicates.pairs_of(case.player) if first in (each.first.pk, each.second.pk))
    access_log.note_list(request, [pair.other(case.player)], what="possible duplicate")
    return {"pair": pair, **PAIR_LABELS}


def _complaint(
    request: StaffRequest,
    case: Case,
    form: letters.AnswerForm | None = None,
    decision: letters.Decision | None = None,
) -> Mapping[str, Any]:
    conversation = complaints.conversation_of(case)
    if conversation is None:
        return {}
    return {
        **letters.thread(request, conversation, form),
        "decisions": complaints.decisions(case),
        "turn_to": complaints.turn_to(case.player),
        "decided_before": None if case.closed_at else complaints.decided_before(case, request.staff),
        "decision": decision,
    }


# Kind -> the template of its panel, and what reads its data.
PANELS: Final[Mapping[CaseKind, tuple[str, Callable[[StaffRequest, Case], Mapping[str, Any]]]]] = {
    CaseKind.MARKER: ("staff/case_panels.html#marker", _marker),
    CaseKind.AML: ("staff/case_panels.html#aml", _aml),
    CaseKind.FUNDS: ("staff/case_panels.html#funds", _funds),
    CaseKind.SCREENING: ("staff/case_panels.html#screening", _screening),
    CaseKind.DUPLICATE: ("staff/case_panels.html#duplicate", _duplicate),
    CaseKind.COMPLAINT: ("staff/case_panels.html#complaint", _complaint),
}


def _linked(subject: str) -> str:
    """Return a linked object with its address."""
    kind, _, number = subject.partition(":")
    if kind not in LINKS:
        return subject
    name, address = LINKS[kind]
    shown = round_code(UUID(number)) if kind == "round" else number
    return cells.link(address(number), f"{name} {shown}", "num breaks")


def _number(kind: str, typed: str) -> str:
    """Return the id of an object as typed; a round also by its code."""
    if kind != "round":
        return typed.lower()
    try:
        return str(UUID(typed))
    except ValueError:
        found = Round.objects.filter(code=typed.upper()).values_list("pk", flat=True).first()
        return str(found or "")


def _rows(rows: list[Mapping[str, Any]], player: Player, user: User) -> Iterator[ShownRow]:
    """Yield the rows for the page, newest first."""
    ids = {table: [row["id"] for row in rows if row["table"] == table] for table in WORDS}
    changes = LimitChange.objects.in_bulk(ids["players_limitchange"])
    payments = {str(payment.pk): payment for payment in Payment.objects.filter(pk__in=ids["wallet_payment"])}
    for row in reversed(rows):
        amount = "" if row["amount"] is None else format_money(row["amount"], player.currency, get_language() or "en")
        name, url = str(WORDS[row["table"]]), ""
        if row["table"] == "games_round":
            url = reverse("staff_round", args=[row["id"]])
        elif row["table"] == "players_limitchange":
            change = changes[row["id"]]
            name = f"{name}: {what(LimitKind(change.kind), Period(change.period))}"
            amount = (
                gettext("none") if change.amount is None else written(player, LimitKind(change.kind), change.amount)
            )
            url = reverse("staff_player_limits", args=[player.pk]) if user.has_perm("players.set_limits") else ""
        elif row["table"] == "wallet_payment":
            name = f"{name}, {payments[row['id']].state}"
        yield ShownRow(name, parse_datetime(row["at"]), amount, url)
