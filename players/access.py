"""The fence: which pages are for players, which for staff, and what happens to whoever stands before the wrong one.

Staff never play: a staff log-in has no player, so every player page is closed to it, and the other way round.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, NoReturn, ParamSpec, cast
from urllib.parse import urlencode, urlsplit, urlunsplit
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import override
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from audit import log
from players import rates
from players.login import second_factor
from players.login.current_user import actor_of, player_of, session_of, staff_of
from players.models import Player, Staff, User

BY_THE_PAGE = "made_by_the_page"  # attribute of a view
ENDED = "ended"  # query parameter of the log-in page: there was a session, and it is over


class HouseRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


class PlayerRequest(HouseRequest):
    """A request to a player page, past the fence."""

    user: User
    player: Player


class StaffRequest(HouseRequest):
    """A request to a page of the back office, past the fence."""

    user: User
    staff: Staff


Args = ParamSpec("Args")
PlayerView = Callable[Concatenate[PlayerRequest, Args], HttpResponseBase]
StaffView = Callable[Concatenate[StaffRequest, Args], HttpResponseBase]
View = Callable[Concatenate[HttpRequest, Args], HttpResponseBase]


def player_required(view: PlayerView[Args]) -> View[Args]:
    """Let players in, as ``request.player``; ask visitors to log in; refuse staff (403)."""

    @wraps(view)
    def fenced(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_log_in(request)
        player = player_of(request.user)
        if player is None:
            _refuse(request)
        inside = cast("PlayerRequest", request)
        inside.player = player
        return view(inside, *args, **kwargs)

    return fenced


def staff_required(*permissions: str) -> Callable[[StaffView[Args]], View[Args]]:
    """Let staff in whose role has one of *permissions* (``app.codename``), as ``request.staff``, and speak English with
    them.

    Visitors are asked to log in, all others refused (403). Staff without a second factor get no further than to the
    page where they set one up.
    """

    def fence(view: StaffView[Args]) -> View[Args]:
        @wraps(view)
        def fenced(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return ask_to_log_in(request)
            staff = staff_of(request.user)
            if staff is None or not any(map(request.user.has_perm, permissions)):
                _refuse(request)
            if not second_factor.is_set_up(request.user):
                return _ask_for_a_second_factor(request)
            inside = cast("StaffRequest", request)
            inside.staff = staff
            with override("en"):
                return view(inside, *args, **kwargs)

        return fenced

    return fence


def made_by_the_page(view: View[Args]) -> View[Args]:
    """Mark a view that pages ask for by themselves, in polls and streams: a request to it is no action of anyone's, and
    no session lasts longer for it. Who asks cannot choose: the mark is the view's.
    """
    vars(view)[BY_THE_PAGE] = True
    return view


def is_made_by_the_page(view: Callable[..., object]) -> bool:
    """Say whether `made_by_the_page` marks the view."""
    return bool(getattr(view, BY_THE_PAGE, False))


def ask_to_log_in(request: HttpRequest) -> HttpResponse:
    """Lead to the log-in page and from there back to the page the visitor was looking at.

    A request from within a page, or with the cookie of a session that is no more, is told that the session has ended;
    a guest's session goes on. htmx is led by a header, since it would put a redirect's page into the fragment's place.
    """
    htmx = HtmxDetails(request)
    query = {"next": _page_before(request, htmx)}
    is_gone = settings.SESSION_COOKIE_NAME in request.COOKIES and request.session.is_empty()
    if htmx or request.method == "POST" or is_gone:
        query[ENDED] = "1"
    address = f"{reverse('account_login')}?{urlencode(query)}"
    return HttpResponseClientRedirect(address) if htmx else redirect(address)


def actor(request: HttpRequest) -> str:
    """Return what the event log calls whoever makes the request."""
    return actor_of(request.user)


def session_id(request: HttpRequest) -> UUID | None:
    """Return the id of the log-in session the request belongs to."""
    return session_of(request.session)


def _ask_for_a_second_factor(request: HttpRequest) -> HttpResponse:
    address = reverse("account_security")
    return HttpResponseClientRedirect(address) if HtmxDetails(request) else redirect(address)


def _page_before(request: HttpRequest, htmx: HtmxDetails) -> str:
    """Return path and query of the page on the visitor's screen; for a form or fragment, that of the page it is on."""
    if htmx:
        with suppress(ValueError):  # what a header says need not be an address
            return htmx.current_url_abs_path or reverse("home")
        return reverse("home")
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        return urlunsplit(urlsplit(referer)._replace(scheme="", netloc=""))
    return reverse("home")


def _refuse(request: HttpRequest) -> NoReturn:
    """Record that someone stood before the wrong page, and answer 403. Of many in an hour not each is recorded: the
    event then says the how-many-th it is.
    """
    page = request.resolver_match.view_name if request.resolver_match else ""
    who = actor(request)
    times = rates.to_record("access", who)
    if times:
        data: dict[str, log.Json] = {"method": request.method or ""}
        data |= {"times": times} if times > rates.FIRST else {}
        log.record_refusal("access.refused", by=who, on=f"page:{page}", data=data)
    raise PermissionDenied
