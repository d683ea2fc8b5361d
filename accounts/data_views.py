"""Views of the data export for players."""

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import did_recently_reauthenticate
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts import data_export
from audit import log, retention
from audit.models import Kept
from players.access import PlayerRequest, player_required
from players.account import closures
from players.rates import now_and_then


@player_required
@require_safe
@reauthentication_required
def account_data(request: PlayerRequest) -> HttpResponse:
    """Show retention periods and the download button, after reauthentication."""
    context = {"years": retention.years(Kept.ACCOUNT), "state": closures.state_of(request.player)}
    return render(request, "players/data.html", context)


@player_required
@require_POST
@now_and_then
def account_data_export(request: PlayerRequest) -> HttpResponseBase:
    """Send the data export, if the user reauthenticated recently.

    The file contains documents and bank accounts, and a session alone may be stolen. Otherwise
    redirect to the page, which asks for the password.
    """
    if not did_recently_reauthenticate(request):
        return redirect("account_data")
    who = str(request.player)
    ip = str(get_adapter().get_client_ip(request))
    log.record("personal.exported", by=who, on=who, data={}, personal={"ip": ip})
    response = StreamingHttpResponse(data_export.export(request.player), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="sabot.zip"'
    return response
