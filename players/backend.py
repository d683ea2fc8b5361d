"""Who is logged in, and as what, in one query a request."""

from allauth.account.auth_backends import AuthenticationBackend

from players.models import User


class HouseBackend(AuthenticationBackend):
    """allauth's log-in by e-mail address; fetches the player or the member of staff together with the user."""

    def get_user(self, user_id: int) -> User | None:
        """Return who a session belongs to, None once the account is closed."""
        user = User.objects.select_related("player__jurisdiction", "staff").filter(pk=user_id).first()
        return user if user and self.user_can_authenticate(user) else None
