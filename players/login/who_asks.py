"""Origin of a request: one statement reads what is stored of a session cookie or an API token, the log-in session,
user, player and staff.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, cast
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.utils.crypto import constant_time_compare

from audit.raw_rows import columns, fetch_one, instance
from players.login.current_user import session_of, staff_of
from players.login.second_factor import FACTORS
from players.models import ApiToken, BrowserSession, Jurisdiction, Player, Staff, User

PERSON: Final = f"""
    {columns(User, "who")}, {columns(Player, "player")}, {columns(Jurisdiction, "law")},
    {columns(Staff, "staff")},
    EXISTS (SELECT FROM mfa_authenticator AS factor WHERE factor.user_id = who.id AND factor.type = ANY (%(factors)s))
"""
OF_PERSON: Final = """
LEFT JOIN players_player AS player ON player.user_id = who.id
LEFT JOIN players_jurisdiction AS law ON law.code = player.jurisdiction_id
LEFT JOIN players_staff AS staff ON staff.user_id = who.id
"""
IS_LOCKED: Final = """coalesce(
    (SELECT lock.locks FROM players_accountlock AS lock WHERE lock.player_id = player.id ORDER BY lock.id DESC LIMIT 1),
    false)"""
BY_ID: Final = f"SELECT {PERSON} FROM players_user AS who {OF_PERSON} WHERE who.id = %(id)s AND NOT {IS_LOCKED}"  # noqa: S608  (nothing but names of our own columns)
BY_COOKIE: Final = f"""
SELECT {columns(BrowserSession, "browser_session")}, statement_timestamp() - own.acted_at,
    own.ended_at IS NOT NULL, own.why, {IS_LOCKED}, {PERSON}
FROM players_browsersession AS browser_session
LEFT JOIN players_session AS own ON own.id = browser_session.log_in
LEFT JOIN players_user AS who ON who.id = own.user_id {OF_PERSON}
WHERE browser_session.session_key = %(key)s AND browser_session.expire_date > now()
"""  # noqa: S608  (nothing but names of our own columns)
BY_TOKEN: Final = f"""
SELECT {columns(ApiToken, "token")}, statement_timestamp() - token.used_at, statement_timestamp() - own.acted_at,
    own.ended_at IS NOT NULL, own.why, {IS_LOCKED}, {PERSON}
FROM players_api_token AS token
JOIN players_user AS who ON who.id = token.user_id {OF_PERSON}
LEFT JOIN players_session AS own ON own.id = token.session_id
WHERE token.digest = %(digest)s AND token.revoked_at IS NULL AND token.ends_at > statement_timestamp()
"""  # noqa: S608  (nothing but names of our own columns)
LAG: Final = timedelta(minutes=1)  # an action is stored only if the last stored one is older
WARNING: Final = timedelta(minutes=1)  # this long before the end, the page asks the user to confirm


@dataclass(frozen=True)
class SessionState:
    """State of a session: seconds left (0 if it has ended) and the reason for its end ("" while it runs)."""

    id: UUID
    left: float
    idle: timedelta
    limit: timedelta
    why: str

    @property
    def warning(self) -> float:
        """Return how many seconds before the end the page warns."""
        return min(WARNING, self.limit / 3).total_seconds()

    @property
    def is_to_store(self) -> bool:
        """Return whether an action now is to be stored."""
        return self.idle > min(LAG, self.limit / 9)


@dataclass(frozen=True)
class Asker:
    """The user of a log-in session, and the session's state."""

    user: User
    state: SessionState


def state_of(session_id: UUID, idle: timedelta, has_ended: bool, why: str, is_of_staff: bool) -> SessionState:
    """Return the state of a session from its columns."""
    limit = timedelta(seconds=settings.STAFF_IDLE_SECONDS if is_of_staff else settings.PLAYER_IDLE_SECONDS)
    left = 0.0 if has_ended else max(0.0, (limit - idle).total_seconds())
    return SessionState(session_id, left, idle, limit, why)


def by_id(user_id: int) -> User | None:
    """Return a user with player or staff, or None if the account is closed or locked."""
    row = fetch_one(BY_ID, {"id": user_id, "factors": list(map(str, FACTORS))})
    return None if row is None else _person(row)


def by_cookie(key: str) -> tuple[BrowserSession, Asker | None] | None:
    """Return what is stored under the digest of a session cookie, and whose it says it is.

    None where nothing is stored. No asker where nobody is logged in, or the account is locked.
    """
    row = fetch_one(BY_COOKIE, {"key": key, "factors": list(map(str, FACTORS))})
    if row is None:
        return None
    browser_session = instance(BrowserSession, row)
    idle, has_ended, why, is_locked = next(row), next(row), next(row), next(row)
    if idle is None or browser_session.log_in is None or is_locked:
        return browser_session, None
    user = _person(row)
    return browser_session, Asker(
        user, state_of(browser_session.log_in, idle, has_ended, why, staff_of(user) is not None)
    )


def by_token(digest: bytes) -> ApiToken | None:
    """Return the valid API token with this digest of its key, with its owner and session state."""
    row = fetch_one(BY_TOKEN, {"digest": digest, "factors": list(map(str, FACTORS))})
    if row is None:
        return None
    token = instance(ApiToken, row)
    token.unused_for, idle, has_ended, why, is_locked = (next(row) for _ in range(5))
    user = _person(row)
    token.owner = user if user.is_active and not is_locked else None
    if idle is not None and token.session_id is not None:
        token.state = state_of(token.session_id, idle, has_ended, why, staff_of(user) is not None)
    return token


def is_confirmed(asker: Asker, session: SessionBase) -> bool:
    """Return whether the signed data of the session name this user, this log-in and their present password.

    If not, `django.contrib.auth.get_user` decides.
    """
    user = asker.user
    return (
        session.get(SESSION_KEY) == str(user.pk)
        and session_of(session) == asker.state.id
        and session.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
        and constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
        and user.is_active
    )


def _person(row: Iterator[Any]) -> User:
    """Build a user with player, jurisdiction and staff from the columns of `PERSON`."""
    user, player = instance(User, row), instance(Player, row)
    law, staff = instance(Jurisdiction, row), instance(Staff, row)
    if player.pk is not None:
        player.jurisdiction, player.user = law, user
    if staff.pk is not None:
        staff.user = user
    _know(user, "player", player)
    _know(user, "staff", staff)
    user.has_second_factor = next(row)  # type: ignore[attr-defined]  # for `second_factor`
    return user


def _know(user: User, name: str, found: Player | Staff) -> None:
    """Store an object related to the user; a row of NULLs means that the user has no such object."""
    relation = cast("ForeignObjectRel", User._meta.get_field(name))
    relation.set_cached_value(user, None if found.pk is None else found)
