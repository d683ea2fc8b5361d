"""Somebody who asks for reports: `python -m bench.reporting_player HOUSE WAY`, where HOUSE is JSON with the address of
the database. WAY is "all" for every kind of report over all time, "scan" for one scan by psql.
"""

import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import django

django.setup()

from django.db import connection, transaction  # noqa: E402  (models need the set-up)

from audit.reports.kinds import Asked, Interval, all_kinds  # noqa: E402
from bench.contest import say  # noqa: E402
from bench.playing import play_when_told  # noqa: E402
from players.models import Player  # noqa: E402

SCAN = "SELECT currency, count(*), sum(staked), sum(paid) FROM games_participation WHERE mode = 'R' GROUP BY currency"
UNTIL = datetime.now(UTC)
EVERYTHING = Interval(UNTIL - timedelta(days=400), UNTIL)


def report() -> None:
    """Make every kind of report, each in a transaction that sees one state; a statement is of one player."""
    asked = Asked(EVERYTHING, {"player": f"player:{Player.objects.earliest('pk').pk}"}, "UTC")
    for kind in all_kinds():
        begun = time.perf_counter()
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            answer = kind.answer(asked)
            rows = sum(1 for _ in answer.rows)
            answer.totals()
        told.setdefault(kind.name, f"  {kind.name}: {rows:,} rows in {time.perf_counter() - begun:.2f} s")


def scan() -> None:
    """Read every part of every player once."""
    subprocess.run(["psql", "-qAtX", "-c", SCAN, HOUSE["database"]], check=True, stdout=subprocess.DEVNULL)


told: dict[str, str] = {}  # of the first report of each kind

if __name__ == "__main__":
    HOUSE = json.loads(sys.argv[1])
    if sys.argv[2] == "scan":
        play_when_told(scan)
    else:
        play_when_told(report, units=len(all_kinds()))
        say("\n".join(told.values()))
