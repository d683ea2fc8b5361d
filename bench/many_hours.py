"""Sums up every hour of play that is over: `python -m bench.many_hours`. What each bet and card did is left out, since
no report reads it.
"""

import json
import sys

import django

django.setup()

from django.db import connections, transaction  # noqa: E402  (models need the set-up)
from django.utils.timezone import now  # noqa: E402

from audit import hours  # noqa: E402
from audit.hours import HOUR  # noqa: E402
from audit.models import Rolled  # noqa: E402
from games import tallies  # noqa: E402


def main() -> None:
    """Do each hour as `hours.roll_due` does."""
    hours.mark()
    hour = tallies.first_played(None)
    if hour is not None:
        hour = hour.replace(minute=0, second=0, microsecond=0)
        while hour + HOUR < now() - HOUR:
            with transaction.atomic():
                Rolled.objects.create(sums=tallies.SUMS, hour=hour, rows=tallies.roll(hour))
            hour += HOUR
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE games_tally, games_bettally, audit_rolled")
    json.dump([], sys.stdout)


if __name__ == "__main__":
    main()
