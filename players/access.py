"""Access control for views: decorators that separate player pages from staff pages.

Staff never play. A staff log-in has no player, so every player page refuses it. Staff pages refuse
players.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Concatenate, NoReturn, ParamSpec, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import resolve, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from audit import log
from players import rates
from players.login import second_factor
from players.login.current_user import actor, player_of, staff_of
from players.models import Player, Staff, User

BY_THE_PAGE = "made_by_the_page"  # attributes of a view
PERMISSIONS = "staff_permissions"
ENDED = "ended"  # query parameter of the log-in page: the session has ended


class HouseRequest(HttpRequest):
    """A request with the attributes that the middleware adds."""

    htmx: HtmxDetails


class PlayerRequest(HouseRequest):
    """A request that `player_required` has admitted."""

    user: User
    player: Player


class StaffRequest(HouseRequest):
    """A request that `staff_required` has admitted."""

    user: User
    staff: Staff


Args = ParamSpec("Args")
PlayerView = Callable[Concatenate[PlayerRequest, Args], HttpResponseBase]
StaffView = Callable[Concatenate[StaffRequest, Args], HttpResponseBase]
View = Callable[Concatenate[HttpRequest, Args], HttpResponseBase]


def player_required(view: PlayerView[Args]) -> View[Args]:
    """Admit players and set ``request.player``. Redirect visitors to the log-in page; refuse staff (403)."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return ask_to_log_in(request)
        player = player_of(request.user)
        if player is None:
            _refuse(request)
        inside = cast("PlayerRequest", request)
        inside.player = player
        return view(inside, *args, **kwargs)

    return checked


def staff_required(*permissions: str) -> Callable[[StaffView[Args]], View[Args]]:
    """Admit staff who have at least one of *permissions* (``app.codename``) and set ``request.staff``.

    Visitors are redirected to the log-in page; all others are refused (403). Staff without a second
    factor are redirected to the page where they set one up.
    """

    def require(view: StaffView[Args]) -> View[Args]:
        @wraps(view)
        def checked(request: HttpRequest, *args: Args.args, **kwargs: Args.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return ask_to_log_in(request)
            staff = staff_of(request.user)
            if staff is None or not any(map(request.user.has_perm, permissions)):
                _refuse(request)
            if not second_factor.is_set_up(request.user):
                return _ask_for_a_second_factor(request)
            inside = cast("StaffRequest", request)
            inside.staff = staff
            return view(inside, *args, **kwargs)

        vars(checked)[PERMISSIONS] = permissions
        return checked

    return require


def may_open(user: User, address: str) -> bool:
    """Return whether `staff_required` admits *user* to the page at *address*."""
    permissions: tuple[str, ...] = getattr(resolve(address).func, PERMISSIONS, ())
    return any(map(user.has_perm, permissions))


def made_by_the_page(view: View[Args]) -> View[Args]:
    """Mark a view that pages request automatically, in polls and streams.

    A request to such a view is not an action of the user and does not extend the session. The mark
    belongs to the view, so a client cannot choose it.
    """
    vars(view)[BY_THE_PAGE] = True
    return view


def is_made_by_the_page(view: Callable[..., object]) -> bool:
    """Return whether `made_by_the_page` marks the view."""
    return bool(getattr(view, BY_THE_PAGE, False))


def ask_to_log_in(request: HttpRequest) -> HttpResponse:
    """Redirect to the log-in page, which leads back to the page that the visitor was on.

    The log-in page says that the session has ended if the request came from within a page (htmx or
    POST) or has the cookie of a session that no longer exists. The session of a visitor goes on.
    htmx gets a header instead of a redirect, because it would put the redirected page into the
    fragment.
    """
    htmx = HtmxDetails(request)
    query = {"next": _page_before(request, htmx)}
    is_gone = settings.SESSION_COOKIE_NAME in request.COOKIES and request.session.is_empty()
    if htmx or request.method == "POST" or is_gone:
        query[ENDED] = "1"
    address = f"{reverse('account_login')}?{urlencode(query)}"
    return HttpResponseClientRedirect(address) if htmx else redirect(address)


def _ask_for_a_second_factor(request: HttpRequest) -> HttpResponse:
    address = reverse("account_security")
    return HttpResponseClientRedirect(address) if HtmxDetails(request) else redirect(address)


def _page_before(request: HttpRequest, htmx: HtmxDetails) -> str:
    """Return path and query of the page that the visitor is on.

    For a form or a fragment, this is the page that contains it.
    """
    if htmx:
        with suppress(ValueError):  # the header may hold any text
            return htmx.current_url_abs_path or reverse("home")
        return reverse("home")
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    referer = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        return urlunsplit(urlsplit(referer)._replace(scheme="", netloc=""))
    return reverse("home")


def page_after(request: HttpRequest) -> str:
    """Return the path of ours to which a form leads afterwards, as the page before it asks; or ""."""
    asked = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if is_ours and asked.startswith("/") else ""  # without the slash, it could be the name of a URL


def _refuse(request: HttpRequest) -> NoReturn:
    """Record the refusal and raise PermissionDenied (403).

    Not every refusal of the same actor within an hour is recorded. A recorded one then says how
    many there have been (``times``).
    """
    page = request.resolver_match.view_name if request.resolver_match else ""
    who = actor(request)
    times = rates.to_record("access", who)
    if times:
        data: dict[str, log.Json] = {"method": request.method or ""}
        data |= {"times": times} if times > rates.FIRST else {}
        log.record_refusal("access.refused", by=who, on=f"page:{page}", data=data)
    raise PermissionDenied
