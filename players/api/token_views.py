"""Views of a player's API tokens: list, create, revoke."""

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from players.access import PlayerRequest, player_required
from players.api import tokens
from players.api.token_forms import ONCE, NewTokenForm, make, scope_labels
from players.login.current_user import actor_of


@player_required
@require_safe
def account_api_tokens(request: PlayerRequest) -> HttpResponse:
    """List the player's valid tokens."""
    _demand_theirs(request)
    lines = [(token, scope_labels(token)) for token in tokens.running(request.user)]
    return render(request, "players/api_tokens.html", {"lines": lines, "is_full": len(lines) >= tokens.MOST})


@player_required
@reauthentication_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def account_api_token_new(request: PlayerRequest) -> HttpResponse:
    """Create a token and show its key once."""
    _demand_theirs(request)
    form = NewTokenForm(request.user, request.POST or None)
    if not form.is_valid():
        return render(request, "players/api_token_new.html", {"form": form})
    try:
        made = make(request.user, form.cleaned_data, ip=_ip(request))
    except tokens.TooMany:
        messages.error(
            request, _("You have reached the maximum number of tokens. First revoke one that you no longer use.")
        )
        return redirect("account_programs")
    if made is None:
        messages.warning(request, ONCE)
        return redirect("account_programs")
    token, key = made
    return render(request, "players/api_token_made.html", {"token": token, "key": key, "words": scope_labels(token)})


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def account_api_token_revoke(request: PlayerRequest, token_id: int) -> HttpResponse:
    """Ask for confirmation and revoke a token of the player."""
    token = get_object_or_404(tokens.running(request.user), pk=token_id)
    if request.method != "POST":
        return render(request, "players/api_token_revoke.html", {"token": token})
    tokens.revoke(token_id=token.pk, by=actor_of(request.user), ip=_ip(request))
    messages.success(request, _("The token is revoked. No API client can use it any more."))
    return redirect("account_programs")


def _demand_theirs(request: PlayerRequest) -> None:
    """Raises Http404 if the player may have no tokens."""
    if not tokens.may_have(request.user):
        raise Http404


def _ip(request: HttpRequest) -> str:
    return str(get_adapter().get_client_ip(request))
