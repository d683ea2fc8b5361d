"""Receivers of allauth's signals."""

from allauth.account.adapter import get_adapter
from allauth.account.signals import password_reset
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from django.http import HttpRequest

from audit import log
from players.login import locks
from players.login.current_user import actor_of
from players.models import User


def connect() -> None:
    """Connect the receivers."""
    authentication_failed.connect(record_failure, dispatch_uid="players.second_factor_failed")
    password_reset.connect(open_lock, dispatch_uid="players.password_reset")


def record_failure(
    sender: type[Authenticator],
    request: HttpRequest,
    user: User,
    authenticator: Authenticator,
    reauthentication: bool,
    **kwargs: object,
) -> None:
    """Record a wrong code of a second factor, outside the request's transaction."""
    actor, ip = actor_of(user), get_adapter().get_client_ip(request)
    data = {"type": authenticator.type, "logged_in": reauthentication}
    log.record_refusal("second_factor.failed", by=actor, on=actor, data=data, personal={"ip": ip})


def open_lock(sender: type[User], request: HttpRequest, user: User, **kwargs: object) -> None:
    """Open the log-in lock after a password reset: the mailed code proves the owner."""
    locks.open_lock(user.email, locks.Opened.NEW_PASSWORD)
