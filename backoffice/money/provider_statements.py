"""Staff pages of provider statements, and the file of a statement's result.

It uses the report writer, so no cell starts a formula and amounts are exact.
"""

import hashlib
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.module_loading import import_string
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit import log
from audit.reports.files import whole
from audit.reports.heading import Head
from audit.reports.kinds import Column, Form, Row
from audit.reports.requests import clock
from audit.staff_text import marked
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from players.access import StaffRequest, staff_required
from players.datetime_format import Day
from players.identity.uploads import TOO_MUCH
from players.login.current_user import actor
from wallet.models import Difference, DifferenceKind, ProviderStatement, Verdict
from wallet.provider_statements import drafts
from wallet.provider_statements.comparison import TooMuchMissing, Total
from wallet.provider_statements.parser import COLUMNS, MOST_BYTES, MOST_LINES, TOO_LARGE, NotAStatement

BATCH = 2000
# Kinds and statuses of lines and payments, as `word` translates them.
WORDS: Final = (
    marked("report", "payout"),
    marked("report", "refund"),
    marked("report", "chargeback"),
    marked("report", "settled"),
    marked("report", "pending"),
    marked("report", "failed"),
    marked("report", "held"),
    marked("report", "paid"),
)
EXPORTED = (
    Column("line", "Line", Form.NUMBER),
    Column("came_to", "Result"),
    Column("differences", "Differences"),
    Column("kind", "Kind"),
    Column("about", "Subject"),
    Column("reference", "Reference"),
    Column("authorisation", "Authorisation number"),
    Column("date", "Date"),
    Column("status", "Status"),
    Column("currency", "Currency"),
    Column("amount", "Provider amount", Form.MONEY),
    Column("known", "Our amount", Form.MONEY),
    Column("known_currency", "Our currency"),
    Column("state", "Our status"),
    Column("settled", "Settled"),
    Column("text", "Notes"),
)


def written(statement: ProviderStatement, name: str) -> bytes:
    """Return the result of a statement as a file. *name* is csv or xlsx."""
    return whole(name, _head(statement), _rows(statement))


def _head(statement: ProviderStatement) -> Head:
    lines = (
        ("Operator", settings.OPERATOR_NAME),
        ("Statement", str(statement.pk)),
        ("Provider", statement.provider),
        ("From", statement.since.isoformat()),
        ("To (inclusive)", statement.until.isoformat()),
        ("Confirmed by", statement.by),
        ("Confirmed at", statement.at.isoformat()),
        ("File, SHA-256", bytes(statement.digest).hex()),
    )
    totals = [_total(Total(**total)) for total in statement.totals]
    return Head(lines, "UTC", EXPORTED, totals, ("Days are UTC. Totals count settled lines only, each line once.",))


def _total(total: Total) -> Row:
    text = f"{total.said_count} at the provider, {total.known_count} in our records"
    blank = ("",) * 3
    return (
        None,
        text,
        "",
        total.kind,
        *blank,
        "",
        "",
        total.currency,
        total.said,
        total.known,
        total.currency,
        "",
        "",
        "",
    )


def _rows(statement: ProviderStatement) -> Iterator[Row]:
    of_lines = Prefetch("differences", Difference.objects.order_by("pk").prefetch_related("steps"))
    for line in statement.lines.order_by("number").prefetch_related(of_lines).iterator(BATCH):
        found = list(line.differences.all())
        known: dict[str, Any] = next((each.known for each in found if each.known), {})
        yield (
            line.number,
            line.get_verdict_display(),
            ", ".join(each.get_kind_display() for each in found),
            line.kind,
            line.subject,
            line.reference,
            line.authorisation,
            line.day.isoformat(),
            line.status,
            line.currency,
            line.amount,
            known.get("amount"),
            known.get("currency", ""),
            known.get("state", ""),
            *_steps(found),
        )
    lacking = statement.differences.filter(kind=DifferenceKind.MISSING).order_by("pk").prefetch_related("steps")
    for each in lacking.iterator(BATCH):
        blank = ("",) * 5
        said = (None, "", each.get_kind_display(), "", each.subject, *blank)
        known = each.known
        yield (*said[:9], known["currency"], None, known["amount"], known["currency"], known["state"], *_steps([each]))


def _steps(found: list[Difference]) -> tuple[str, str]:
    """Return whether all differences are settled, and the notes."""
    settled = all(any(step.settles for step in each.steps.all()) for each in found)
    labels = [
        f"{step.by}: {step.text}" for each in found for step in sorted(each.steps.all(), key=lambda step: step.pk)
    ]
    return ("yes" if settled else "no") if found else "", " / ".join(labels)


RECONCILE = "wallet.reconcile"
READERS = (RECONCILE, "wallet.see_statements")
SHOWN = 50  # lines of a preview
MOST_DAYS = 92
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}


class UploadForm(forms.Form):
    """File of a statement, its provider and its days."""

    provider = forms.ChoiceField(label=gettext_lazy("Provider"), choices=lambda: [(name, name) for name in providers()])
    since = Day(gettext_lazy("First day (UTC)"), required=True)
    until = Day(gettext_lazy("Last day (UTC)"), required=True)
    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
        error_messages={"required": gettext_lazy("Choose a file."), "empty": gettext_lazy("The file is empty.")},
    )

    def clean(self) -> dict[str, Any]:
        """Validate the days and the size of the file."""
        given: dict[str, Any] = self.cleaned_data
        since, until, file = given.get("since"), given.get("until"), given.get("file")
        if since and until and not timedelta(0) <= until - since < timedelta(days=MOST_DAYS):
            self.add_error(
                "until",
                (
                    gettext("The last day must not be before the first day or more than %(most_days)s days after it.")
                    % {"most_days": MOST_DAYS}
                ),
            )
        if file and file.size > MOST_BYTES:
            self.add_error("file", TOO_LARGE)
        return given


class DifferencesForm(ListForm):
    """Filter of a statement's differences."""

    kind = forms.ChoiceField(
        label=gettext_lazy("Kind"), required=False, choices=[("", gettext_lazy("any")), *DifferenceKind.choices]
    )
    settled = forms.BooleanField(required=False, label=gettext_lazy("Include settled"))


class StatementsForm(ListForm):
    """Filter of confirmed statements."""

    open = forms.BooleanField(required=False, label=gettext_lazy("With open differences only"))


class Statements(StaffList):
    """Confirmed statements."""

    model = ProviderStatement
    name = gettext_noop("Confirmed statements")
    players = NO_PLAYERS
    form_class = StatementsForm
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("provider", "Provider"),
        Column("since", "From"),
        Column("until", "To"),
        Column("at", "Confirmed", Form.TIME),
        Column("by", "By"),
        Column("still_open", "Open differences", Form.NUMBER),
    )
    accounts = ("by",)
    links = {"id": ("staff_statement", "statement_id", "pk")}
    empty = gettext_noop("No confirmed statements yet.")
    unmatched = gettext_noop("No open differences.")

    def found(self) -> QuerySet[ProviderStatement]:
        """Return the statements of the filter."""
        return drafts.with_open_differences() if self.asked.get("open") else ProviderStatement.objects.all()

    def of_still_open(self, statement: ProviderStatement) -> int:
        """Return the number of open differences."""
        return drafts.still_open(statement)

    def show_still_open(self, statement: ProviderStatement) -> str:
        """Return the number of open differences in words."""
        count = drafts.still_open(statement)
        return (
            cells.badge((gettext("%(count)s open") % {"count": count}), "off")
            if count
            else cells.badge(gettext("none open"), "on")
        )


class Differences(StaffList):
    """Differences of one statement, oldest first."""

    model = Difference
    name = gettext_noop("Differences")
    players = NO_PLAYERS
    form_class = DifferencesForm
    is_rising = True
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("kind", "Difference"),
        Column("line__number", "Line", Form.NUMBER),
        Column("subject", "About"),
        Column("line__amount", "Provider, amount", Form.MONEY),
        Column("line__currency", "Provider, currency"),
        Column("known_amount", "Our amount", Form.MONEY),
        Column("known_currency", "Our currency"),
        Column("settled", "Settled"),
        Column("notes", "Notes"),
    )
    empty = gettext_noop("No open differences.")
    unmatched = gettext_noop("No differences match this search.")

    def found(self) -> QuerySet[Difference]:
        """Return the differences of the filter."""
        return drafts.differences(self.of, open_only=not self.asked.get("settled"), kind=self.asked.get("kind", ""))

    def of_known_amount(self, difference: Difference) -> int | None:
        """Return the amount that the house knew."""
        known: int | None = difference.known.get("amount")
        return known

    def of_known_currency(self, difference: Difference) -> str:
        """Return the currency that the house knew."""
        return str(difference.known.get("currency", ""))

    def of_settled(self, difference: Difference) -> str:
        """Return whether a note settled the difference."""
        return _steps([difference])[0]

    def of_notes(self, difference: Difference) -> str:
        """Return the notes."""
        return _steps([difference])[1]


class StepForm(forms.Form):
    """Note about a difference, and whether it settles the difference."""

    text = forms.CharField(max_length=1000)
    settles = forms.BooleanField(required=False)


def providers() -> list[str]:
    """Return the names of deposit and payout providers, as the house's own lines name them."""
    names = dict.fromkeys(settings.PAYMENT_VARIANTS)
    if settings.PAYOUT_PROVIDER:
        names |= {import_string(settings.PAYOUT_PROVIDER).name: None}
    return list(names)


@staff_required(*READERS)
@require_safe
def staff_statements(request: StaffRequest) -> HttpResponse:
    """List confirmed statements, newest first, with the upload form."""
    if TOO_MUCH in request.GET:
        messages.error(request, TOO_LARGE)
    yesterday = clock().date() - timedelta(days=1)
    return _list(request, UploadForm(initial={"since": yesterday, "until": yesterday}))


@staff_required(RECONCILE)
@require_POST
def staff_statement_upload(request: StaffRequest) -> HttpResponse:
    """Read a file, and redirect to its preview."""
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid() and (draft_id := _upload(request, form)) is not None:
        return redirect("staff_statement_draft", draft_id)
    return _list(request, form)


def _list(request: StaffRequest, form: UploadForm) -> HttpResponse:
    context = {
        "upload": form,
        "drafts": drafts.drafts_of(request.staff),
        "columns": COLUMNS,
        "most": MOST_LINES,
        "is_demo": settings.DEMO,
    }
    return Statements(request).answer("staff/statements.html", context)


def _upload(request: StaffRequest, form: UploadForm) -> UUID | None:
    """Store the file of a valid form as a draft.

    If the file is refused, add the error to the form.
    """
    given, file = form.cleaned_data, cast("UploadedFile", form.cleaned_data["file"])
    try:
        draft = drafts.upload(
            content=file.read(),
            name=file.name or "",
            provider=given["provider"],
            since=given["since"],
            until=given["until"],
            staff=request.staff,
        )
    except (NotAStatement, drafts.SameFile) as error:
        form.add_error("file", str(error))
        return None
    return draft.pk


@staff_required(RECONCILE)
@require_safe
def staff_statement_draft(request: StaffRequest, draft_id: UUID) -> HttpResponse:
    """Preview a statement: its content, its errors, and what confirming it would find."""
    try:
        draft = drafts.draft(draft_id, request.staff)
    except drafts.Gone as error:
        raise Http404(str(error)) from error
    context: dict[str, Any] = {
        "draft": draft,
        "shown": SHOWN,
        "until": draft.row.at + drafts.DRAFT_LASTS,
        "is_early": draft.row.until >= clock().date(),
    }
    try:
        found = drafts.preview(draft)
    except TooMuchMissing as error:
        context["refusal"] = str(error)
    else:
        context |= {
            "found": found,
            "lines": sorted(found.lines, key=lambda each: each.verdict is not Verdict.DIFFERS)[:SHOWN],
            "missing": found.missing[:SHOWN],
            "matched": found.count(Verdict.MATCHED),
            "differing": found.count(Verdict.DIFFERS),
            "repeated": found.count(Verdict.REPEATED),
        }
    return render(request, "staff/statement_draft.html", context)


@staff_required(RECONCILE)
@require_POST
def staff_statement_confirm(request: StaffRequest, draft_id: UUID) -> HttpResponse:
    """Confirm a statement as previewed."""
    try:
        statement = drafts.confirm(draft_id, request.staff)
    except drafts.SameFile as error:
        messages.warning(request, str(error))
        return redirect("staff_statement", error.statement.pk)
    except (drafts.StatementError, TooMuchMissing) as error:
        messages.error(request, str(error))
        return redirect("staff_statements")
    messages.success(request, gettext("Statement confirmed. The differences are listed below."))
    return redirect("staff_statement", statement.pk)


@staff_required(RECONCILE)
@require_POST
def staff_statement_discard(request: StaffRequest, draft_id: UUID) -> HttpResponse:
    """Discard a preview."""
    drafts.discard(draft_id, request.staff)
    messages.success(request, gettext("Draft discarded."))
    return redirect("staff_statements")


@staff_required(*READERS)
@require_safe
def staff_statement(request: StaffRequest, statement_id: int) -> HttpResponse:
    """Show one statement: totals, and differences from the house's records."""
    statement = get_object_or_404(ProviderStatement, pk=statement_id)
    counts = {verdict: statement.lines.filter(verdict=verdict).count() for verdict in Verdict}
    context = {
        "statement": statement,
        "totals": [Total(**total) for total in statement.totals],
        "matched": counts[Verdict.MATCHED],
        "differing": counts[Verdict.DIFFERS],
        "repeated": counts[Verdict.REPEATED],
        "still_open": drafts.still_open(statement),
    }
    return Differences(request, statement).answer("staff/statement.html", context)


@staff_required(RECONCILE)
@require_POST
def staff_difference_note(request: StaffRequest, statement_id: int, difference_id: int) -> HttpResponse:
    """Add a note to a difference, or settle it with a reason."""
    get_object_or_404(Difference, pk=difference_id, statement=statement_id)
    form = StepForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a note. It is recorded."))
    else:
        try:
            step = drafts.note(difference_id, by=actor(request), **form.cleaned_data)
        except drafts.Settled as error:
            messages.warning(request, str(error))
        else:
            messages.success(request, gettext("Settled.") if step.settles else gettext("Note saved."))
    return redirect("staff_statement", statement_id)


@staff_required(*READERS)
@require_safe
def staff_statement_file(request: StaffRequest, statement_id: int, name: str) -> HttpResponse:
    """Download the result as a file. The export and its SHA-256 are recorded in the event log."""
    statement = get_object_or_404(ProviderStatement, pk=statement_id)
    if name not in TYPES:
        raise Http404
    content = written(statement, name)
    data: dict[str, log.Json] = {"file": name, "sha256": hashlib.sha256(content).hexdigest()}
    log.record("statement.exported", by=actor(request), on=str(statement), data=data)
    response = HttpResponse(content, content_type=TYPES[name])
    response["Content-Disposition"] = f'attachment; filename="statement-{statement.pk}.{name}"'
    return response
