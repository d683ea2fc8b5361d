"""Who may go on watching, asked of many sessions in one query and by a connection that is not Django's: streams.

Asking is no action: no session lasts longer for it, and none is ended here.
"""

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.conf import settings

# The same rule as `players.sessions.standing`, `players.exclusions.standing` and `players.account_locks.lock_of`.
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


def asked(sessions: Iterable[UUID]) -> dict[str, Any]:
    """Return the parameters of `STILL_WATCHING`, which answers with those that run still and belong to players who may
    play.
    """
    return {"sessions": list(sessions), "idle": settings.PLAYER_IDLE_SECONDS}
