"""Base classes of API views: token, scope and rate checks; JSON in, JSON out."""

import time
from collections.abc import Mapping, Sequence
from datetime import UTC
from http import HTTPStatus
from typing import Any, ClassVar, Final, cast
from uuid import UUID

import structlog
from allauth.account.adapter import get_adapter
from django.db import transaction
from django.utils import timezone, translation
from django.utils.http import parse_header_parameters
from django.utils.translation import gettext as _
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import (
    AuthenticationFailed,
    MethodNotAllowed,
    PermissionDenied,
    Throttled,
    ValidationError,
)
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from players import rates
from players.api import calls, problems, reading, tokens
from players.api.problems import NO_TOKEN, Problem
from players.api.reading import StrictJSON
from players.login import second_factor, sessions
from players.login.current_user import player_of, staff_of
from players.login.who_asks import SessionState
from players.models import ApiToken, Player, Scope, Staff, User
from players.protection import play_sessions, registers


def running(token: ApiToken) -> UUID | None:
    """Return the token's running session, or None. Reading starts no session."""
    found = _running(token)
    return found.id if found else None


def session_for(token: ApiToken, ip: str) -> UUID:
    """Return the token's session and extend it, or start one from the IP address *ip*.

    Raises Problem if the token has been revoked since.
    """
    found = _running(token)
    if found:
        sessions.act(found)
        return found.id
    began, is_new = _begin(token, ip)
    if is_new and hasattr(token.user, "player"):
        registers.ask(token.user.player)  # as at every log-in
    return began


@transaction.atomic
def _begin(token: ApiToken, ip: str) -> tuple[UUID, bool]:
    """Start a session, or join one of the same person's other tokens.

    The lock on the user serialises concurrent calls. Returns the session and whether it is new.
    """
    User.objects.select_for_update(no_key=True).get(pk=token.user_id)
    held = ApiToken.objects.select_for_update(no_key=True, of=("self",)).select_related("user").get(pk=token.pk)
    if held.revoked_at:
        raise Problem(NO_TOKEN)
    found = _running(held) or _of_others(held)
    is_new = found is None
    began = found.id if found else sessions.begin_for_api_client(user=token.user, ip=ip, name=held.name)
    if held.session_id and held.session_id != began:
        sessions.end_if_idle(held.session_id)
    ApiToken.objects.filter(pk=held.pk).update(session=began)
    if found:
        sessions.act(found)
    elif hasattr(held.user, "player"):
        play_sessions.read_session(held.user.player, began)  # no page does this; the reality check needs it
    return began, is_new


def _of_others(token: ApiToken) -> SessionState | None:
    """Return the running session that another token of the same person uses."""
    others = ApiToken.objects.filter(user=token.user_id, session__ended_at=None, session__isnull=False)
    acting = others.exclude(pk=token.pk).order_by("-session__acted_at").values_list("session", flat=True).first()
    found = sessions.read_state(acting) if acting else None
    return found if found and found.left else None


def _running(token: ApiToken) -> SessionState | None:
    found: SessionState | None = token.state
    if found is None and token.session_id:
        found = sessions.read_state(token.session_id)
    return found if found and found.left else None


MINUTE: Final = 60  # seconds
STRANGERS: Final = 60  # calls a minute from one IP address with invalid tokens

logger = structlog.get_logger(__name__)


def demand_pace(token: ApiToken) -> None:
    """Count a call, successful or not. Raises Throttled above the token's limit per minute.

    All tokens of one user share the count.
    """
    _demand(f"api-tokens:{token.user_id}", token.per_minute)


def demand_pace_of_stranger(ip: str) -> None:
    """Count a call with an invalid token. Raises Throttled above `STRANGERS` a minute from one IP address."""
    _demand(f"stranger:{ip}", STRANGERS)


def demand_pace_of_partner(partner: str, most: int) -> None:
    """Count a signed call of a partner. Raises Throttled above *most* a minute."""
    _demand(partner, most)


def _demand(who: str, most: int) -> None:
    if _counted(who) > most:
        raise Throttled(MINUTE - time.time() % MINUTE)


def _counted(who: str) -> int:
    """Count a call and return the count of this minute, or 0 if the cache fails."""
    try:
        return rates.count(f"api:{who}", MINUTE)
    except Exception as error:  # noqa: BLE001  (any cache error: missing rate limits must not stop play)
        logger.warning("api_rate_uncounted", error=type(error).__name__)
        return 0


SCHEME: Final = "bearer"
LONGEST: Final = 200  # characters


def key_of(authorization: str) -> str:
    """Return the key in the value of an Authorization header, "" if there is none that could be valid."""
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == SCHEME and key.isascii() and len(key) <= LONGEST else ""


class ByToken(BaseAuthentication):
    """Authenticates ``Authorization: Bearer sabot_…``. Tokens of closed or locked accounts are refused."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the user and the token, or None if no token was sent.

        Raises AuthenticationFailed; PermissionDenied for staff who may not use tokens now;
        Throttled.
        """
        authorization = request.headers.get("Authorization", "")
        if not authorization.partition(" ")[0]:
            return None
        key = key_of(authorization)
        token = tokens.find(key) if key else None
        user = token.owner if token else None
        ip = str(get_adapter().get_client_ip(request))
        if token is None or user is None:
            demand_pace_of_stranger(ip)
            raise AuthenticationFailed
        demand_pace(token)
        if not tokens.may_use(user):
            raise PermissionDenied
        tokens.note_use(token, ip)
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the ``WWW-Authenticate`` header of a refusal. It makes the answer a 401."""
        return 'Bearer realm="api"'


UTF_8: Final = "utf-8"


class OneFormat(BaseContentNegotiation):
    """Content negotiation that always selects JSON."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the parser for the request's media type, or None.

        Compressed bodies and charsets other than UTF-8 have no parser.
        """
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            return None
        kind, said = parse_header_parameters(request.content_type or "")
        if said.get("charset", UTF_8).lower() != UTF_8:
            return None
        return next((parser for parser in parsers if parser.media_type == kind), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        """Return the only renderer."""
        return renderers[0], renderers[0].media_type


class InScope(BasePermission):
    """Admits tokens that have the scope of the method, if the view admits their owner."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Return whether the call is admitted.

        Raises Problem with the missing scope if only the scope is missing.
        """
        house, token = cast("ApiView", view), request.auth
        if not isinstance(token, ApiToken) or not house.admits(request):
            return False
        scope = house.scope_of(request)
        if scope is not None and scope not in token.scopes:
            detail = _("The token does not have the scope “%(scope)s”.") % {"scope": scope.value}
            raise Problem(problems.FORBIDDEN, detail, scope=scope.value)
        return scope is not None


class ApiView(APIView):
    """Base of all API views. ``scopes`` maps each method to the scope it needs."""

    authentication_classes = (ByToken,)
    permission_classes: Sequence[Any] = (InScope,)
    parser_classes = (StrictJSON,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = OneFormat
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    scopes: ClassVar[Mapping[str, Scope]] = {}
    has_keys: ClassVar[bool] = True  # whether writes need an idempotency key

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Check method, permission, query and idempotency key, and set the time zone to UTC."""
        if str(request.method).lower() not in self.http_method_names or not hasattr(self, str(request.method).lower()):
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        timezone.activate(UTC)
        if request.method not in SAFE_METHODS:
            reading.demand_read_query(request)
            if self.has_keys:
                calls.key_of(request)

    def perform_authentication(self, request: Request) -> None:
        """Authenticate, and use the user's language if the request names none."""
        super().perform_authentication(request)
        if "Accept-Language" not in request.headers and isinstance(request.user, User):
            translation.activate(request.user.language)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Refuse a successful answer if the call has query parameters that nobody has read: they are typing errors."""
        if response.status_code < HTTPStatus.BAD_REQUEST:
            try:
                reading.demand_read_query(request)
            except ValidationError as error:
                response = problems.answer_for(error, {"view": self})
        return super().finalize_response(request, response, *args, **kwargs)

    def get_exception_handler(self) -> Any:
        """Return the function that turns exceptions into problems."""
        return problems.answer_for

    def scope_of(self, request: Request) -> Scope | None:
        """Return the scope that the call needs. HEAD needs that of GET."""
        return self.scopes.get("GET" if request.method == "HEAD" else str(request.method))

    def admits(self, request: Request) -> bool:
        """Return whether the view is for this kind of user."""
        raise NotImplementedError

    def language(self) -> str:
        """Return the language of the answer."""
        return translation.get_language() or "en"


class PlayerApiView(ApiView):
    """A view for API clients of players."""

    def admits(self, request: Request) -> bool:
        """Return whether the caller is a player. Staff never play."""
        return isinstance(request.user, User) and player_of(request.user) is not None

    @property
    def player(self) -> Player:
        """Return the calling player."""
        return cast("Player", player_of(self.request.user))

    def session(self) -> UUID | None:
        """Return the session of the token.

        A call that changes something starts a session if none is running; do this before
        `calls.once`. A call that reads starts none. Raises Problem if the token was
        revoked since.
        """
        token = cast("ApiToken", self.request.auth)
        if self.request.method in SAFE_METHODS:
            return running(token)
        return session_for(token, str(get_adapter().get_client_ip(self.request)))


class StaffApiView(ApiView):
    """A view for API clients of staff. The owner needs one of ``permissions``."""

    permissions: ClassVar[tuple[str, ...]] = ()

    def admits(self, request: Request) -> bool:
        """Return whether the caller is a staff member with a second factor and one of the permissions."""
        user = request.user
        if not isinstance(user, User) or staff_of(user) is None or not second_factor.is_set_up(user):
            return False
        return any(map(user.has_perm, self.permissions))

    @property
    def staff(self) -> Staff:
        """Return the calling staff member."""
        return cast("Staff", staff_of(self.request.user))
