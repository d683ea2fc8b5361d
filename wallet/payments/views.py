"""Deposit pages for the player, and the URLs that providers and banks call."""

import logging
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Max
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect
from payments.core import BasicProvider

from audit.reports.requests import clock
from players import rates
from players.access import PlayerRequest, made_by_the_page, player_required
from players.protection import eligibility
from players.rates import address_of, at_a_human_pace
from wallet import payouts
from wallet.models import NoticePath, Payment, PaymentNotice, PaymentState
from wallet.models.payments import READ_IN
from wallet.money import format_money
from wallet.payments import notifications, providers
from wallet.payments.notifications import Decision
from wallet.sandbox_bank.orders import HEADER

JUST_BACK: Final = timedelta(seconds=10)

LEADS_TO: Final = "deposit_leads_to"  # in the session: id of the latest deposit from a table -> path of the table

logger = logging.getLogger(__name__)


@player_required
@require_safe
def cashier_payment(request: PlayerRequest, payment_id: UUID) -> HttpResponse:
    """Show the state of one of the player's deposits."""
    return _page(request, payment_id, "wallet/payment.html")


@made_by_the_page
@player_required
@require_safe
def cashier_payment_state(request: PlayerRequest, payment_id: UUID) -> HttpResponse:
    """Return the state for a page that polls. Polling does not count as activity of the player."""
    return _page(request, payment_id, "wallet/payment.html#payment")


@player_required
@require_safe
@at_a_human_pace
def cashier_payment_bank(request: PlayerRequest, payment_id: UUID) -> HttpResponse:
    """Redirect to the provider's page while the payment can be paid."""
    payment = _theirs(request, payment_id)
    if not _leads_to_bank(payment):
        return redirect("cashier_payment", payment_id=payment_id)
    try:
        return redirect(providers.page(payment))
    except (providers.NoProvider, providers.ProviderFailed):
        messages.error(request, _("The bank cannot be reached right now. No money was taken. Try again later."))
        return redirect("cashier_payment", payment_id=payment_id)


@csrf_exempt
@require_POST
@at_a_human_pace
def pay_callback(request: HttpRequest, provider: str) -> HttpResponse:
    """Process a provider's message if its signature is valid."""
    try:
        speaker = providers.provider(provider)
    except providers.NoProvider as error:
        raise Http404 from error
    raw = request.body
    try:
        token = providers.guarded(lambda: speaker.get_token_from_request(None, request))
    except providers.ProviderFailed:
        _keep(request, provider, NoticePath.CALLBACK, raw, Decision.REFUSED)
        return JsonResponse({"taken": False}, status=HTTPStatus.BAD_REQUEST)
    payment = Payment.objects.filter(token=token, variant=provider).first()
    if payment is None:
        _keep(request, provider, NoticePath.CALLBACK, raw, Decision.UNKNOWN)
        return JsonResponse({"taken": False}, status=HTTPStatus.NOT_FOUND)
    return _take(request, speaker, payment, NoticePath.CALLBACK, raw)


@csrf_exempt
@require_http_methods(["GET", "POST"])
@at_a_human_pace
def pay_return(request: HttpRequest, token: UUID) -> HttpResponse:
    """Receive a player redirected back by the provider. Some providers send the result this way."""
    payment = Payment.objects.select_related("player__user").filter(token=token).first()
    if payment is None:
        raise Http404
    try:
        speaker = providers.provider(payment.variant)
    except providers.NoProvider as error:
        raise Http404 from error
    with override(_language(request, payment)):
        return _take(request, speaker, payment, NoticePath.RETURN, request.body or request.get_full_path().encode())


@transaction.atomic
def _take(request: HttpRequest, speaker: BasicProvider, payment: Payment, path: NoticePath, raw: bytes) -> HttpResponse:
    """Let the provider read a message, apply it, and return the provider's response."""
    payment = notifications.locked(payment.pk)
    try:
        answer, status_report = providers.guarded(
            lambda: (speaker.process_data(payment, request), providers.read_status(payment))
        )
    except providers.ProviderFailed:
        _keep(request, payment.variant, path, raw, Decision.REFUSED)
        return JsonResponse({"taken": False}, status=HTTPStatus.BAD_REQUEST)
    notifications.on_notice(payment, status_report, path, raw)
    return answer


def _keep(request: HttpRequest, variant: str, path: NoticePath, raw: bytes, decision: Decision) -> None:
    """Store a refused message.

    Above a rate per address and hour, only some are stored, and the count is logged.
    """
    sender = rates.address_of(request)
    times = rates.to_record("payment", sender)
    if times:
        notifications.keep(variant, path, raw, decision)
    if times > rates.FIRST:
        logger.warning("payment messages that nobody signed: %d within the hour from one address", times)


def _language(request: HttpRequest, payment: Payment) -> str:
    """Return the language in which the player began, or the account's if the provider dropped it."""
    asked = request.GET.get(READ_IN, "")
    return asked if asked in dict(settings.LANGUAGES) else payment.player.user.language


def _theirs(request: PlayerRequest, payment_id: UUID) -> Payment:
    """Return one of the player's own payments. Raises Http404."""
    payment = Payment.objects.filter(pk=payment_id, player=request.player).first()
    if payment is None:
        raise Http404
    return payment


def _page(request: PlayerRequest, payment_id: UUID, template: str) -> HttpResponse:
    """Show the payment. Once it is credited, lead back to the table that it was made for, once."""
    payment = _theirs(request, payment_id)
    after = request.session.get(LEADS_TO, {}).get(str(payment_id), "")
    if after and payment.state == PaymentState.CREDITED:
        del request.session[LEADS_TO]
        credited = format_money(payment.amount, payment.currency, get_language() or "en")
        messages.success(request, _("%(amount)s is in your account.") % {"amount": credited})
        return HttpResponseClientRedirect(after) if request.htmx else redirect(after)
    back_at = _back_at(payment)
    context = {
        "payment": payment,
        "currency": payment.currency,
        "is_back": back_at is not None,
        "after": after,
        "every": _ask_again_after(back_at),
        "leads_to_bank": _leads_to_bank(payment),
    }
    return render(request, template, context)


def _leads_to_bank(payment: Payment) -> bool:
    """Return whether the payment can still be paid: it is open, not too old, and the player may still deposit."""
    if not payment.is_open or eligibility.check_deposit(payment.player) is not None:
        return False
    return clock() < payment.begun_at + timedelta(seconds=settings.PAYMENT_GIVE_UP_SECONDS)


def _back_at(payment: Payment) -> datetime | None:
    """Return when the player last returned from the bank. Only the bank knows the result."""
    returns = PaymentNotice.objects.filter(payment=payment, path=NoticePath.RETURN)
    return returns.aggregate(latest=Max("at"))["latest"]


def _ask_again_after(back_at: datetime | None) -> str:
    """Return how long the page waits before it asks for the state again.

    Banks report within a second of the player's return. The page must not say for longer than that
    that the bank is being asked.
    """
    is_just_back = back_at is not None and clock() < back_at + JUST_BACK
    return "400ms" if is_just_back else "3s"


@csrf_exempt
@require_POST
@at_a_human_pace
def payout_callback(request: HttpRequest) -> HttpResponse:
    """Process a message.

    One that is not from the bank gets 400. The bank repeats messages that were not accepted.
    """
    try:
        said = request.headers.get(HEADER, "")
        outcome = payouts.receive(body=request.body, signature=said, sender=address_of(request))
    except payouts.NotTheBank:
        return JsonResponse({"taken": False}, status=HTTPStatus.BAD_REQUEST)
    return JsonResponse({"taken": True, "outcome": outcome.value})
