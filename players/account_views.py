"""The pages of a player's account. Thin: parse, call one service or selector, render."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from players.access import PlayerRequest, player_required
from players.hub import CARDS


@player_required
@require_safe
def account(request: PlayerRequest) -> HttpResponse:
    """The way to every page about the player."""
    return render(request, "players/account.html", {"cards": CARDS})
