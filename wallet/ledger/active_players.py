"""Count players who staked real money in a range of days, in each player's local time zone."""

from collections.abc import Mapping
from datetime import date

from django.db import connection

# One index look-up per player, however many days and rounds there are. A subquery with LIMIT is
# never turned into a join that reads every day of every player. Stakes of voided rounds are not
# counted.
COUNT = """
SELECT player.currency, count(*)
FROM players_player AS player
CROSS JOIN LATERAL (
    SELECT FROM wallet_day AS of
    WHERE of.player_id = player.id AND of.day >= %(first)s AND of.day <= %(last)s AND of.staked > 0 LIMIT 1
) AS staked
GROUP BY player.currency
"""


def players_who_staked(first: date, last: date) -> Mapping[str, int]:
    """Return how many players staked real money from *first* to *last*, both included, by currency."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"first": first, "last": last})
        return dict(cursor.fetchall())
