"""Identity review (KYC): queue, one case, its documents, likely duplicates.

Each view of a document is recorded in the access log. A document therefore has its own URL, which
the page requests only when the reader opens it.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import ClassVar, Final, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit.reports.kinds import Column, Form
from backoffice.lists.actions import Action, Plan
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest, staff_required
from players.cases import PERMISSIONS
from players.identity import duplicates, verification
from players.identity.uploads import PDF
from players.identity.verification import DOCUMENT_KINDS, PARTS, REASONS
from players.models import (
    CaseKind,
    Document,
    DocumentContent,
    DocumentKind,
    Duplicate,
    Ground,
    Part,
    RefusalReason,
    Resolution,
    Staff,
    Submission,
)
from players.staff import STAFF_ONLY, access_log

REVIEW = "players.review_identity"
DOCUMENT_READERS: Final = (REVIEW, PERMISSIONS[CaseKind.FUNDS])
POLICY = (
    "default-src 'none'; frame-ancestors 'none'; sandbox"  # for a document: nothing in it runs, wherever it is shown
)
GROUNDS = {
    Ground.NAME: gettext_lazy("Same name and date of birth"),
    Ground.ADDRESS: gettext_lazy("Same last name, address and date of birth"),
    Ground.NUMBER: gettext_lazy("Same document number"),
    Ground.PICTURE: gettext_lazy("Same document image"),
    Ground.PHONE: gettext_lazy("Same telephone number"),
    Ground.PAYOUT: gettext_lazy("Paid to the same account"),
    Ground.PERSON: gettext_lazy("Same national number"),
}
RESOLUTIONS = {Resolution.SAME: gettext_lazy("One person"), Resolution.DIFFERENT: gettext_lazy("Different people")}
CONSEQUENCES = {
    Resolution.SAME: gettext_lazy(
        "No account is closed or locked by this. An exclusion or pause of one account holds for "
        "both. Neither player can be verified while the other account is open. Close one of them "
        "on the player’s page. The players are not notified."
    ),
    Resolution.DIFFERENT: gettext_lazy(
        "Both players can be verified. An exclusion or pause of one no longer holds for the "
        "other. The pair is listed again if other matching data is found."
    ),
}
RESOLVED: Final = "resolved"  # state of pairs in the query
PAIR_LABELS = {"grounds": GROUNDS, "resolutions": RESOLUTIONS, "consequences": CONSEQUENCES, "untold": STAFF_ONLY}


class AgreementForm(forms.Form):
    """Confirmation that the reviewer has compared the documents."""

    agrees = forms.BooleanField()


class RefusalForm(forms.Form):
    """Refusal reason, shown in the player's language, and an optional note from staff."""

    reason = forms.ChoiceField(
        label=gettext_lazy("Reason, shown to the player in their language"),
        choices=lambda: [("", gettext("Choose")), *((reason.value, str(text)) for reason, text in REASONS.items())],
    )
    note = forms.CharField(
        label=gettext_lazy("Additional text for the player (optional, not translated)"),
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class ResolutionForm(forms.Form):
    """Resolution of a likely duplicate, for the flags that the page showed."""

    shown = forms.TypedMultipleChoiceField(coerce=int, choices=())
    resolution = forms.ChoiceField(choices=list(RESOLUTIONS.items()))
    before = forms.ChoiceField(choices=list(RESOLUTIONS.items()), required=False)
    note = forms.CharField(max_length=1000)
    case = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)  # to whose page it leads back

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        sent = [flag for flag in data.getlist("shown") if flag.isdecimal() and len(flag) < 19]
        cast("forms.TypedMultipleChoiceField", self.fields["shown"]).choices = [(flag, flag) for flag in sent]


class WaitingSubmissions(StaffList):
    """Submissions that await a review, oldest first."""

    model = Submission
    name = gettext_noop("Documents to review")
    players = ("player_id",)
    key = ("sent_at", "id")
    is_rising = True
    columns = (
        Column("player", "Player"),
        Column("given_names", "Given names"),
        Column("family_name", "Family name"),
        Column("player__jurisdiction_id", "Jurisdiction"),
        Column("sent_at", "Submitted", Form.TIME),
    )
    links = {"player": ("staff_identity_case", "submission_id", "pk")}
    empty = gettext_noop("No documents to review.")

    def found(self) -> QuerySet[Submission]:
        """Return the submissions that await a review."""
        return verification.waiting()


@staff_required(REVIEW)
@access_log.listed("identities to review")
@require_safe
def staff_identity(request: StaffRequest) -> HttpResponse:
    """List submissions that await a review."""
    return WaitingSubmissions(request).answer("staff/identity.html")


@staff_required(REVIEW)
@require_safe
def staff_identity_case(request: StaffRequest, submission_id: int) -> HttpResponse:
    """Show one submission: the player's data, the documents and likely duplicates."""
    return _case(request, _find(submission_id), RefusalForm())


@staff_required(REVIEW)
@require_POST
def staff_identity_verify(request: StaffRequest, submission_id: int) -> HttpResponse:
    """Verify the player's identity, or show why it cannot be verified."""
    submission = _find(submission_id)
    if not AgreementForm(request.POST).is_valid():
        messages.error(
            request, gettext("Compare the documents and tick that all details match. A verification cannot be undone.")
        )
        return redirect("staff_identity_case", submission_id)
    try:
        verification.verify(submission_id=submission_id, by=request.staff)
    except verification.ReviewError as error:
        messages.error(request, str(error))
        return redirect("staff_identity_case", submission_id)
    messages.success(
        request, (gettext("%(player)s is verified and has been notified by e-mail.") % {"player": submission.player})
    )
    return redirect("staff_identity")


@staff_required(REVIEW)
@require_POST
def staff_identity_refuse(request: StaffRequest, submission_id: int) -> HttpResponse:
    """Refuse a submission, with a reason."""
    submission, form = _find(submission_id), RefusalForm(request.POST)
    if not form.is_valid():
        return _case(request, submission, form)
    reason = RefusalReason(form.cleaned_data["reason"])
    try:
        verification.refuse(
            submission_id=submission_id, reason=reason, note=form.cleaned_data["note"], by=request.staff
        )
    except verification.ReviewError as error:
        messages.error(request, str(error))
        return redirect("staff_identity_case", submission_id)
    messages.success(
        request, (gettext("%(player)s is refused and has been notified by e-mail.") % {"player": submission.player})
    )
    return redirect("staff_identity")


@staff_required(*DOCUMENT_READERS)
@require_safe
def staff_document(request: StaffRequest, document_id: UUID) -> HttpResponse:
    """Serve a document: a picture inline, a PDF as a download. The policy prevents scripts in either.

    Those who review identities open what belongs to a submission, those who work on the source of funds what was
    asked for in a case.
    """
    document = get_object_or_404(Document.objects.select_related("request"), pk=document_id)
    inner = staff_required(PERMISSIONS[CaseKind.FUNDS] if document.request else REVIEW)
    return inner(lambda admitted: _serve(admitted, document_id))(request)  # type: ignore[return-value]


def _serve(request: StaffRequest, document_id: UUID) -> HttpResponse:
    try:
        document, content = verification.view_document(document_id)
    except DocumentContent.DoesNotExist as error:
        raise Http404 from error
    part = document.request.paper if document.request else document.part
    access_log.note(request, document.player, what=f"document: {part}")
    response = HttpResponse(content, content_type=document.media_type)
    way, ending = ("attachment", "pdf") if document.media_type == PDF else ("inline", "jpg")
    response["Content-Disposition"] = (
        f'{way}; filename="{document.submission_id or document.request_id}-{part}.{ending}"'
    )
    response["Content-Security-Policy"] = POLICY
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def _plan(resolution: Resolution, flag: Duplicate) -> Plan:
    """Plan the resolution of a pair: only for the flags up to *flag*, which the list showed."""
    pair = duplicates.pairs_with([flag])[flag.first_id, flag.second_id]
    if flag.resolution:
        return Plan(gettext("Already resolved: %s.") % RESOLUTIONS[Resolution(flag.resolution)], is_skipped=True)
    if any(each.pk > flag.pk for each in pair.open):
        return Plan(gettext("More matching data has been found. Open the pair and read it first."), is_skipped=True)
    found = ", ".join(str(GROUNDS[Ground(each.ground)]) for each in pair.open)
    return Plan(f"{found}: {RESOLUTIONS[resolution]}.")


def _resolve(resolution: Resolution, flag: Duplicate, reason: str, by: str) -> None:
    pair = duplicates.pairs_with([flag])[flag.first_id, flag.second_id]
    duplicates.resolve(
        first_id=flag.first_id,
        second_id=flag.second_id,
        shown=[each.pk for each in pair.open if each.pk <= flag.pk],
        resolution=resolution,
        note=reason,
        by=Staff.objects.get(pk=by.removeprefix("staff:")),
    )


class PairsForm(ListForm):
    """Filter of pairs: open or resolved, what they have in common, and one of the players."""

    state = forms.ChoiceField(
        label=pgettext_lazy("staff list", "State"),
        required=False,
        choices=[("", pgettext_lazy("staff list", "Open")), (RESOLVED, pgettext_lazy("staff list", "Resolved"))],
    )
    ground = forms.ChoiceField(
        label=gettext_lazy("Matching data"),
        required=False,
        choices=[("", pgettext_lazy("staff list", "Any")), *GROUNDS.items()],
    )
    player = forms.IntegerField(label=gettext_lazy("Player number"), required=False, min_value=1, max_value=2**63 - 1)


class Pairs(StaffList):
    """Open pairs of possible duplicates, oldest first. A row is the newest open flag of a pair."""

    model = Duplicate
    name = gettext_noop("Duplicates")
    players = ("first_id", "second_id")
    columns: ClassVar[tuple[Column, ...]] = (
        Column("pair", "Matching data"),
        Column("first", "Player"),
        Column("second", "Other player"),
        Column("found_at", "Found", Form.TIME),
        Column("finding", "Result"),
    )
    key = ("found_at", "id")
    is_rising = True
    sorts = {"first": ("first_id", "id"), "second": ("second_id", "id")}
    form_class = PairsForm
    empty = gettext_noop("No possible duplicates.")
    unmatched = gettext_noop("No pairs match this filter.")
    actions: ClassVar[tuple[Action, ...]] = tuple(
        Action(
            name=resolution.value,
            label=label,
            permission=REVIEW,
            meaning=CONSEQUENCES[resolution],
            plan=partial(_plan, resolution),
            do=partial(_resolve, resolution),
            reason_help=STAFF_ONLY,
            begin=duplicates.hold_still,
        )
        for resolution, label in RESOLUTIONS.items()
    )

    def flags(self) -> QuerySet[Duplicate]:
        """Return one flag for each pair."""
        return duplicates.waiting_flags()

    def found(self) -> QuerySet[Duplicate]:
        """Return one flag for each pair of the filter."""
        found = self.flags()
        if ground := self.asked.get("ground"):
            found = found.filter(Exists(duplicates.same_pair().filter(ground=ground)))
        if player := self.asked.get("player"):
            found = found.filter(Q(first=player) | Q(second=player))
        return found.select_related("first", "second", "resolved_by")

    def items(self, rows: Sequence[Duplicate]) -> Sequence[Duplicate]:
        """Read all flags of the pairs at once."""
        self.pairs = {**self.pairs, **duplicates.pairs_with(rows)}
        return rows

    @cached_property
    def pairs(self) -> Mapping[tuple[int, int], duplicates.Pair]:
        """The pairs that were read, by the numbers of their players."""
        return {}

    def called(self, row: Duplicate) -> str:
        """Return both players."""
        return f"{row.first}, {row.second}"

    def urls_of(self, row: Duplicate) -> Mapping[str, str]:
        """Return the address of the pair."""
        return {"pair": reverse("staff_duplicate", args=[row.first_id, row.second_id])}

    def of_pair(self, flag: Duplicate) -> str:
        """Return what the two players have in common: the open flags, or all of a resolved pair."""
        pair = self.pairs[flag.first_id, flag.second_id]
        return ", ".join(str(GROUNDS[Ground(each.ground)]) for each in (pair.open or pair.flags))

    def of_first(self, flag: Duplicate) -> str:
        """Return the player who registered first, and the jurisdiction."""
        return f"{flag.first}, {flag.first.jurisdiction_id}"

    def of_second(self, flag: Duplicate) -> str:
        """Return the other player, and the jurisdiction."""
        return f"{flag.second}, {flag.second.jurisdiction_id}"

    def of_finding(self, flag: Duplicate) -> str:
        """Return the latest resolution of the pair ("": none)."""
        finding = self.pairs[flag.first_id, flag.second_id].finding
        return str(RESOLUTIONS[Resolution(finding)]) if finding else ""


class ResolvedPairs(Pairs):
    """Resolved pairs, the last decision first. A finding is corrected on the page of the pair."""

    name = gettext_noop("Resolved duplicates")
    columns = (
        *Pairs.columns,
        Column("resolved_by__name", "Resolved by"),
        Column("resolved_at", "Resolved", Form.TIME),
        Column("note", "Supporting evidence"),
    )
    key = ("resolved_at", "id")
    is_rising = False
    actions = ()

    @classmethod
    def label(cls) -> str:
        """Return a name of its own: the reader chooses its columns apart."""
        return f"{super().label()}.resolved"

    def flags(self) -> QuerySet[Duplicate]:
        """Return the flag that decides, for each pair."""
        return duplicates.resolved_flags()


@staff_required(REVIEW)
@access_log.listed("possible duplicates")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_duplicates(request: StaffRequest) -> HttpResponse:
    """List open or resolved pairs of possible duplicates. On POST, resolve the chosen ones."""
    listed = (ResolvedPairs if request.GET.get("state") == RESOLVED else Pairs)(request)
    return listed.act() if request.method == "POST" else listed.answer("staff/duplicates.html")


@staff_required(REVIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_duplicate(request: StaffRequest, first_id: int, second_id: int) -> HttpResponse:
    """Show one pair. On POST, record whether the two players are one person, and how that was found out."""
    if request.method != "POST":
        pair = duplicates.pairs_with([Duplicate(first_id=first_id, second_id=second_id)]).get((first_id, second_id))
        if pair is None:
            raise Http404
        access_log.note(request, pair.first, pair.second, what="possible duplicate")
        return render(request, "staff/duplicate.html", {"pair": pair} | PAIR_LABELS)
    form = ResolutionForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Choose a result and enter the evidence. Both are recorded."))
        return redirect("staff_duplicates")
    given = form.cleaned_data
    try:
        duplicates.resolve(
            first_id=first_id,
            second_id=second_id,
            shown=given["shown"],
            resolution=Resolution(given["resolution"]),
            note=given["note"],
            by=request.staff,
            before=given["before"],
        )
    except duplicates.AlreadyResolved:
        messages.error(request, gettext("Another person has already resolved this pair. Your text was not saved."))
    else:
        messages.success(
            request,
            (
                gettext("Resolved: player:%(first_id)s and player:%(second_id)s.")
                % {"first_id": first_id, "second_id": second_id}
            ),
        )
    if case := given["case"]:
        return redirect("staff_case", case)
    return redirect("staff_duplicates")


def _find(submission_id: int) -> Submission:
    people = Submission.objects.select_related("player__user", "player__jurisdiction", "reviewed_by")
    return get_object_or_404(people, pk=submission_id)


def _case(request: StaffRequest, submission: Submission, form: RefusalForm) -> HttpResponse:
    has_content = Exists(DocumentContent.objects.filter(pk=OuterRef("pk")))
    documents = sorted(
        submission.document_set.annotate(is_kept=has_content), key=lambda each: list(Part).index(Part(each.part))
    )
    pairs = duplicates.pairs_of(submission.player)
    access_log.note(request, submission.player, *(pair.other(submission.player) for pair in pairs), what="identity")
    others = Submission.objects.filter(player=submission.player).exclude(pk=submission.pk).order_by("-id")
    context = {
        "submission": submission,
        "kind": DOCUMENT_KINDS[DocumentKind(submission.document_kind)] if submission.document_kind else "",
        "reason": REASONS[RefusalReason(submission.reason)] if submission.reason else "",
        "documents": [(PARTS[Part(each.part)], each) for each in documents],
        "others": others,
        "pairs": pairs,
        "form": form,
    } | PAIR_LABELS
    return render(request, "staff/identity_case.html", context)
