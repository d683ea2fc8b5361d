"""Callback URL for banks' messages about payouts."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from players.rates import address_of, at_a_human_pace
from wallet import payouts
from wallet.sandbox_bank.protocol import HEADER


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
