"""The house's own register: a player is excluded where another account of the same person is.

The same person is whoever shows the same name and date of birth, unless staff found that they are two people; or whom
staff found to be the same on any other ground.
"""

from django.db import connection

from players.protection.registers.interface import CLEAR, Finding, Person

# A pause or time-out is of one account: a name that two people share must not stop the other for somebody's evening.
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
    """Knows who is excluded in this house; always within reach."""

    name = "house"

    def check(self, person: Person) -> Finding:
        """Look for an exclusion of the same person under another account."""
        with connection.cursor() as cursor:
            cursor.execute(EXCLUDED_ELSEWHERE, {"player": person.player_id})
            found = cursor.fetchone()
        return CLEAR if found is None else Finding(is_excluded=True, until=found[0])
