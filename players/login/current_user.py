"""Player, staff member, actor and session id of a user or of a request."""

from functools import lru_cache
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from players.models import Player, Staff

ANONYMOUS = "anonymous"
SESSION_ID = "sid"  # session key: the id of this session in rounds and events


def player_of(user: AbstractBaseUser | AnonymousUser) -> Player | None:
    """Return the player of a user, or None for visitors and staff."""
    return getattr(user, "player", None)


def staff_of(user: AbstractBaseUser | AnonymousUser) -> Staff | None:
    """Return the staff member of a user, or None for visitors and players."""
    return getattr(user, "staff", None)


def actor_of(user: AbstractBaseUser | AnonymousUser) -> str:
    """Return the actor for the event log: ``player:12``, ``staff:3``, ``anonymous``, or ``user:5``."""
    person = player_of(user) or staff_of(user)
    if person:
        return str(person)
    return f"user:{user.pk}" if user.is_authenticated else ANONYMOUS


def session_of(session: SessionBase) -> UUID | None:
    """Return the id of the log-in session, or None if nobody has logged in."""
    stored = session.get(SESSION_ID)
    return _parsed(stored) if stored else None


_parsed = lru_cache(maxsize=4096)(UUID)  # a request asks several times


def actor(request: HttpRequest) -> str:
    """Return the actor that the event log records for the request."""
    return actor_of(request.user)


def session_id(request: HttpRequest) -> UUID | None:
    """Return the id of the log-in session that the request belongs to."""
    return session_of(request.session)
