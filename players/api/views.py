"""What the views of the API stand on: a token, its scope, its rate; JSON in, JSON out."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from http import HTTPStatus
from typing import Any, ClassVar, Final, cast
from uuid import UUID

from allauth.account.adapter import get_adapter
from django.utils import timezone, translation
from django.utils.http import parse_header_parameters
from django.utils.translation import gettext as _
from rest_framework.exceptions import MethodNotAllowed, ValidationError
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.views import APIView

from players.api import calls, problems, reading, sessions
from players.api.authentication import ByToken
from players.api.problems import Problem
from players.api.reading import StrictJSON
from players.login import second_factor
from players.login.current_user import player_of, staff_of
from players.models import ApiToken, Player, Scope, Staff, User

UTF_8: Final = "utf-8"


class OneFormat(BaseContentNegotiation):
    """JSON is what there is, whatever a caller would rather have."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        """Return the parser of what was sent, None where there is none, nor for what was compressed or is spelled in
        other bytes than those of UTF-8.
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
        """Return the one renderer."""
        return renderers[0], renderers[0].media_type


class InScope(BasePermission):
    """Lets a call in whose token has the scope of its method, of somebody of the right kind."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Say whether it does. Raises Problem where nothing but the scope is lacking, which it names."""
        house, token = cast("ApiView", view), request.auth
        if not isinstance(token, ApiToken) or not house.admits(request):
            return False
        scope = house.scope_of(request)
        if scope is not None and scope not in token.scopes:
            detail = _("The token does not have the scope “%(scope)s”.") % {"scope": scope.value}
            raise Problem(problems.FORBIDDEN, detail, scope=scope.value)
        return scope is not None


class ApiView(APIView):
    """A view that programs call. ``scopes`` says which scope each method needs."""

    authentication_classes = (ByToken,)
    permission_classes: Sequence[Any] = (InScope,)
    parser_classes = (StrictJSON,)
    renderer_classes = (JSONRenderer,)
    content_negotiation_class = OneFormat
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]
    scopes: ClassVar[Mapping[str, Scope]] = {}
    has_keys: ClassVar[bool] = True  # whether what it changes is changed once for each key

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in whoever may, and answer them in UTC."""
        if str(request.method).lower() not in self.http_method_names or not hasattr(self, str(request.method).lower()):
            raise MethodNotAllowed(str(request.method))
        super().initial(request, *args, **kwargs)
        timezone.activate(UTC)
        if request.method not in SAFE_METHODS:
            reading.demand_read_query(request)
            if self.has_keys:
                calls.key_of(request)

    def perform_authentication(self, request: Request) -> None:
        """Find out who calls, and answer from then on in the language they ask for, or else in their own."""
        super().perform_authentication(request)
        if "Accept-Language" not in request.headers and isinstance(request.user, User):
            translation.activate(request.user.language)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Refuse a question with words behind the ``?`` that nobody has read: they have a typing error in them."""
        if response.status_code < HTTPStatus.BAD_REQUEST:
            try:
                reading.demand_read_query(request)
            except ValidationError as error:
                response = problems.answer_for(error, {"view": self})
        return super().finalize_response(request, response, *args, **kwargs)

    def get_exception_handler(self) -> Any:
        """Return what makes problems of exceptions."""
        return problems.answer_for

    def scope_of(self, request: Request) -> Scope | None:
        """Return the scope that the call needs; HEAD asks as GET does."""
        return self.scopes.get("GET" if request.method == "HEAD" else str(request.method))

    def admits(self, request: Request) -> bool:
        """Say whether the view is for people of this kind."""
        raise NotImplementedError

    def language(self) -> str:
        """Return the language of the answer."""
        return translation.get_language() or "en"


class PlayerApiView(ApiView):
    """A view for the programs of players."""

    def admits(self, request: Request) -> bool:
        """Say whether a player calls: staff never play."""
        return isinstance(request.user, User) and player_of(request.user) is not None

    @property
    def player(self) -> Player:
        """Who calls."""
        return cast("Player", player_of(self.request.user))

    def session(self) -> UUID | None:
        """Return the session in which the program acts. A call that changes something begins one where none runs, which
        is done before `calls.once`; one that reads begins none. Raises Problem where the token was revoked meanwhile.
        """
        token = cast("ApiToken", self.request.auth)
        if self.request.method in SAFE_METHODS:
            return sessions.running(token)
        return sessions.session_for(token, str(get_adapter().get_client_ip(self.request)))


class StaffApiView(ApiView):
    """A view for the programs of staff, who read what their roles let them read: ``permissions``, one of them."""

    permissions: ClassVar[tuple[str, ...]] = ()

    def admits(self, request: Request) -> bool:
        """Say whether a member of staff calls, with a second factor, who may read this."""
        user = request.user
        if not isinstance(user, User) or staff_of(user) is None or not second_factor.is_set_up(user):
            return False
        return any(map(user.has_perm, self.permissions))

    @property
    def staff(self) -> Staff:
        """Who calls."""
        return cast("Staff", staff_of(self.request.user))
