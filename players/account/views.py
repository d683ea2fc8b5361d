"""The pages of a player's account: the way to all of them, their sessions, the terms. Thin: parse, call one service or
selector, render.
"""

from contextlib import suppress
from uuid import UUID

from allauth.account.adapter import get_adapter
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from audit import log
from players.access import PlayerRequest, made_by_the_page, player_required, session_id
from players.account import terms
from players.account.home import CARDS
from players.api import tokens
from players.datetime_format import written_day
from players.login import sessions
from players.login.browsers import words
from players.models import Agreement, Player
from players.support import conversations


class NotInForce(Exception):
    """Other terms have come into force since these were shown."""


def outstanding(player: Player) -> bool:
    """Say whether the terms in force are ones that the player has not agreed to."""
    return not Agreement.objects.filter(player=player, terms_version=terms.VERSION).exists()


@transaction.atomic
def agree(*, player: Player, version: str, ip: str) -> None:
    """Keep that the player agrees to this *version* of the terms; a second time says nothing new.

    Raises NotInForce.
    """
    if version != terms.VERSION:
        raise NotInForce
    _, is_new = Agreement.objects.get_or_create(player=player, terms_version=version)
    if is_new:
        log.record("terms.agreed", by=str(player), on=str(player), data={"terms": version}, personal={"ip": ip})


@player_required
@require_safe
def account(request: PlayerRequest) -> HttpResponse:
    """The way to every page about the player."""
    cards = [card for card in CARDS if card.page != "account_programs" or tokens.may_have(request.user)]
    return render(request, "players/account.html", {"cards": cards, "unread": conversations.unread(request.player)})


@player_required
@require_safe
def account_sessions(request: PlayerRequest) -> HttpResponse:
    """Where the player is logged in."""
    here = session_id(request)
    lines = [
        {
            "session": each,
            "words": words(each.browser),
            "is_here": each.pk == here,
            "is_program": each.browser.startswith(sessions.PROGRAM),
        }
        for each in sessions.running(request.user)
    ]
    lines.sort(key=lambda line: not line["is_here"])
    return render(request, "players/sessions.html", {"lines": lines, "others": len(lines) > 1})


@player_required
@require_POST
def account_session_end(request: PlayerRequest, session: UUID) -> HttpResponse:
    """End one of the player's sessions."""
    sessions.end_one_of(user=request.user, session_id=session, ip=_ip(request))
    messages.success(request, _("That session has ended."))
    return redirect("account_sessions")


@player_required
@require_POST
def account_sessions_end(request: PlayerRequest) -> HttpResponse:
    """End all of the player's sessions but this one."""
    sessions.end_others(user=request.user, here=session_id(request), ip=_ip(request))
    messages.success(request, _("All other sessions have ended."))
    return redirect("account_sessions")


@made_by_the_page
@require_safe
def session_status(request: HttpRequest, session: UUID) -> HttpResponse:
    """How long a session has still to run, in seconds, for the page that waits for its end. Its id is known to nobody
    but its own pages and the event log, and tells nothing else.
    """
    return _status(session)


@require_POST
def session_stay(request: HttpRequest, session: UUID) -> HttpResponse:
    """Someone is still there: this counts, as any click does, for whoever is logged in."""
    return _status(session)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def terms_agree(request: PlayerRequest) -> HttpResponse:
    """The new terms, what is new in them, and a button to agree, which leads back to where the player was."""
    onward = _onward(request)
    if request.method == "POST":
        with suppress(NotInForce):  # they are shown anew, as they are now
            agree(player=request.player, version=request.POST.get("version", ""), ip=_ip(request))
    if not outstanding(request.player):
        return redirect(onward)
    language = get_language() or "en"
    context = {
        "version": terms.VERSION,
        "dated": written_day(terms.DATED, language),
        "text": terms.text(language),
        "changes": terms.changes(language),
        "next": onward,
    }
    return render(request, "players/terms_agree.html", context)


def _status(session: UUID) -> HttpResponse:
    found = sessions.standing(session)
    return JsonResponse({"left": found.left if found else 0, "why": found.why if found else ""})


def _onward(request: HttpRequest) -> str:
    asked = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return (
        asked if is_ours and asked.startswith("/") else reverse("lobby")
    )  # a word would be looked up as a page's name


def _ip(request: HttpRequest) -> str:
    return str(get_adapter().get_client_ip(request))
