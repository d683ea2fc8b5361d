"""Pages and queries of deposits in doubt, for finance. No form here credits money."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import connection, transaction
from django.db.models import Max
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit import log
from audit.reports.requests import clock
from players.access import StaffRequest, staff_required
from players.login.current_user import actor
from players.staff import access_log
from wallet.models import DepositNote, NoticePath, Payment, PaymentNotice, PaymentState
from wallet.payments import notifications
from wallet.payments.notifications import locked

PAGE: Final = 20
MOST_COUNTED: Final = 1000
WAITS_LONG: Final = "state = 'waiting' AND begun_at < clock_timestamp() - %(after)s * interval '1 second'"


class CannotSettle(Exception):
    """A note cannot settle this doubt, or there is no doubt.

    The message is a sentence for staff.
    """


class Doubt(StrEnum):
    """Why a deposit is in doubt."""

    OPEN = "open"  # no answer for long, or the provider contradicted itself and was not queried since
    AMOUNT = "amount"  # the provider, when queried, insists on another amount or currency; nothing was credited
    CONTRADICTED = "contradicted"  # the money was credited, and the provider contradicted that later


NAMES: Final = {
    Doubt.OPEN: "Overdue or disputed",
    Doubt.AMOUNT: "Amount differs, not credited",
    Doubt.CONTRADICTED: "Credited, then reversed by the provider",
}
# A settling note ends a doubt about a decided deposit until the provider sends a new message. An
# open deposit is settled by the provider, or by the house when it gives up. Each list uses a
# partial index that holds only deposits that are or were in doubt.
SETTLED = (
    "EXISTS (SELECT FROM wallet_deposit_note AS n WHERE n.payment_id = {payment} AND n.settles AND n.at >= {since})"
)
LISTS: Final = {
    Doubt.OPEN: f"""
        SELECT id, (extract(epoch FROM begun_at) * 1000000)::bigint AS position FROM wallet_payment
        WHERE (is_disputed OR {WAITS_LONG})
          AND begun_at > to_timestamp(0) + %(position)s * interval '1 microsecond' ORDER BY begun_at LIMIT %(limit)s
    """,  # noqa: S608  (these queries are built from constants)
    Doubt.AMOUNT: f"""
        SELECT p.id, (extract(epoch FROM p.begun_at) * 1000000)::bigint AS position FROM wallet_payment AS p
        WHERE p.state = 'error' AND p.begun_at > to_timestamp(0) + %(position)s * interval '1 microsecond'
          AND (%(all)s OR NOT {SETTLED.format(payment="p.id", since="p.decided_at")})
        ORDER BY p.begun_at LIMIT %(limit)s
    """,  # noqa: S608  (built from constants)
    Doubt.CONTRADICTED: f"""
        SELECT p.id, notice.id AS position
        FROM wallet_payment_notice AS notice JOIN wallet_payment AS p ON p.id = notice.payment_id
        WHERE notice.decision IN ('contradicted', 'mismatched') AND notice.id > %(position)s
          AND p.state = 'credited' AND notice.at > p.decided_at
          AND (%(all)s OR NOT {SETTLED.format(payment="p.id", since="notice.at")})
        ORDER BY notice.id LIMIT %(limit)s
    """,  # noqa: S608  (built from constants)
}


@dataclass(frozen=True)
class Page:
    """A page of deposits, longest in doubt first, and the next cursor (None: last page)."""

    payments: tuple[Payment, ...] = ()
    further: int | None = None


@dataclass(frozen=True)
class Found:
    """Why a deposit is in doubt, and whether staff have settled it."""

    doubt: Doubt
    is_settled: bool

    @property
    def name(self) -> str:
        """Name of the doubt on a page."""
        return NAMES[self.doubt]


@dataclass(frozen=True)
class Said:
    """What a provider last said about a payment, in its own words."""

    word: str
    amount: int | None  # minor units
    currency: str


def find(doubt: Doubt, *, settled_too: bool = False, position: int | None = None) -> Page:
    """Return a page of deposit exceptions after the cursor *position*, optionally with settled ones."""
    rows = _rows(doubt, settled_too=settled_too, position=position or 0, limit=PAGE + 1)
    numbers = [number for number, _position in rows[:PAGE]]
    found = Payment.objects.select_related("player").in_bulk(numbers)
    payments = tuple(found[number] for number in dict.fromkeys(numbers))
    return Page(payments, rows[PAGE - 1][1] if len(rows) > PAGE else None)


def counted() -> Sequence[tuple[Doubt, str, int, bool]]:
    """Return each doubt: name, number of deposits, whether the counting stopped early."""
    counts = {doubt: len(_rows(doubt, settled_too=False, position=0, limit=MOST_COUNTED + 1)) for doubt in Doubt}
    return [(doubt, NAMES[doubt], min(count, MOST_COUNTED), count > MOST_COUNTED) for doubt, count in counts.items()]


def _rows(doubt: Doubt, *, settled_too: bool, position: int, limit: int) -> list[tuple[UUID, int]]:
    asked = {"all": settled_too, "position": position, "limit": limit, "after": settings.PAYMENT_ASK_SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(LISTS[doubt], asked)
        return cursor.fetchall()


def faults_of(payment: Payment, now: datetime) -> list[Found]:
    """Return why a deposit is in doubt at *now*, settled or not."""
    found = []
    long = (now - payment.begun_at).total_seconds() > settings.PAYMENT_ASK_SECONDS
    if payment.is_disputed or (payment.state == PaymentState.WAITING and long):
        found.append(Found(Doubt.OPEN, is_settled=False))
    if payment.state == PaymentState.ERROR:
        found.append(Found(Doubt.AMOUNT, _is_settled(payment, payment.decided_at)))
    if payment.state == PaymentState.CREDITED and (otherwise := _said_otherwise(payment)):
        found.append(Found(Doubt.CONTRADICTED, _is_settled(payment, otherwise)))
    return found


def why_not_settled(found: Sequence[Found]) -> str:
    """Return the reason why a note cannot settle the deposit; "" if it can."""
    if any(each.doubt is Doubt.OPEN for each in found):
        return (
            "It cannot be settled manually while the provider’s decision is pending. It leaves the list when the"
            " provider answers or the deposit expires."
        )
    return "" if any(not each.is_settled for each in found) else "Nothing to settle."


def _said_otherwise(payment: Payment) -> datetime | None:
    """Return when the provider last contradicted a credited deposit, None if it never did."""
    against = PaymentNotice.objects.filter(payment=payment, decision__in=("contradicted", "mismatched"))
    return against.filter(at__gt=payment.decided_at).aggregate(last=Max("at"))["last"]


def _is_settled(payment: Payment, since: datetime | None) -> bool:
    return payment.notes.filter(settles=True, at__gte=since).exists()


def last_said(payment: Payment) -> Said | None:
    """Return what the provider last said about a payment, None if it has said nothing."""
    if not payment.notices.exclude(word="").exists():
        return None
    said = getattr(payment.attrs, "said", None) or {}
    return Said(payment.get_status_display(), said.get("amount"), said.get("currency", payment.currency))


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
def note(payment_id: UUID, *, words: str, settles: bool, by: str) -> DepositNote:
    """Store a staff note about a deposit. A note that *settles* ends the doubt.

    Raises Payment.DoesNotExist, CannotSettle.
    """
    payment = locked(payment_id)
    if settles and (why_not := why_not_settled(faults_of(payment, clock()))):
        raise CannotSettle(why_not)
    written = DepositNote.objects.create(payment=payment, words=words, settles=settles, by=by)
    data: dict[str, log.Json] = {"payment": str(payment_id), "words": words, "settles": settles}
    log.record("deposit.noted", by=by, on=str(payment.player), data=data)
    return written


HANDLE = "wallet.handle_deposit"
READERS = (HANDLE, "wallet.see_deposits")


class DoubtForm(forms.Form):
    """Filter of deposits, and the cursor from the previous page."""

    doubt = forms.ChoiceField(required=False, choices=[(str(doubt), name) for doubt, name in NAMES.items()])
    settled = forms.BooleanField(required=False, label="Include settled")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


class NoteForm(forms.Form):
    """Note about a deposit, and whether it settles the doubt."""

    words = forms.CharField(
        max_length=1000,
        label="Note",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Enter a note. It is recorded."},
    )
    settles = forms.BooleanField(required=False, label="Mark as settled")


@staff_required(*READERS)
@access_log.listed("deposit exceptions")
@require_safe
def staff_deposits(request: StaffRequest) -> HttpResponse:
    """List deposit exceptions."""
    form = DoubtForm(request.GET)
    form.full_clean()
    doubt = Doubt(form.cleaned_data.get("doubt") or Doubt.OPEN)
    page = find(
        doubt,
        settled_too=form.cleaned_data.get("settled", False),
        position=form.cleaned_data.get("before"),
    )
    access_log.shown(request, page.payments)
    context = {
        "form": form,
        "doubt": doubt,
        "name": NAMES[doubt],
        "page": page,
        "older": page.further,
        "counted": counted(),
        "asks": asks_after(),
    }
    return render(request, "staff/deposits.html", context)


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
        messages.success(request, f"The provider answered. The deposit is {payment.get_state_display().lower()}.")
    else:
        messages.warning(request, "The provider did not answer. The deposit is unchanged.")
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
        form.add_error("settles", f"{error} Nothing was saved.")
        return _page(request, payment_id, form)
    except Payment.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, "Settled." if written.settles else "Note saved.")
    return redirect("staff_deposit", payment_id)


def asks_after() -> tuple[str, str]:
    """Return after how long the house queries a deposit by itself, and after how long it gives up."""
    return spoken_of(settings.PAYMENT_ASK_SECONDS), spoken_of(settings.PAYMENT_GIVE_UP_SECONDS)


def spoken_of(seconds: int) -> str:
    """Return a duration in words, in minutes where it is a whole number of minutes."""
    count, unit = (seconds // 60, "minute") if seconds % 60 == 0 else (seconds, "second")
    return f"{count} {unit}{'' if count == 1 else 's'}"


def _page(request: StaffRequest, payment_id: UUID, form: NoteForm) -> HttpResponse:
    payment = get_object_or_404(Payment.objects.select_related("player"), pk=payment_id)
    found = faults_of(payment, clock())
    access_log.shown(request, payment)
    context = {
        "payment": payment,
        "faults": found,
        "why_not_settled": why_not_settled(found),
        "asks": asks_after(),
        "gives_up_at": payment.begun_at + timedelta(seconds=settings.PAYMENT_GIVE_UP_SECONDS),
        "said": last_said(payment),
        "notices": payment.notices.order_by("pk"),
        "notes": payment.notes.order_by("pk"),
        "form": form,
    }
    return render(request, "staff/deposit.html", context)
