"""The way in for an operator's player, an address that logs a browser in, once, and leads to the table; and the
balance that the operator reports for them.
"""

from http import HTTPStatus

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import override
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from games.models import Table
from games.solo.operator_money import balance_there
from games.tables.access import at_a_playable_table
from players import registration
from players.access import PlayerRequest, made_by_the_page, player_required
from players.login import account_locks
from players.login.current_user import session_of
from wallet.models import Mode
from wallet.operator_wallet import launches


@made_by_the_page
@player_required
@require_safe
@never_cache
@at_a_playable_table
def remote_balance(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Answer a page that asks by itself what an operator says its player has."""
    there = balance_there(request.player, found, mode)
    if there is None:
        raise Http404
    return render(request, "games/_balance_there.html", {"there": there})


@never_cache
@require_GET
def remote_enter(request: HttpRequest, code: str) -> HttpResponse:
    """Log in whoever an operator has announced, and lead them to the table; nobody else stays logged in here."""
    launch = launches.use(code)
    if launch is None:
        return render(request, "games/visit_over.html", status=HTTPStatus.NOT_FOUND)
    player = launch.remote.player
    if account_locks.lock_of(player):
        context = {"support": settings.SUPPORT_EMAIL}
        return render(request, "account/locked.html", context, status=HTTPStatus.FORBIDDEN)
    if not player.user.is_active:
        return render(request, "account/closed.html", status=HTTPStatus.FORBIDDEN)
    adapter = get_adapter(request)
    if request.user.is_authenticated:
        adapter.logout(request)
    registration.choose_language(user=player.user, language=launch.language)
    adapter.login(request, player.user)
    session = session_of(request.session)
    if session is not None:
        launches.begin(launch, session)
    with override(launch.language):
        return redirect("table", slug=launch.game, mode=Mode.REAL)
