"""Sums up every hour of play that is over, a week in a statement: `python -m bench.many_hours [all]`. What each card
did is left out, since no page of the bench reads it; so are, but for "all", how bets ended and what the ledger moved.
"""

import json
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import django

django.setup()

from django.db import connection, connections, transaction  # noqa: E402  (models need the set-up)
from django.utils.timezone import now  # noqa: E402

from audit import hours, id_ranges  # noqa: E402
from audit.hours import HOUR  # noqa: E402
from audit.models import Rolled  # noqa: E402
from audit.reports.kinds import Interval  # noqa: E402
from games.fairness import hourly_totals  # noqa: E402
from games.fairness.returns import hourly_counts  # noqa: E402
from games.models import Evidence  # noqa: E402
from wallet.ledger import hourly_totals as moved  # noqa: E402
from wallet.models import Mode  # noqa: E402

WEEK = timedelta(days=7)
# The same as for one hour, for each of several.
MOVED = f"""
INSERT INTO wallet_moved (hour, {moved.COLUMNS})
{moved.ENTRIES.replace("SELECT", "SELECT date_trunc('hour', journal.at, 'UTC'),", 1).replace("3, 4", "3, 4, 5")}
"""


def main() -> None:
    """Sum up, and leave the same traces as the house does."""
    hours.mark()
    is_all = "all" in sys.argv
    firsts = [hourly_totals.first_played(None), moved.first(None) if is_all else None]
    for piece in _pieces(min((each for each in firsts if each), default=now())):
        with transaction.atomic():
            _sum_up(piece, is_all=is_all)
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE games_tally, games_bettally, games_evidence, wallet_moved, audit_rolled")
    json.dump([], sys.stdout)


def _pieces(first: datetime) -> Iterator[Interval]:
    """Yield the first hour, which the house takes by itself alone, and weeks up to the last hour that is settled."""
    begins = first.replace(minute=0, second=0, microsecond=0)
    ends = (now() - HOUR).replace(minute=0, second=0, microsecond=0)
    length = HOUR
    while begins < ends:
        yield Interval(begins, min(begins + length, ends))
        begins, length = begins + length, WEEK


def _sum_up(piece: Interval, *, is_all: bool) -> None:
    each = [piece.since + number * HOUR for number in range((piece.until - piece.since) // HOUR)]
    pieces: dict[str, Any] = {"numbers": [0] * len(each), "since": each, "until": [hour + HOUR for hour in each]}
    names = [hourly_totals.SUMS]
    with connection.cursor() as cursor:
        # A plan that is right for an hour, which is what the house sums up, is none for a week.
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        cursor.execute(hourly_totals.ROLL, pieces | {"modes": list(Mode.values)})
        if is_all:
            names += [moved.SUMS, hourly_counts.SUMS]
            ids = id_ranges.ids("wallet_journal", piece)
            cursor.execute(MOVED, {"first": ids.start, "beyond": ids.stop, "since": piece.since, "until": piece.until})
            counts, _read = hourly_counts.count(piece)
            Evidence.objects.bulk_create(
                Evidence(hour=hour, version_id=version, mode=mode, bet=bet, gain=gain, rounds=rounds)
                for (hour, version, mode, bet, gain), rounds in counts.items()
            )
    Rolled.objects.bulk_create(Rolled(sums=name, hour=hour, rows=0) for name in names for hour in each)


if __name__ == "__main__":
    main()
