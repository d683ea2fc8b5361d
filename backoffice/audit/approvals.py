"""Pages of approvals: staff decide requests, and a requester withdraws their own.

`audit.approvals` stores the requests and knows no users. This module checks who may decide.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_POST, require_safe

from audit import approvals, log
from audit.models import Approval, Decision, Verdict
from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest, staff_required
from players.models import Staff, StaffAction, StaffChange
from players.staff import access_log
from wallet.ledger import adjustments

MOST_WAITING: Final = 50  # the oldest requests
SEE_ALL = "audit.view_approval"
READERS = (*approvals.permissions(), SEE_ALL)


@dataclass(frozen=True)
class Case:
    """A request as the reader sees it.

    ``is_own``: the same person asked for it, under any of their accounts. ``may_decide``: the
    reader's role decides requests of this kind. ``on`` is the subject as events name it; ``called``
    is a descriptive name, where it says more.
    """

    approval: Approval
    kind: approvals.Kind
    on: str
    called: str
    asked_by: str
    description: approvals.Description | None  # None: the stored request was tampered with
    current_facts: approvals.Facts  # of an open request: the current facts that a decision would change
    is_own: bool
    may_decide: bool


@dataclass(frozen=True)
class Ended:
    """A closed request. ``on`` and ``called`` name its subject as in `Case`."""

    decision: Decision
    kind: approvals.Kind
    on: str
    called: str
    asked_by: str
    decided_by: str


class VerdictForm(forms.Form):
    """Decision to approve or refuse, with a reason."""

    yes = forms.TypedChoiceField(
        choices=[("1", gettext_lazy("Approve")), ("0", gettext_lazy("Refuse"))], coerce=lambda text: text == "1"
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        strip=True,
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )


class WithdrawForm(forms.Form):
    """Withdrawal of an own request, with a reason."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        strip=True,
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )
    sure = forms.BooleanField(
        label=gettext_lazy("This request can no longer be decided."),
        error_messages={"required": gettext_lazy("Confirm the withdrawal. A withdrawn request cannot be restored.")},
    )


class ClosedForm(ListForm):
    """Filter of closed requests: by kind, result, subject and requester."""

    kind = forms.ChoiceField(label=gettext_lazy("Kind"), required=False)
    verdict = forms.ChoiceField(
        label=gettext_lazy("Outcome"),
        required=False,
        choices=[("", gettext_lazy("any outcome")), *((each.value, each.label) for each in Verdict)],
    )
    on = forms.CharField(
        label=gettext_lazy("Subject"),
        required=False,
        max_length=100,
        help_text=gettext_lazy("player:12, withdrawal:7, or the name or e-mail address of a staff member"),
    )
    whose = forms.ChoiceField(
        label=gettext_lazy("Requested by"),
        required=False,
        choices=[("", gettext_lazy("anybody")), ("mine", gettext_lazy("me, with any of my accounts"))],
    )

    def __init__(self, asked: Mapping[str, Any], kinds: Collection[str]) -> None:
        super().__init__(asked)
        titles = sorted(((name, gettext(approvals.kind(name).title)) for name in kinds), key=itemgetter(1))
        self.fields["kind"].choices = [("", gettext("any kind")), *titles]  # type: ignore[attr-defined]


class ClosedRequests(StaffList):
    """Closed requests of the kinds that the reader's role decides, and the reader's own, last closed first."""

    model = Decision
    name = gettext_noop("Closed requests")
    players = ("decision__approval__on", "decision__approval__by", "decision__by", "decision__reason")
    key = ("at", "approval_id")
    columns = (
        Column("decision__approval_id", "No.", Form.NUMBER),
        Column("kind__title", "Kind"),
        Column("on", "Subject"),
        Column("asked_by", "Requested by"),
        Column("decision__at", "Closed", Form.TIME),
        Column("decided_by", "By"),
        Column("decision__verdict", "Outcome"),
        Column("decision__reason", "Reason"),
    )
    links = {"decision__approval_id": ("staff_approval", "approval_id", "decision__approval_id")}
    empty = gettext_noop("No closed requests yet.")
    unmatched = gettext_noop("No requests match this search.")

    def make_form(self) -> ClosedForm:
        """Return the form with the kinds that the reader may read."""
        return ClosedForm(self.request.GET, _reads(self.request))

    def found(self) -> QuerySet[Decision]:
        """Return the closed requests of the filter."""
        person, said = self.request.staff.person, self.asked
        found = Decision.objects.filter(Q(approval__kind__in=_reads(self.request)) | Q(asker=person))
        if said.get("kind"):
            found = found.filter(approval__kind=said["kind"])
        if said.get("whose"):
            found = found.filter(asker=person)
        if said.get("verdict"):
            found = found.filter(verdict=said["verdict"])
        if said.get("on"):
            found = found.filter(_about(said["on"]))
        return found.select_related("approval")

    def items(self, rows: Sequence[Decision]) -> Sequence[Ended]:
        """Return the requests with the names of those who asked and decided."""
        asked = [each.approval for each in rows]
        names = _names(asked, rows)
        return [
            Ended(each, approvals.kind(each.approval.kind), *about, names[each.approval.by], names[each.by])
            for each, about in zip(rows, _subjects(asked), strict=True)
        ]

    def of_on(self, ended: Ended) -> str:
        """Return the subject, by a descriptive name where it has one."""
        return ended.called or ended.on

    def show_on(self, ended: Ended) -> str:
        """Return the subject with a link, if the reader may follow it."""
        return render_to_string("staff/approval.html#subject", {"on": ended.on, "called": ended.called}, self.request)

    def show_decision__verdict(self, ended: Ended) -> str:
        """Return the outcome."""
        decision = ended.decision
        return cells.badge(decision.get_verdict_display(), "on" if decision.verdict == Verdict.APPROVED else "off")

    def show_kind__title(self, ended: Ended) -> str:
        """Return what was requested, in the reader's language."""
        return gettext(ended.kind.title)


def readable_by(staff: Staff) -> QuerySet[Approval]:
    """Return the requests that *staff* may read: of the kinds that they decide, or all; and their own."""
    kinds = approvals.kinds() if staff.user.has_perm(SEE_ALL) else _decides(staff)
    return Approval.objects.filter(Q(kind__in=list(kinds)) | Q(person=staff.person))


def waiting_for(staff: Staff) -> QuerySet[Approval]:
    """Return the open requests that *staff* may decide. Their own are not among them."""
    return approvals.waiting().filter(kind__in=_decides(staff)).exclude(person=staff.person)


@staff_required(*READERS)
@access_log.listed("approvals")
@require_safe
def staff_approvals(request: StaffRequest) -> HttpResponse:
    """List open and closed requests of the kinds that the reader's role decides.

    Readers with `SEE_ALL` see all kinds. The reader's own requests are always included.
    """
    closed = ClosedRequests(request)
    if closed.is_file:
        return closed.file()
    waiting = approvals.waiting().filter(_seen(request)).order_by("pk")[: MOST_WAITING + 1]
    names = _names(waiting, ())
    cases = [_case(request, each, names) for each in waiting[:MOST_WAITING]]
    access_log.shown(request, cases)
    return closed.answer("staff/approvals.html", {"waiting": cases, "is_more": len(waiting) > MOST_WAITING})


@staff_required(*READERS)
@access_log.listed("approvals")
@require_safe
def staff_approval(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Show one request: its content, requester, reason, expiry and result."""
    asked = Approval.objects.filter(_seen(request), pk=approval_id).first()
    if asked is None:
        if Approval.objects.filter(pk=approval_id).exists():
            raise PermissionDenied
        raise Http404
    return _page(request, asked)


@staff_required(*approvals.permissions())
@access_log.listed("approvals")
@require_POST
def staff_approval_decide(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Decide a request, with a reason."""
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
            messages.success(request, _decision_message(decision))
            return redirect("staff_approvals")
    return _refused(request, approval_id, form, verdict=form)


@staff_required(*READERS)
@access_log.listed("approvals")
@require_POST
def staff_approval_withdraw(request: StaffRequest, approval_id: int) -> HttpResponse:
    """Withdraw a request that the same person made under any of their accounts, with a reason."""
    form = WithdrawForm(request.POST)
    if form.is_valid():
        try:
            approvals.withdraw(
                approval_id=approval_id,
                by=str(request.staff),
                person=request.staff.person,
                reason=form.cleaned_data["reason"],
            )
        except approvals.ApprovalError as error:
            form.add_error("reason", str(error))
        else:
            messages.success(
                request,
                (gettext("Request %(approval_id)s is withdrawn. Nothing was executed.") % {"approval_id": approval_id}),
            )
            return redirect("staff_approvals")
    return _refused(request, approval_id, form, withdrawing=form)


def _decision_message(decision: Decision) -> SafeString:
    """Return the message about a decision that was just made, with a link to the request."""
    described = _description(decision.approval)
    kind = approvals.kind(decision.approval.kind)
    return format_html(
        '{}: <a class="link" href="{}">{} {}</a>. {}',
        capfirst(decision.get_verdict_display()),
        reverse("staff_approval", args=[decision.pk]),
        gettext("Request %(approval)s:") % {"approval": decision.pk},
        described.title if described else gettext(kind.title),
        gettext(kind.then if decision.verdict == Verdict.APPROVED else kind.otherwise),
    )


def _refused(request: StaffRequest, approval_id: int, form: forms.Form, **forms_: forms.Form) -> HttpResponse:
    """Show why the action was refused, on the page of the request if the reader may see it."""
    asked = Approval.objects.filter(_seen(request), pk=approval_id).first()
    if asked is not None:
        return _page(request, asked, **forms_)
    messages.error(request, " ".join(map(str, form.errors.get("reason", [gettext("Choose Approve or Refuse.")]))))
    return redirect("staff_approvals")


def _decides(staff: Staff) -> set[str]:
    return {name for name in approvals.kinds() if staff.user.has_perm(approvals.kind(name).permission)}


def _reads(request: StaffRequest) -> set[str]:
    return set(approvals.kinds()) if request.user.has_perm(SEE_ALL) else _decides(request.staff)


def _seen(request: StaffRequest) -> Q:
    """Match the requests that the reader's role decides, and the reader's own."""
    return Q(kind__in=_reads(request)) | Q(person=request.staff.person)


def _case(request: StaffRequest, asked: Approval, names: Mapping[str, str], *, is_open: bool = True) -> Case:
    kind, description = approvals.kind(asked.kind), _description(asked)
    if description:  # the subject has a line of its own
        description = replace(description, facts=[each for each in description.facts if each[1] != asked.on])
    return Case(
        asked,
        kind,
        *_subjects([asked])[0],
        names[asked.by],
        description,
        current_facts=kind.current_facts(approvals.thaw(asked)) if is_open and description else (),
        is_own=asked.person == request.staff.person,
        may_decide=asked.kind in _decides(request.staff),
    )


def _names(asked: Iterable[Approval], ended: Iterable[Decision]) -> Mapping[str, str]:
    """Return the display name of each account that asked or decided."""
    accounts = {*(each.by for each in asked), *(each.by for each in ended)}
    numbers = [account.partition(":")[2] for account in accounts if account.startswith("staff:")]
    called = {str(member): f"{member.name} ({member})" for member in Staff.objects.filter(pk__in=numbers)}
    return {account: called.get(account, account) for account in accounts}


def _page(
    request: StaffRequest,
    asked: Approval,
    *,
    verdict: forms.Form | None = None,
    withdrawing: forms.Form | None = None,
) -> HttpResponse:
    decision = Decision.objects.filter(pk=asked.pk).first()
    names = _names([asked], [decision] if decision else [])
    context = {
        "case": _case(request, asked, names, is_open=decision is None),
        "journal": adjustments.journal_of(asked),
        "decision": decision,
        "decided_by": decision and names[decision.by],
        "is_waiting": approvals.waiting().filter(pk=asked.pk).exists(),
        "sha256": bytes(asked.sha256).hex(),
        "form": verdict or VerdictForm(),
        "withdrawing": withdrawing or WithdrawForm(),
    }
    access_log.shown(request, context["case"], decision)
    return render(request, "staff/approval.html", context)


def _about(said: str) -> Q:
    """Match requests about *said*.

    *said* is a subject as events name it, or a part of a staff member's name or e-mail address. The
    staff account may not exist yet.
    """
    members = Staff.objects.filter(Q(name__icontains=said) | Q(user__email__icontains=said))
    asked_for = rf'"(email|name)":"[^"]*{re.escape(log.canonical(said)[1:-1])}'
    return Q(approval__on__in=[said, *map(str, members)]) | Q(
        approval__kind=StaffAction.MAKE, approval__request__iregex=asked_for
    )


def _subjects(asked: Sequence[Approval]) -> list[tuple[str, str]]:
    """Return the subject of each request as events name it, and a descriptive name if useful.

    A new account is described by the request until it is created. Afterwards it is named by its
    number.
    """
    changes = StaffChange.objects.filter(approval__in=asked, kind=StaffAction.MAKE).select_related("user__staff")
    made = {change.approval_id: str(change.user.staff) for change in changes}
    return [_subject(each, made.get(each.pk)) for each in asked]


def _subject(asked: Approval, made: str | None) -> tuple[str, str]:
    described = _description(asked) if asked.kind == StaffAction.MAKE and not made else None
    return made or asked.on, described.title if described else ""


def _description(asked: Approval) -> approvals.Description | None:
    try:
        return approvals.kind(asked.kind).describe(approvals.thaw(asked))
    except approvals.Tampered:
        return None
