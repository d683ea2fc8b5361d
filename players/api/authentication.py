"""API authentication by bearer token. Cookies are ignored."""

from typing import Final

from allauth.account.adapter import get_adapter
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from players.api import rates, tokens
from players.login.backend import HouseBackend
from players.models import ApiToken, User

SCHEME: Final = "bearer"
LONGEST: Final = 200  # characters


class ByToken(BaseAuthentication):
    """Authenticates ``Authorization: Bearer sabot_…``. Tokens of closed or locked accounts are refused."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the user and the token, or None if no token was sent.

        Raises AuthenticationFailed; PermissionDenied for staff who may not use tokens now;
        Throttled.
        """
        scheme, _, key = request.headers.get("Authorization", "").partition(" ")
        if not scheme:
            return None
        token = tokens.find(key.strip()) if scheme.lower() == SCHEME and key.isascii() and len(key) <= LONGEST else None
        user = HouseBackend().get_user(token.user_id) if token else None
        ip = str(get_adapter().get_client_ip(request))
        if token is None or user is None:
            rates.demand_pace_of_stranger(ip)
            raise AuthenticationFailed
        rates.demand_pace(token)
        if not tokens.may_use(user):
            raise PermissionDenied
        tokens.note_use(token, ip)
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the ``WWW-Authenticate`` header of a refusal. It makes the answer a 401."""
        return 'Bearer realm="api"'
