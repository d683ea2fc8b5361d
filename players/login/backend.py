"""Authentication backend: loads user, player or staff, and second-factor state in one query per request."""

from allauth.account.auth_backends import AuthenticationBackend
from allauth.mfa.models import Authenticator
from django.db.models import Exists, OuterRef, Subquery

from players.login.account_locks import current_locks
from players.login.second_factor import FACTORS
from players.models import User


class HouseBackend(AuthenticationBackend):
    """allauth's log-in by e-mail address. Loads the player or staff member with the user."""

    def get_user(self, user_id: int) -> User | None:
        """Return the user of a session, or None if the account is closed or locked."""
        factors = Authenticator.objects.filter(user=OuterRef("pk"), type__in=FACTORS)
        people = User.objects.select_related("player__jurisdiction", "staff")
        user = (
            people.annotate(has_second_factor=Exists(factors), is_locked=Subquery(current_locks()))
            .filter(pk=user_id)
            .first()
        )
        return user if user and not user.is_locked and self.user_can_authenticate(user) else None
