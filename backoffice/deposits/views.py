"""Pages of deposits in doubt, for finance. No form here credits money."""

from datetime import timedelta
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from audit.reports.requests import clock
from backoffice.deposits import exceptions
from backoffice.deposits.exceptions import NAMES, Doubt
from players.access import StaffRequest, actor, staff_required
from players.staff import access_log
from wallet.models import Payment

HANDLE = "wallet.handle_deposit"
READERS = (HANDLE, "wallet.see_deposits")


class DoubtForm(forms.Form):
    """Filter of deposits, and the cursor from the previous page."""

    doubt = forms.ChoiceField(required=False, choices=[(str(doubt), name) for doubt, name in NAMES.items()])
    settled = forms.BooleanField(required=False, label="Also those that were settled")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)


class NoteForm(forms.Form):
    """Note about a deposit, and whether it settles the doubt."""

    words = forms.CharField(
        max_length=1000,
        label="What you found out",
        widget=forms.Textarea(attrs={"rows": 3}),
        error_messages={"required": "Write what you found out: it is kept on record."},
    )
    settles = forms.BooleanField(required=False, label="This settles it: take it off the list")


@staff_required(*READERS)
@access_log.listed("deposits in doubt")
@require_safe
def staff_deposits(request: StaffRequest) -> HttpResponse:
    """List deposits in doubt."""
    form = DoubtForm(request.GET)
    form.full_clean()
    doubt = Doubt(form.cleaned_data.get("doubt") or Doubt.OPEN)
    page = exceptions.find(
        doubt,
        settled_too=form.cleaned_data.get("settled", False),
        mark=form.cleaned_data.get("before"),
    )
    access_log.shown(request, page.payments)
    context = {
        "form": form,
        "doubt": doubt,
        "name": NAMES[doubt],
        "page": page,
        "older": page.further,
        "counted": exceptions.counted(),
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
        payment, is_answered = exceptions.ask_again(payment_id, by=actor(request))
    except Payment.DoesNotExist as error:
        raise Http404 from error
    if is_answered:
        messages.success(request, f"The provider answered. The deposit is {payment.get_state_display().lower()}.")
    else:
        messages.warning(request, "The provider gave no answer. That is on record; nothing has changed.")
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
        written = exceptions.note(payment_id, by=actor(request), **form.cleaned_data)
    except exceptions.CannotSettle as error:
        form.add_error("settles", f"{error} Nothing was kept.")
        return _page(request, payment_id, form)
    except Payment.DoesNotExist as error:
        raise Http404 from error
    messages.success(request, "Settled." if written.settles else "Noted.")
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
    found = exceptions.doubts_of(payment, clock())
    access_log.shown(request, payment)
    context = {
        "payment": payment,
        "doubts": found,
        "why_not_settled": exceptions.why_not_settled(found),
        "asks": asks_after(),
        "gives_up_at": payment.begun_at + timedelta(seconds=settings.PAYMENT_GIVE_UP_SECONDS),
        "said": exceptions.last_said(payment),
        "notices": payment.notices.order_by("pk"),
        "notes": payment.notes.order_by("pk"),
        "form": form,
    }
    return render(request, "staff/deposit.html", context)
