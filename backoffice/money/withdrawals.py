"""Pages of withdrawals for finance: the queue of open withdrawals, decisions, and the past."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db import connection
from django.db.models import Prefetch, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop, pgettext_lazy
from django.views.decorators.http import require_POST, require_safe

from audit import approvals
from audit.approvals import ApprovalError
from audit.models import Approval
from audit.reports.kinds import Column, Form
from audit.reports.requests import clock
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import NEWEST, OLDEST, ORDER, ListForm
from backoffice.lists.paging import AFTER, BEFORE, Order, of_queryset
from backoffice.lists.staff_list import StaffList
from backoffice.lists.totals import Sums
from players.access import StaffRequest, staff_required
from players.staff import VISIBLE_TO_PLAYER, access_log
from wallet import withdrawals
from wallet.cashier import MoneyField
from wallet.models import Currency, Withdrawal, WithdrawalStatus, WithdrawalStep
from wallet.models.payments import OPEN
from wallet.withdrawals import KIND, REASONS, releases
from wallet.withdrawals.releases import PayoutFacts, facts_of

WAITING: Final = (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING)
OVER: Final = tuple(status for status in WithdrawalStatus if status not in OPEN)
MOST_LATELY: Final = 20
MOST_COUNTED: Final = 1000  # per status; above it the page says "more than"
LAST: Final = 2**63 - 1  # greater than every number

# For every status and currency, one range of one index yields the next few rows. The page is the
# first of all.
FIND = """
SELECT found.id
FROM unnest(%(statuses)s::text[]) AS asked (status)
CROSS JOIN unnest(%(currencies)s::text[]) AS money (currency)
CROSS JOIN LATERAL (
    SELECT id FROM wallet_withdrawal AS w
    WHERE w.status = asked.status AND w.currency = money.currency AND w.id {side} %(position)s
      AND (%(above)s::bigint IS NULL OR w.amount > %(above)s) AND (%(since)s::timestamptz IS NULL OR w.at < %(since)s)
    ORDER BY w.id {order}
    LIMIT %(limit)s
) AS found
ORDER BY found.id {order}
LIMIT %(limit)s
"""
OLDEST_FIRST = FIND.format(side=">", order="ASC")
NEWEST_FIRST = FIND.format(side="<", order="DESC")
COUNT = """
SELECT asked.status, (SELECT count(*) FROM (
    SELECT FROM wallet_withdrawal AS w WHERE w.status = asked.status LIMIT %(most)s + 1) AS few)
FROM unnest(%(statuses)s::text[]) AS asked (status)
"""


@dataclass(frozen=True)
class Counted:
    """Number of withdrawals with a status. *is_more*: counting stopped at this number."""

    status: WithdrawalStatus
    count: int
    is_more: bool


@dataclass(frozen=True)
class Case:
    """A withdrawal that awaits a decision, with facts about its player."""

    withdrawal: Withdrawal
    facts: PayoutFacts
    approval: Approval | None  # set if one person has approved it and a second must decide
    release: Approval | None  # set if one person has asked for its release and a second must decide


def counted() -> list[Counted]:
    """Return the number of open withdrawals by status, up to `MOST_COUNTED` each."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"statuses": list(OPEN), "most": MOST_COUNTED})
        return [
            Counted(WithdrawalStatus(status), min(count, MOST_COUNTED), count > MOST_COUNTED)
            for status, count in cursor.fetchall()
        ]


def cases(found: Iterable[Withdrawal]) -> list[Case]:
    """Return the withdrawals of *found* that await a decision or are held, with facts for the decision."""
    asked_about = (*WAITING, WithdrawalStatus.APPROVED)
    open_ones = [each for each in found if each.status in asked_about]
    facts = facts_of(open_ones)
    waiting = [each for each in open_ones if each.status in WAITING or facts[each.pk].is_held]
    names = [str(withdrawal) for withdrawal in waiting]
    asked_for = {(asked.kind, asked.on): asked for asked in approvals.waiting().filter(on__in=names)}
    return [
        Case(
            withdrawal=each,
            facts=facts[each.pk],
            approval=asked_for.get((KIND, str(each))),
            release=asked_for.get((releases.KIND, str(each))),
        )
        for each in waiting
    ]


class DecisionForm(forms.Form):
    """Decision on a withdrawal, with a reason for the record.

    A refusal also needs a reason for the player.
    """

    action = forms.ChoiceField(choices=[("approve", "Approve"), ("refuse", "Refuse")])
    code = forms.ChoiceField(choices=[(code, code) for code in REASONS], required=False)
    reason = forms.CharField(max_length=300, strip=True)

    def clean(self) -> None:
        """Require a reason for the player if the withdrawal is refused."""
        if self.cleaned_data.get("action") == "refuse" and not self.cleaned_data.get("code"):
            self.add_error("code", self.fields["code"].error_messages["required"])


class QueueForm(ListForm):
    """Filter of withdrawals. The amount is in units of the chosen currency, or of any currency."""

    STATES = {"": gettext_lazy("pending"), **dict(WithdrawalStatus.choices), "over": gettext_lazy("decided (all)")}

    number = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label=gettext_lazy("Number"))
    state = forms.ChoiceField(label=gettext_lazy("State"), required=False, choices=list(STATES.items()))
    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", pgettext_lazy("currency", "any")), *((code, code) for code in Currency.values)],
    )
    above = MoneyField(required=False, label=gettext_lazy("More than"))
    hours = forms.IntegerField(
        required=False, min_value=1, max_value=10_000, label=gettext_lazy("Open for over (hours)")
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data, is_rising=data.get("state", "") in ("", *OPEN))
        chosen, above = data.get("currency", ""), self.fields["above"]
        assert isinstance(above, MoneyField)  # noqa: S101  (declared above)
        above.currency = chosen if chosen in Currency.values else Currency.EUR

    def statuses(self) -> Sequence[str]:
        """Return the chosen statuses, by default those that await a decision."""
        state = self.cleaned_data.get("state", "")
        return OVER if state == "over" else (state,) if state else WAITING

    @property
    def is_open(self) -> bool:
        """True if all statuses are open ones."""
        return set(self.statuses()) <= set(OPEN)

    def clean(self) -> None:
        """Allow filters and the order by amount or age only for open withdrawals; there are too many others."""
        if self.is_open:
            return
        if self.cleaned_data.get(ORDER) not in ("", NEWEST, OLDEST):
            self.add_error(ORDER, gettext("Only open withdrawals can be sorted by this column."))
        for name in ("above", "hours"):
            if self.cleaned_data.get(name):
                self.add_error(
                    name,
                    gettext(
                        "This filter only finds open withdrawals. For others, use the report Deposits and withdrawals."
                    ),
                )


APPROVERS = "wallet.approve_withdrawal"
READERS = (APPROVERS, "wallet.see_withdrawals", releases.RELEASE)


class Withdrawals(StaffList):
    """Withdrawals of the filter, by default those that await a decision.

    Open ones are oldest first, decided ones newest first.
    """

    model = Withdrawal
    name = gettext_noop("Withdrawals")
    players = ("player_id",)
    columns: ClassVar[tuple[Column, ...]] = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "Requested", Form.TIME),
        Column("player", "Player"),
        Column("amount", "Amount", Form.MONEY),
        Column("account", "Bank account"),
        Column("status", "State"),
        Column("checks", "Checks"),
        Column("steps", "Steps"),
    )
    file_columns = (*columns[:4], Column("currency", "Currency"), *columns[4:6], columns[7])
    currency = "currency"
    links = {"id": ("staff_withdrawal", "withdrawal_id", "pk")}
    sums = Sums({"Amount": "amount"})
    sorts = {"amount": ("amount", "id")}
    empty = gettext_noop("No pending withdrawals.")
    unmatched = gettext_noop("No withdrawals match this search.")
    form: QueueForm

    def make_form(self) -> QueueForm:
        """Return the form, whose amount is in the chosen currency."""
        return QueueForm(self.request.GET)

    @property
    def is_open(self) -> bool:
        """True if open withdrawals are asked for."""
        return self.form.is_valid() and self.form.is_open

    def found(self) -> QuerySet[Withdrawal]:
        """Return all withdrawals with what the columns need, or the one with the number asked for."""
        steps = Prefetch("steps", WithdrawalStep.objects.order_by("pk"))
        found = Withdrawal.objects.select_related("account", "player__jurisdiction").prefetch_related(steps)
        return found.filter(pk=self.asked["number"]) if self.asked.get("number") else found

    def usual_order(self) -> Order:
        """Return oldest first for open withdrawals."""
        return Order(self.key, is_rising=self.is_open)

    def read(self, order: Order, start: Sequence[Any], most: int) -> Sequence[Withdrawal]:
        """Return withdrawals, each status and currency read from its range of the index.

        In the order of a column all are sorted: the form allows that for open ones only, which are few.
        """
        if self.asked.get("number") or order.key != self.key:
            return of_queryset(self.filtered())(order, start, most)
        currency, hours = self.asked.get("currency"), self.asked.get("hours")
        (position,) = start or (0 if order.is_rising else LAST,)
        asked: dict[str, Any] = {
            "statuses": list(self.statuses()),
            "currencies": [currency] if currency else list(Currency.values),
            "position": position,
            "above": self.asked.get("above"),
            "since": clock() - timedelta(hours=hours) if hours else None,
            "limit": most,
        }
        with connection.cursor() as cursor:
            cursor.execute(OLDEST_FIRST if order.is_rising else NEWEST_FIRST, asked)
            numbers = [number for (number,) in cursor.fetchall()]
        return list(self.found().filter(pk__in=numbers).order_by(*order.fields))

    def statuses(self) -> Sequence[str]:
        """Return the statuses that are listed."""
        return self.form.statuses()

    def filtered(self) -> QuerySet[Withdrawal]:
        """Return all withdrawals of the filter."""
        found, asked = self.found(), self.asked
        if asked.get("number"):
            return found
        found = found.filter(status__in=self.statuses())
        if asked.get("currency"):
            found = found.filter(currency=asked["currency"])
        if asked.get("above"):
            found = found.filter(amount__gt=asked["above"])
        return found.filter(at__lt=clock() - timedelta(hours=asked["hours"])) if asked.get("hours") else found

    @cached_property
    def cases(self) -> Mapping[int, Case]:
        """The facts of those on the page that await a decision, by number."""
        return {case.withdrawal.pk: case for case in cases(self.page.rows)}

    def urls_of(self, row: Withdrawal) -> Mapping[str, str]:
        """Return the address of the withdrawal, which leads back to the list as it is."""
        query = self.request.GET.urlencode()
        return {name: f"{url}?{query}" if query else url for name, url in super().urls_of(row).items()}

    def show_checks(self, withdrawal: Withdrawal) -> str:
        """Return what speaks against the payout, and what it waits for."""
        case = self.cases.get(withdrawal.pk)
        if case is None:
            return cells.NOTHING
        alarms = [line.name for line in case.facts.lines if line.is_alarm]
        return cells.joined(
            case.facts.is_held and cells.badge(gettext("held"), "off"),
            (case.approval or case.release) and cells.badge(gettext("awaits a second person"), "brass"),
            ", ".join(alarms) or gettext("no alarms"),
        )

    def of_steps(self, withdrawal: Withdrawal) -> str:
        """Return the steps in one line."""
        return "; ".join(f"{step.at:%Y-%m-%d %H:%M:%S} {step.after} by {step.by}" for step in withdrawal.steps.all())

    def show_status(self, withdrawal: Withdrawal) -> str:
        """Return the state."""
        kind = "on" if withdrawal.status == WithdrawalStatus.PAID else "" if withdrawal.is_open else "off"
        return cells.badge(in_sentence(withdrawal.get_status_display()), kind)

    def show_steps(self, withdrawal: Withdrawal) -> str:
        """Return the steps, in a part of the page that opens."""
        return render_to_string("staff/withdrawals.html#steps", {"withdrawal": withdrawal}, self.request)


class LatelyDecided(Withdrawals):
    """Withdrawals that were decided last."""

    name = gettext_noop("Recently decided")
    columns = tuple(each for each in Withdrawals.columns if each.name != "checks")

    def usual_order(self) -> Order:
        """Return newest first."""
        return Order(self.key)

    def statuses(self) -> Sequence[str]:
        """Return the decided statuses."""
        return OVER


@staff_required(*READERS)
@access_log.listed("withdrawals")
@require_safe
def staff_withdrawals(request: StaffRequest) -> HttpResponse:
    """List withdrawals, by default those that await a decision."""
    listing = Withdrawals(request)
    if listing.is_file:
        return listing.file()
    lately = None if listing.form.is_used else LatelyDecided(request).first(MOST_LATELY)
    access_log.shown(request, *(lately.players_in(lately.shown) if lately else ()))
    return listing.answer("staff/withdrawals.html", {"lately": lately, "counted": counted()})


@staff_required(*READERS)
@access_log.listed("a withdrawal")
@require_safe
def staff_withdrawal(request: StaffRequest, withdrawal_id: int) -> HttpResponse:
    """Show one withdrawal: the facts and the forms of its decision, and its steps."""
    withdrawal = get_object_or_404(Withdrawals(request).found(), pk=withdrawal_id)
    case = next(iter(cases([withdrawal])), None)
    access_log.shown(request, withdrawal, case)
    context = {
        "w": withdrawal,
        "case": case,
        "reasons": [(code, str(message)) for code, message in REASONS.items()],
        "person": request.staff.person,
        "visibility": VISIBLE_TO_PLAYER,
    }
    return render(request, "staff/withdrawal.html", context)


class ReleaseForm(forms.Form):
    """Reason for the release of a held withdrawal."""

    reason = forms.CharField(max_length=300, strip=True)


@staff_required(releases.RELEASE)
@require_POST
def staff_withdrawal_release(request: StaffRequest, withdrawal_id: int) -> HttpResponse:
    """Request the release of a held withdrawal, which a second person decides."""
    form = ReleaseForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded."))
        return _back(request)
    try:
        asked = releases.ask(withdrawal_id=withdrawal_id, reason=form.cleaned_data["reason"], by=request.staff)
    except (withdrawals.WithdrawalError, ApprovalError) as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request,
            (
                gettext("Requested. A second person must approve request %(asked)s under Approvals.")
                % {"asked": asked.pk}
            ),
        )
    return _back(request)


@staff_required(APPROVERS)
@require_POST
def staff_withdrawal_decide(request: StaffRequest, withdrawal_id: int) -> HttpResponse:
    """Approve or refuse a withdrawal, with a reason."""
    form = DecisionForm(request.POST)
    if not form.is_valid():
        messages.error(request, _fault(form))
        return _back(request)
    try:
        decided = _decide(request, withdrawal_id, form)
    except (withdrawals.WithdrawalError, ApprovalError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _message(decided))
    return _back(request)


def _back(request: StaffRequest) -> HttpResponse:
    """Redirect to the list with its filter."""
    filters = {
        name: request.GET[name] for name in (*QueueForm.base_fields, ORDER, BEFORE, AFTER) if request.GET.get(name)
    }
    return redirect(f"{reverse('staff_withdrawals')}{'?' if filters else ''}{urlencode(filters)}")


def _decide(request: StaffRequest, withdrawal_id: int, form: DecisionForm) -> Withdrawal:
    said, by = form.cleaned_data, str(request.staff)
    if said["action"] == "refuse":
        return withdrawals.refuse(withdrawal_id=withdrawal_id, by=by, code=said["code"], note=said["reason"])
    return withdrawals.approve(withdrawal_id=withdrawal_id, by=by, person=request.staff.person, reason=said["reason"])


def _fault(form: DecisionForm) -> str:
    if "reason" in form.errors:
        return gettext("Enter a reason. It is recorded.")
    return (
        gettext("Choose the reason that is shown to the player.")
        if "code" in form.errors
        else gettext("Choose Approve or Refuse.")
    )


def _message(decided: Withdrawal) -> str:
    if decided.status == WithdrawalStatus.SECONDING:
        return gettext(
            "Withdrawal %(decided)s is approved by you. A second person must approve it under Approvals."
        ) % {"decided": decided.pk}
    return gettext("Withdrawal %(decided)s is %(status)s.") % {
        "decided": decided.pk,
        "status": in_sentence(decided.get_status_display()),
    }
