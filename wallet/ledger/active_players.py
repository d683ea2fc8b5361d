"""Who plays for real money: players who staked on some days, each by the clocks of where they live."""

from collections.abc import Mapping
from datetime import date

from django.db import connection

# One look into the key of their days for each player, however many days and rounds there are: a subquery with LIMIT is
# never made into a join that reads every day of everybody. What was staked in rounds that are annulled is taken off.
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
    """Return how many players staked real money from one day to another, both included, by currency."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"first": first, "last": last})
        return dict(cursor.fetchall())
