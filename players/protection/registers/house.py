"""Our own exclusion register: a player is excluded if another account of the same person is.

Two accounts are the same person if they have the same name and date of birth, unless staff found
that they differ; or if staff found them to be the same on any other ground.
"""

from django.db import connection

from players.protection.registers.interface import CLEAR, Finding, Person

# A pause or time-out holds for one account only: another person with the same name must not be stopped by it.
EXCLUDED_ELSEWHERE = """
SELECT e.until FROM players_exclusion AS e LEFT JOIN players_exclusionlift AS l ON l.exclusion_id = e.id
WHERE e.kind IN ('self', 'staff') AND (e.until IS NULL OR e.until > clock_timestamp()) AND l.id IS NULL
  AND e.player_id IN (
    SELECT theirs.player_id FROM players_trait AS mine
    JOIN players_trait AS theirs ON theirs.ground = mine.ground AND theirs.fingerprint = mine.fingerprint
    WHERE mine.player_id = %(player)s AND mine.ground = 'name' AND theirs.player_id <> %(player)s
      AND NOT EXISTS (
        SELECT FROM players_duplicate AS d
        WHERE d.first_id = least(mine.player_id, theirs.player_id)
          AND d.second_id = greatest(mine.player_id, theirs.player_id) AND d.resolution = 'different')
    UNION
    SELECT CASE d.first_id WHEN %(player)s THEN d.second_id ELSE d.first_id END FROM players_duplicate AS d
    WHERE %(player)s IN (d.first_id, d.second_id) AND d.resolution = 'same')
ORDER BY e.until DESC NULLS FIRST LIMIT 1
"""


class HouseRegister:
    """Register of exclusions in this database. Always reachable."""

    name = "house"

    def check(self, person: Person) -> Finding:
        """Search for an exclusion of the same person under another account."""
        with connection.cursor() as cursor:
            cursor.execute(EXCLUDED_ELSEWHERE, {"player": person.player_id})
            found = cursor.fetchone()
        return CLEAR if found is None else Finding(is_excluded=True, until=found[0])
