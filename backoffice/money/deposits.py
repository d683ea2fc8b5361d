"""Pages and queries of deposits in doubt, for finance. No form here credits money without a second person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_POST, require_safe

from audit import approvals, log
from audit.reports.kinds import Column, Form
from audit.reports.requests import clock
from audit.staff_text import in_sentence
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.paging import Order
from backoffice.lists.staff_list import StaffList
from players.access import StaffRequest, staff_required
from players.login.current_user import actor
from players.staff import access_log
from wallet.models import DepositNote, NoticePath, Payment, PaymentNotice, PaymentState, status_label
from wallet.payments import held_deposits, notifications
from wallet.payments.held_deposits import Action
from wallet.payments.notifications import locked

MOST_COUNTED: Final = 1000
AGAINST: Final = ("contradicted", "mismatched")  # decisions about a notice that contradicts a credited deposit


class CannotSettle(Exception):
    """A note cannot settle this doubt, or there is no doubt.

    The message is a sentence for staff.
    """


class Doubt(StrEnum):
    """Reason for which a deposit is in doubt."""

    OPEN = "open"  # not ended although its time is over, or the provider contradicted itself and was not queried since
    AMOUNT = "amount"  # the provider, when queried, insists on another amount or currency; nothing was credited
    HELD = "held"  # the money has arrived, but may not be credited, and is not sent back yet
    CONTRADICTED = "contradicted"  # the money was credited, and the provider contradicted that later


NAMES: Final = {
    Doubt.OPEN: gettext_lazy("Overdue or disputed"),
    Doubt.AMOUNT: gettext_lazy("Amount differs, not credited"),
    Doubt.HELD: gettext_lazy("Arrived, not credited, to be sent back"),
    Doubt.CONTRADICTED: gettext_lazy("Credited, then reversed by the provider"),
}


@dataclass(frozen=True)
class Found:
    """Reason for which a deposit is in doubt, and whether staff have settled it."""

    doubt: Doubt
    is_settled: bool

    @property
    def name(self) -> str:
        """Name of the doubt on a page."""
        return str(NAMES[self.doubt])


@dataclass(frozen=True)
class Said:
    """The provider's last report about a payment, in the provider's own terms."""

    word: str
    amount: int | None  # minor units
    currency: str


def in_doubt(doubt: Doubt, *, settled_too: bool = False) -> QuerySet[Any]:
    """Return the deposits in doubt; for contradicted ones, the provider's last notice of each.

    A settling note ends a doubt about a decided deposit until the provider sends a new message. An
    open deposit is settled by the provider, or by the house when it gives up. Each doubt uses a
    partial index that holds only deposits that are or were in doubt.
    """
    if doubt is Doubt.OPEN:
        late = Q(state=PaymentState.WAITING, begun_at__lt=clock() - timedelta(seconds=settings.PAYMENT_GIVE_UP_SECONDS))
        return Payment.objects.filter(Q(is_disputed=True) | late).select_related("player")
    if doubt is Doubt.AMOUNT:
        found = Payment.objects.filter(state=PaymentState.ERROR).select_related("player")
        return found if settled_too else found.exclude(_settled("pk", "decided_at"))
    if doubt is Doubt.HELD:
        return Payment.objects.filter(state=PaymentState.HELD).select_related("player")
    said = PaymentNotice.objects.filter(decision__in=AGAINST)
    later = said.filter(payment=OuterRef("payment"), pk__gt=OuterRef("pk"))
    last = said.filter(~Exists(later), payment__state=PaymentState.CREDITED, at__gt=F("payment__decided_at"))
    last = last.select_related("payment__player")
    return last if settled_too else last.exclude(_settled("payment", "at"))


def _settled(payment: str, since: str) -> Exists:
    return Exists(DepositNote.objects.filter(payment=OuterRef(payment), settles=True, at__gte=OuterRef(since)))


def counted() -> Sequence[tuple[Doubt, str, int, bool]]:
    """Return each doubt: name, number of deposits, whether the counting stopped early."""
    counts = {doubt: in_doubt(doubt)[: MOST_COUNTED + 1].count() for doubt in Doubt}
    return [
        (doubt, str(NAMES[doubt]), min(count, MOST_COUNTED), count > MOST_COUNTED) for doubt, count in counts.items()
    ]


def faults_of(payment: Payment, now: datetime) -> list[Found]:
    """Return why a deposit is in doubt at *now*, settled or not."""
    found = []
    long = (now - payment.begun_at).total_seconds() > settings.PAYMENT_GIVE_UP_SECONDS
    if payment.is_disputed or (payment.state == PaymentState.WAITING and long):
        found.append(Found(Doubt.OPEN, is_settled=False))
    if payment.state == PaymentState.ERROR:
        found.append(Found(Doubt.AMOUNT, _is_settled(payment, payment.decided_at)))
    if payment.state == PaymentState.HELD:
        found.append(Found(Doubt.HELD, is_settled=False))
    if payment.state == PaymentState.CREDITED and (otherwise := _said_otherwise(payment)):
        found.append(Found(Doubt.CONTRADICTED, _is_settled(payment, otherwise)))
    return found


def why_not_settled(found: Sequence[Found]) -> str:
    """Return the reason why a note cannot settle the deposit; "" if it can."""
    if any(each.doubt is Doubt.OPEN for each in found):
        return gettext(
            "It cannot be settled manually while the provider’s decision is pending. It leaves the "
            "list when the provider answers or the deposit expires."
        )
    if any(each.doubt is Doubt.HELD for each in found):
        return gettext("It leaves the list when the money is sent back or two people have decided.")
    return "" if any(not each.is_settled for each in found) else gettext("Nothing to settle.")


def _said_otherwise(payment: Payment) -> datetime | None:
    """Return when the provider last contradicted a credited deposit, None if it never did."""
    against = PaymentNotice.objects.filter(payment=payment, decision__in=AGAINST)
    return against.filter(at__gt=payment.decided_at).aggregate(last=Max("at"))["last"]


def _is_settled(payment: Payment, since: datetime | None) -> bool:
    return payment.notes.filter(settles=True, at__gte=since).exists()


def last_said(payment: Payment) -> Said | None:
    """Return what the provider last said about a payment, None if it has said nothing."""
    if not payment.notices.exclude(word="").exists():
        return None
    said = getattr(payment.attrs, "said", None) or {}
    return Said(status_label(payment.status), said.get("amount"), said.get("currency", payment.currency))


@transaction.atomic
def ask_again(payment_id: UUID, *, by: str) -> tuple[Payment, bool]:
    """Query the provider about a payment now, and apply its answer.

    Returns the payment afterwards, and whether the provider answered. Raises Payment.DoesNotExist.
    """
    before = locked(payment_id)
    heard = PaymentNotice.objects.filter(payment=before, path=NoticePath.QUERY)
    count = heard.count()
    data: dict[str, log.Json] = {"payment": str(payment_id), "provider": before.variant, "state": before.state}
    log.record("deposit.asked_about", by=by, on=str(before.player), data=data)
    after = notifications.ask_about(payment_id)
    return after, heard.count() > count


@transaction.atomic
def note(payment_id: UUID, *, text: str, settles: bool, by: str) -> DepositNote:
    """Store a staff note about a deposit. A note that *settles* ends the doubt.

    Raises Payment.DoesNotExist, CannotSettle.
    """
    payment = locked(payment_id)
    if settles and (why_not := why_not_settled(faults_of(payment, clock()))):
        raise CannotSettle(why_not)
    written = DepositNote.objects.create(payment=payment, text=text, settles=settles, by=by)
    data: dict[str, log.Json] = {"payment": str(payment_id), "text": text, "settles": settles}
    log.record("deposit.noted", by=by, on=str(payment.player), data=data)
    return written


HANDLE = "wallet.handle_deposit"
READERS = (HANDLE, "wallet.see_deposits")


class DoubtForm(ListForm):
    """Filter of deposits."""

    doubt = forms.ChoiceField(
        label=gettext_lazy("Kind"), required=False, choices=[(str(doubt), name) for doubt, name in NAMES.items()]
    )
    settled = forms.BooleanField(required=False, label=gettext_lazy("Include settled"))


class NoteForm(forms.Form):
    """Note about a deposit, and whether it settles the doubt."""

    text = forms.CharField(
        max_length=1000,
        label=gettext_lazy("Note"),
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": gettext_lazy("Enter a note. It is recorded.")},
    )
    settles = forms.BooleanField(required=False, label=gettext_lazy("Mark as settled"))


class HeldForm(forms.Form):
    """Request of a decision about a held deposit, or about one that is stuck at its provider."""

    action = forms.ChoiceField(label=gettext_lazy("Decision"))
    reference = forms.CharField(
        max_length=64, required=False, label=gettext_lazy("Provider’s number of the transfer, if it was sent back")
    )
    reason = forms.CharField(
        max_length=300,
        label=gettext_lazy("Reason"),
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )

    def __init__(self, payment: Payment, *args: Any) -> None:
        """Offer what can be decided about *payment*."""
        super().__init__(*args)
        is_held = payment.state == PaymentState.HELD
        offered = (Action.RETURN, Action.CREDIT) if is_held else (Action.EXPIRE,)
        action = cast("forms.ChoiceField", self.fields["action"])
        action.choices = [(each.value, held_deposits.LABELS[each]) for each in offered]
        if not is_held:
            del self.fields["reference"]


class Exceptions(StaffList):
    """Deposits with one kind of doubt, longest in doubt first."""

    model = Payment
    name = gettext_noop("Deposit exceptions")
    players = ("player_id",)
    form_class = DoubtForm
    is_rising = True
    columns = (
        Column("id", "Deposit"),
        Column("begun_at", "Started", Form.TIME),
        Column("player", "Player"),
        Column("amount", "Amount", Form.MONEY),
        Column("variant", "Provider"),
        Column("state", "State"),
        Column("asked_at", "Last queried", Form.TIME),
    )
    file_columns = (*columns[:4], Column("currency", "Currency"), *columns[4:])
    currency = "currency"
    links = {"id": ("staff_deposit", "payment_id", "pk")}
    empty = gettext_noop("No deposits with this exception.")
    unmatched = empty

    @property
    def doubt(self) -> Doubt:
        """The doubt asked for."""
        return Doubt(self.asked.get("doubt") or Doubt.OPEN)

    def found(self) -> QuerySet[Any]:
        """Return the deposits, or the notices that contradict them."""
        return in_doubt(self.doubt, settled_too=self.asked.get("settled", False))

    def usual_order(self) -> Order:
        """Return the order of the doubt's index."""
        return Order(("id",) if self.doubt is Doubt.CONTRADICTED else ("begun_at", "id"), is_rising=True)

    def items(self, rows: Sequence[Payment | PaymentNotice]) -> Sequence[Payment]:
        """Return the deposits."""
        return [cast("Payment", row.payment) if isinstance(row, PaymentNotice) else row for row in rows]

    def show_id(self, payment: Payment) -> str:
        """Return the beginning of the id with a link."""
        return cells.link(self.urls_of(payment)["id"], f"{str(payment.pk)[:8]}…", "num")

    def show_state(self, payment: Payment) -> str:
        """Return the state, and whether the deposit is disputed."""
        kind = {PaymentState.CREDITED: "on", PaymentState.ERROR: "off", PaymentState.HELD: "off"}.get(
            PaymentState(payment.state), ""
        )
        state = cells.badge(in_sentence(payment.get_state_display()), kind)
        return cells.joined(state, cells.badge(gettext("disputed"), "off") if payment.is_disputed else "")

    def show_asked_at(self, payment: Payment) -> str:
        """Return when the provider was last queried."""
        return cells.moment(payment.asked_at, gettext("never"))


@staff_required(*READERS)
@access_log.listed("deposit exceptions")
@require_safe
def staff_deposits(request: StaffRequest) -> HttpResponse:
    """List deposit exceptions: without a filter, those of the first kind that has any."""
    counts = counted()
    first = next((doubt for doubt, _name, count, _is_more in counts if count), Doubt.OPEN)
    if not request.GET and first is not Doubt.OPEN:
        return redirect(f"{reverse('staff_deposits')}?doubt={first}")
    listing = Exceptions(request)
    context = {"doubt": listing.doubt, "title": NAMES[listing.doubt], "counted": counts, "asks": asks_after()}
    return listing.answer("staff/deposits.html", context)


@staff_required(*READERS)
@access_log.listed("a deposit")
@require_safe
def staff_deposit(request: StaffRequest, payment_id: UUID) -> HttpResponse:
    """Show one deposit and every message of the provider about it."""
    return _page(request, payment_id, NoteForm())


@staff_required(HANDLE)
@require_POST
def staff_deposit_ask(request: StaffRequest, payment_id: UUID) -> HttpResponse:
    """Query the provider now."""
    try:
        payment, is_answered = ask_again(payment_id, by=actor(request))
    except Payment.DoesNotExist as error:
        raise Http404 from error
    if is_answered:
        messages.success(
            request,
            (
                gettext("The provider answered. The deposit is %(state)s.")
                % {"state": in_sentence(payment.get_state_display())}
            ),
        )
    else:
        messages.warning(request, gettext("The provider did not answer. The deposit is unchanged."))
    return redirect("staff_deposit", payment_id)


@staff_required(HANDLE)
@access_log.listed("a deposit")
@require_POST
def staff_deposit_note(request: StaffRequest, payment_id: UUID) -> HttpResponse:
    """Store a note about a deposit."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, payment_id, form)
    try:
        written = note(payment_id, by=actor(request), **form.cleaned_data)
    except CannotSettle as error:
        form.add_error("settles", (gettext("%(error)s Nothing was saved.") % {"error": error}))
        return _page(request, payment_id, form)
    except Payment.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, gettext("Settled.") if written.settles else gettext("Note saved."))
    return redirect("staff_deposit", payment_id)


@staff_required(HANDLE)
@access_log.listed("a deposit")
@require_POST
def staff_deposit_decide(request: StaffRequest, payment_id: UUID) -> HttpResponse:
    """Request a decision about a held or a stuck deposit, which a second person takes."""
    form = HeldForm(get_object_or_404(Payment, pk=payment_id), request.POST)
    if not form.is_valid():
        return _page(request, payment_id, NoteForm(), form)
    said = form.cleaned_data
    try:
        asked = held_deposits.ask(
            payment_id,
            action=Action(said["action"]),
            reference=said.get("reference", ""),
            reason=said["reason"],
            by=request.staff,
        )
    except (held_deposits.CannotDecide, approvals.AskedTwice) as error:
        form.add_error(None, str(error))
        return _page(request, payment_id, NoteForm(), form)
    messages.success(
        request,
        (gettext("Requested. A second person must approve request %(asked)s under Approvals.") % {"asked": asked.pk}),
    )
    return redirect("staff_deposit", payment_id)


def asks_after() -> tuple[str, str]:
    """Return after how long the house queries a deposit by itself, and after how long it gives up."""
    return spoken_of(settings.PAYMENT_ASK_SECONDS), spoken_of(settings.PAYMENT_GIVE_UP_SECONDS)


def spoken_of(seconds: int) -> str:
    """Return a duration in words, in minutes where it is a whole number of minutes."""
    if seconds % 60 == 0:
        return ngettext("%(count)s minute", "%(count)s minutes", seconds // 60) % {"count": seconds // 60}
    return ngettext("%(count)s second", "%(count)s seconds", seconds) % {"count": seconds}


def _page(request: StaffRequest, payment_id: UUID, form: NoteForm, held_form: HeldForm | None = None) -> HttpResponse:
    payment = get_object_or_404(Payment.objects.select_related("player"), pk=payment_id)
    found = faults_of(payment, clock())
    access_log.shown(request, payment)
    context = {
        "payment": payment,
        "faults": found,
        "held_because": held_deposits.reason_of(payment),
        "why_not_settled": why_not_settled(found),
        "asks": asks_after(),
        "gives_up_at": payment.begun_at + timedelta(seconds=settings.PAYMENT_GIVE_UP_SECONDS),
        "said": last_said(payment),
        "notices": payment.notices.order_by("pk"),
        "notes": payment.notes.order_by("pk"),
        "form": form,
        "held_form": held_form or HeldForm(payment),
        "stuck_until": held_deposits.may_expire_at(payment) if held_deposits.is_stuck(payment) else None,
        "asked": approvals.waiting().filter(kind=held_deposits.KIND, on=str(payment)).first(),
        "is_for_people": payment.held_because in held_deposits.FOR_PEOPLE,
    }
    return render(request, "staff/deposit.html", context)
