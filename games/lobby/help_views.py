"""The help pages, readable without an account: the list of games, and each game's rules."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from games.help import game_lines, rules_page
from games.lobby.selectors import playable_table
from games.variants import GAMES
from players.login.current_user import player_of


@require_safe
def help_index(request: HttpRequest) -> HttpResponse:
    """Every game of the house in a sentence, with the way to its rules."""
    return render(request, "games/help/index.html", {"games": game_lines(get_language())})


@require_safe
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """The rules of a game, with every figure from the engine."""
    if slug not in GAMES:
        raise Http404
    table = playable_table(slug, player_of(request.user))
    return render(request, "games/rules.html", {"page": rules_page(GAMES[slug], get_language()), "table": table})
