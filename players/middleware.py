"""Middleware for log-in sessions: end of idle sessions, and local time zone."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from players.access import is_made_by_the_page
from players.login import sessions
from players.login.current_user import player_of, session_of
from players.login.sessions import SessionStore
from players.login.who_asks import is_confirmed
from players.models import Ended

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class Sessions(SessionMiddleware):
    """Django's sessions, but only a log-out takes a browser's cookie away.

    A log-in gives the browser another session. A request that it sent a moment before, such as that for the service
    worker, still has the old one: if its answer removed the cookie, the browser would lose the log-in.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Leave the cookie of a session that is gone."""
        if request.session.is_empty() and not request.session.modified:
            if request.session.accessed:
                patch_vary_headers(response, ("Cookie",))
            return response
        return super().process_response(request, response)


class SessionTime:
    """Logs out users whose session has ended, and stores the time of actions.

    Sets ``request.log_in``, a `sessions.SessionState`, for a logged-in user. Sessions of visitors (demo
    games) have no time limit and are not checked.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Check the session before other code reads ``request.user``."""
        if settings.SESSION_COOKIE_NAME in request.COOKIES and SESSION_KEY in request.session:
            _load_session(request)
        return self._get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Store the time of the action, unless the page made the request automatically."""
        log_in = getattr(request, "log_in", None)
        if log_in and not is_made_by_the_page(view):
            sessions.act(log_in)


def show_local_time(get_response: GetResponse) -> GetResponse:
    """Show dates and times to players in the time zone of their jurisdiction; staff and visitors see UTC.

    Decisions use UTC in any case, and so does streamed content.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        player = player_of(request.user)
        with timezone.override(player.jurisdiction.time_zone if player else None):
            return get_response(request)

    return middleware


def _load_session(request: HttpRequest) -> None:
    known, asker = session_of(request.session), cast("SessionStore", request.session).asker
    if asker and is_confirmed(asker, request.session):
        request._cached_user = asker.user  # type: ignore[attr-defined]  # what Django's middleware looks for
    if not request.user.is_authenticated:  # the password was changed, or the account closed
        if known:
            sessions.end(session_id=known, why=Ended.PASSWORD, by="system")
        _show_out(request)
        return
    found = asker.state if asker and asker.state.id == known else None
    if found is None:
        ip, browser = str(get_adapter().get_client_ip(request)), request.headers.get("User-Agent", "")
        adopted = sessions.adopt(user=request.user, session=request.session, ip=ip, browser=browser)
        found = sessions.read_state(adopted)
    if found is None or found.why or (not found.left and sessions.end_if_idle(found.id)):
        _show_out(request)
        return
    request.log_in = found  # type: ignore[attr-defined]


def _show_out(request: HttpRequest) -> None:
    request.session.flush()
    request.user = AnonymousUser()
