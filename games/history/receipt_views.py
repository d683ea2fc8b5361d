"""Receipts of the player's rounds: one, all of them page by page, and the proof of a round in the log.

The page Game logs verifies them in the browser (``static/js/verification/all_rounds.js``). Each receipt
is a signature of the dealer, so they have the rate of clicks.
"""

from http import HTTPStatus
from typing import Final
from uuid import UUID

from django import forms
from django.http import Http404, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from audit.raw_rows import fetch_all
from audit.tree import NotSealed
from audit.verification.verify import Unproven
from games.errors import DealerAway
from games.models.rounds import round_code
from games.rounds import receipts
from players.access import PlayerRequest, made_by_the_page, player_required
from players.rates import at_a_human_pace

AT_ONCE: Final = 100
PROOF: Final = "text/plain; charset=utf-8"
PLAYED: Final = """
SELECT id, round_id FROM games_participation
WHERE player_id = %s AND id < %s ORDER BY id DESC LIMIT %s
"""
NEWEST: Final = 2**63 - 1


class PageForm(forms.Form):
    """Which of the player's rounds are asked for: those with lower ids than this one."""

    before = forms.IntegerField(required=False, min_value=1, max_value=NEWEST)


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_receipts(request: PlayerRequest) -> HttpResponse:
    """Return receipts of the player's finished rounds of both kinds of money, newest first, and where to go on."""
    form = PageForm(request.GET)
    if not form.is_valid():
        return HttpResponse(status=HTTPStatus.BAD_REQUEST)
    rows = [
        tuple(row) for row in fetch_all(PLAYED, [request.player.pk, form.cleaned_data["before"] or NEWEST, AT_ONCE])
    ]
    try:
        found = receipts.receipts(request.player.pk, [round_id for _, round_id in rows])
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    older = rows[-1][0] if len(rows) == AT_ONCE else None
    return JsonResponse({"rounds": [each.as_json for each in found], "older": older})


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_receipt(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Return the receipt of one of the player's rounds, also of bets in a round that goes on."""
    try:
        found = receipts.receipt(request.player.pk, round_id)
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    if found is None:
        raise Http404
    sealed = receipts.sealed_bets(request.player.pk, round_id)
    return JsonResponse({**found.as_json, "sealed": sealed.as_json if sealed else None})


@player_required
@require_safe
@never_cache
@at_a_human_pace
def round_log_proof(request: PlayerRequest, round_id: UUID) -> HttpResponse:
    """Send the proof that one of the player's rounds is in the public log, with its receipt."""
    try:
        found = receipts.proof(request.player.pk, round_id)
    except (NotSealed, Unproven) as error:
        raise Http404 from error
    except DealerAway:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE)
    response = HttpResponse(found, content_type=PROOF)
    response["Content-Disposition"] = f'attachment; filename="round-{round_code(round_id)}.tlog-proof"'
    return response
