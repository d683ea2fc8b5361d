"""Approvals as staff decide them. The ground floor keeps them and knows nobody; who may decide is said here."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import approvals
from audit.models import Approval, Decision, Verdict
from players import looking
from players.access import StaffRequest, staff_required
from players.models import Staff

PAGE: Final = 20
MOST_WAITING: Final = 50  # those that wait longest
SEE_ALL = "audit.view_approval"
READERS = (*approvals.permissions(), SEE_ALL)


@dataclass(frozen=True)
class Case:
    """A request as somebody reads it; ``is_own`` where the reader asked for it, under whichever account, ``may_decide``
    where their role decides requests of this kind.
    """

    approval: Approval
    description: approvals.Description | None  # None: what is stored is not what was asked for
    is_own: bool
    may_decide: bool


class VerdictForm(forms.Form):
    """Approve or refuse, and why."""

    yes = forms.TypedChoiceField(choices=[("1", "Approve"), ("0", "Refuse")], coerce=lambda text: text == "1")
    reason = forms.CharField(
        label="Reason",
        max_length=300,
        strip=True,
        error_messages={"required": "Say why: the reason is kept on record."},
    )


class FilterForm(forms.Form):
    """Which of those that have ended: of a kind, ended how, about what."""

    kind = forms.ChoiceField(label="Kind", required=False)
    verdict = forms.ChoiceField(
        label="Ended", required=False, choices=[("", "any way"), *((each.value, each.label) for each in Verdict)]
    )
    on = forms.CharField(label="About", required=False, max_length=100, help_text="As in player:12.")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, asked: Mapping[str, Any], kinds: Collection[str]) -> None:
        super().__init__(asked)
        self.fields["kind"].choices = [("", "any kind"), *((name, name) for name in sorted(kinds))]  # type: ignore[attr-defined]


def waiting_for(staff: Staff) -> int:
    """Return how many requests wait that a member of staff may decide: of their kinds, and not asked for by them."""
    return approvals.waiting().filter(kind__in=_decides(staff)).exclude(person=staff.person).count()


@staff_required(*READERS)
@looking.listed("approvals")
@require_safe
def staff_approvals(request: StaffRequest) -> HttpResponse:
    """List what waits for a second person and what has ended, of the kinds that the reader's role decides; of all
    kinds for whoever reads all. What waits of the reader's own is there too.
    """
    kinds = _reads(request)
    waiting = approvals.waiting().filter(_seen(request)).order_by("pk")[: MOST_WAITING + 1]
    form = FilterForm(request.GET, kinds)
    ended, older = _ended(form, kinds)
    context = {
        "waiting": [_case(request, each) for each in waiting[:MOST_WAITING]],
        "is_more": len(waiting) > MOST_WAITING,
        "form": form,
        "is_filtered": any(request.GET.get(name) for name in ("kind", "verdict", "on")),
        "decided": ended,
        "older": older,
    }
    return render(request, "staff/approvals.html", context)


@staff_required(*READERS)
@looking.listed("approvals")
@require_safe
def staff_approval(request: StaffRequest, approval_id: int) -> HttpResponse:
    """One request: what was asked for, by whom and why, until when, and how it ended."""
    asked = Approval.objects.filter(_seen(request), pk=approval_id).first()
    if asked is None:
        if Approval.objects.filter(pk=approval_id).exists():
            raise PermissionDenied
        raise Http404
    return _page(request, asked, VerdictForm())


@staff_required(*approvals.permissions())
@looking.listed("approvals")
@require_POST
def staff_approval_decide(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Decide, with a reason."""
    form = VerdictForm(request.POST)
    if form.is_valid():
        try:
            decision = approvals.decide(
                approval_id=approval_id,
                yes=form.cleaned_data["yes"],
                by=str(request.staff),
                person=request.staff.person,
                reason=form.cleaned_data["reason"],
                may=request.user.has_perm,
            )
        except approvals.ApprovalError as error:
            form.add_error("reason", str(error))
        else:
            messages.success(request, f"Request {approval_id} is {decision.verdict}.")
            return redirect("staff_approvals")
    asked = Approval.objects.filter(_seen(request), pk=approval_id).first()
    if asked is not None:
        return _page(request, asked, form)
    messages.error(request, " ".join(map(str, form.errors.get("reason", ["Approve or refuse."]))))
    return redirect("staff_approvals")


def _decides(staff: Staff) -> set[str]:
    return {name for name in approvals.kinds() if staff.user.has_perm(approvals.kind(name).permission)}


def _reads(request: StaffRequest) -> set[str]:
    return set(approvals.kinds()) if request.user.has_perm(SEE_ALL) else _decides(request.staff)


def _seen(request: StaffRequest) -> Q:
    """What the reader's role decides, and what they asked for themselves."""
    return Q(kind__in=_reads(request)) | Q(person=request.staff.person)


def _case(request: StaffRequest, asked: Approval) -> Case:
    is_own = asked.person == request.staff.person
    return Case(asked, _description(asked), is_own, asked.kind in _decides(request.staff))


def _page(request: StaffRequest, asked: Approval, form: VerdictForm) -> HttpResponse:
    context = {
        "case": _case(request, asked),
        "decision": Decision.objects.filter(pk=asked.pk).first(),
        "is_waiting": approvals.waiting().filter(pk=asked.pk).exists(),
        "sha256": bytes(asked.sha256).hex(),
        "form": form,
    }
    return render(request, "staff/approval.html", context)


def _ended(form: FilterForm, kinds: Collection[str]) -> tuple[list[Decision], int | None]:
    """Return a page of requests that have ended, the newest asked first, and the mark for older ones."""
    if not form.is_valid():
        return [], None
    said = form.cleaned_data
    found = Decision.objects.filter(approval__kind__in=[said["kind"]] if said["kind"] else kinds)
    if said["verdict"]:
        found = found.filter(verdict=said["verdict"])
    if said["on"]:
        found = found.filter(approval__on=said["on"].strip())
    if said["before"]:
        found = found.filter(pk__lt=said["before"])
    rows = list(found.select_related("approval").order_by("-pk")[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def _description(asked: Approval) -> approvals.Description | None:
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked))
    except approvals.Tampered:
        return None
