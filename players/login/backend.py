"""Authentication backend: allauth's log-in by e-mail address, with our statement for the user."""

from allauth.account.auth_backends import AuthenticationBackend

from players.login import who_asks
from players.models import User


class HouseBackend(AuthenticationBackend):
    """Loads player or staff member and the state of the second factor with the user."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is closed or locked."""
        user = who_asks.by_id(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None
