"""SQL that checks which event streams may stay open, for many sessions in one query.

It runs on a connection outside Django. A check is not an action: it neither extends nor ends a
session.
"""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.conf import settings

from players.login.second_factor import FACTORS
from players.models import Scope

# The same rule as `players.login.sessions.read_state`, `players.protection.exclusions.all_in_force` and
# `players.login.locks.lock_of`.
STILL_WATCHING: Final = """
    SELECT session.id
    FROM players_session session
    JOIN players_player player ON player.user_id = session.user_id
    WHERE session.id = ANY(%(sessions)s::uuid[])
      AND session.ended_at IS NULL
      AND session.acted_at > clock_timestamp() - make_interval(secs => %(idle)s)
      AND NOT players_is_locked(player.id)
      AND NOT EXISTS (
        SELECT FROM players_exclusion exclusion
        WHERE exclusion.player_id = player.id
          AND (exclusion.until IS NULL OR exclusion.until > clock_timestamp())
          AND NOT EXISTS (SELECT FROM players_exclusionlift lift WHERE lift.exclusion_id = exclusion.id))
"""

# The same rule as `players.api.views.ByToken`, and the exclusions of `STILL_WATCHING`.
STILL_CONNECTED: Final = """
    SELECT token.id
    FROM players_api_token token
    JOIN players_user account ON account.id = token.user_id
    JOIN players_player player ON player.user_id = account.id
    WHERE token.id = ANY(%(tokens)s::bigint[])
      AND token.revoked_at IS NULL
      AND token.ends_at > clock_timestamp()
      AND %(scope)s = ANY(token.scopes)
      AND account.is_active
      AND NOT players_is_locked(player.id)
      AND NOT EXISTS (
        SELECT FROM players_exclusion exclusion
        WHERE exclusion.player_id = player.id
          AND (exclusion.until IS NULL OR exclusion.until > clock_timestamp())
          AND NOT EXISTS (SELECT FROM players_exclusionlift lift WHERE lift.exclusion_id = exclusion.id))
"""

# The same rule as `players.login.sessions.read_state` and `players.access.staff_required`. Roles are read each
# time.
STILL_ON_DUTY: Final = """
    SELECT session.id
    FROM players_session session
    JOIN players_user account ON account.id = session.user_id
    JOIN players_staff staff ON staff.user_id = account.id
    WHERE session.id = ANY(%(sessions)s::uuid[])
      AND session.ended_at IS NULL
      AND session.acted_at > clock_timestamp() - make_interval(secs => %(idle)s)
      AND account.is_active
      AND EXISTS (SELECT FROM mfa_authenticator factor
        WHERE factor.user_id = account.id AND factor.type = ANY(%(factors)s::text[]))
      AND EXISTS (
        SELECT FROM players_user_groups member
        JOIN auth_group_permissions granted ON granted.group_id = member.group_id
        JOIN auth_permission permission ON permission.id = granted.permission_id
        JOIN django_content_type kind ON kind.id = permission.content_type_id
        WHERE member.user_id = account.id
          AND kind.app_label || '.' || permission.codename = ANY(%(permissions)s::text[]))
"""


def asked(sessions: Iterable[UUID]) -> dict[str, Any]:
    """Return the parameters of `STILL_WATCHING`.

    It returns the running sessions of players who may play.
    """
    return {"sessions": list(sessions), "idle": settings.PLAYER_IDLE_SECONDS}


def asked_of_api_clients(tokens: Iterable[int]) -> dict[str, Any]:
    """Return the parameters of `STILL_CONNECTED`.

    It returns the valid tokens with the scope to read, of players who may play.
    """
    return {"tokens": list(tokens), "scope": Scope.READ.value}


def asked_of_staff(sessions: Iterable[UUID], permissions: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of `STILL_ON_DUTY`.

    It returns the running sessions of staff whose role has one of *permissions* (``app.codename``).
    """
    return {
        "sessions": list(sessions),
        "idle": settings.STAFF_IDLE_SECONDS,
        "factors": [str(factor) for factor in FACTORS],
        "permissions": list(permissions),
    }
