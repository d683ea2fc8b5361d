"""Ties between players who sat at one table: an address, a browser, maybe one person; and reports about them."""

from dataclasses import dataclass
from typing import Final

from games.chemin.collusion.money import Pair
from games.chemin.collusion.scope import WITHIN, Scope, ask
from players.models import Resolution

# Players who sat at the same table at the same time. A session's address is that of its log-in; it
# is "" after erasure.
TOGETHER: Final = f"""
WITH sat AS MATERIALIZED (
    SELECT s.player_id, s.live_table_id, s.joined_at, coalesce(s.left_at, 'infinity') AS left_at,
        nullif(n.ip, '') AS ip, n.browser
    FROM games_cheminseat AS s
    JOIN games_livetable AS l ON l.id = s.live_table_id
    JOIN players_player AS p ON p.id = s.player_id
    LEFT JOIN players_session AS n ON n.id = s.session
    WHERE s.joined_at < %(until)s AND (s.left_at IS NULL OR s.left_at >= %(since)s) AND {WITHIN}
), together AS (
    SELECT a.player_id AS first, b.player_id AS second, bool_or(coalesce(a.ip = b.ip, false)) AS address,
        bool_or(coalesce(a.ip = b.ip AND a.browser = b.browser, false)) AS device
    FROM sat AS a JOIN sat AS b ON b.live_table_id = a.live_table_id AND b.player_id > a.player_id
        AND b.joined_at < a.left_at AND a.joined_at < b.left_at
    GROUP BY a.player_id, b.player_id
)
SELECT t.*, EXISTS (SELECT FROM players_duplicate AS d
    WHERE (d.first_id, d.second_id) = (t.first, t.second) AND d.resolution <> '{Resolution.DIFFERENT}') AS same
FROM together AS t
"""  # noqa: S608  (nothing but names of our own)

REPORTED: Final = f"""
SELECT s.player_id AS player, count(*) AS reports
FROM games_playreport AS r
JOIN games_livetable AS l ON l.id = r.live_table_id
JOIN games_cheminseat AS s ON s.id = r.seat_id
JOIN players_player AS p ON p.id = s.player_id
WHERE r.at >= %(since)s AND r.at < %(until)s AND {WITHIN}
GROUP BY s.player_id
"""  # noqa: S608  (nothing but names of our own)


@dataclass(frozen=True)
class Tie:
    """What two players who sat at one table together have in common."""

    address: bool  # logged in from one address
    device: bool  # and with browsers that send the same identification
    same: bool  # found as possible duplicates, and not resolved as different persons

    def __bool__(self) -> bool:
        return self.address or self.same


def ties(scope: Scope) -> dict[Pair, Tie]:
    """Return all pairs who sat at one table at the same time, and what they have in common."""
    return {
        (row["first"], row["second"]): Tie(row["address"], row["device"], row["same"]) for row in ask(TOGETHER, scope)
    }


def reported(scope: Scope) -> dict[int, int]:
    """Return how many reports were made about each player."""
    return {row["player"]: row["reports"] for row in ask(REPORTED, scope)}
