"""Who someone is: the player or member of staff behind a log-in, and the plain id the event log keeps."""

from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase

from players.models import Player, Staff

ANONYMOUS = "anonymous"
SESSION_ID = "sid"  # session key: the id under which rounds and events name this session


def player_of(user: AbstractBaseUser | AnonymousUser) -> Player | None:
    """Return the player behind a log-in, or None for visitors and staff."""
    return getattr(user, "player", None)


def staff_of(user: AbstractBaseUser | AnonymousUser) -> Staff | None:
    """Return the member of staff behind a log-in, or None for visitors and players."""
    return getattr(user, "staff", None)


def actor_of(user: AbstractBaseUser | AnonymousUser) -> str:
    """Return what the event log calls someone: ``player:12``, ``staff:3``, ``anonymous``, or just ``user:5``."""
    person = player_of(user) or staff_of(user)
    if person:
        return str(person)
    return f"user:{user.pk}" if user.is_authenticated else ANONYMOUS


def session_of(session: SessionBase) -> UUID | None:
    """Return the id of the session that began with a log-in, or None where nobody has logged in."""
    stored = session.get(SESSION_ID)
    return UUID(stored) if stored else None
