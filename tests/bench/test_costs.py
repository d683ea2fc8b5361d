"""The costs from which capacity is reckoned are those of the processes and bytes they are said to be of."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench.contest import Pace
from bench.costs import Cost, Till, cost_of
from tests.harness.folders import fresh_folder

PROJECT = Path(__file__).resolve().parents[2]
DEEDS = ["pgbench_transfer", "posting", "solo_http", "api_round", "live_bets_http"]


@pytest.mark.sweep
def test_each_deed_has_a_row_and_costs_something():
    folder = fresh_folder("sabot-bench-")
    done = subprocess.run(
        [sys.executable, "-m", "bench.costs", "--quick"],
        cwd=PROJECT,
        env=os.environ | {"SABOT_VAR": str(folder), "CLIENTS": "2"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    shutil.rmtree(folder, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == DEEDS
    assert all(int(row[3].replace(",", "")) > 0 for row in rows)  # each writes


def test_costs_are_shared_by_the_deeds_and_the_middle_one_counts():
    read = [Cost(0, 0, 0, 0), Cost(30, 60, 300, 600)]  # the first run begins and ends
    read += [Cost(30, 60, 300, 600), Cost(40, 80, 310, 610)]
    read += [Cost(40, 80, 310, 610), Cost(90, 90, 900, 900)]

    class OfNumbers(Till):
        def __init__(self) -> None:
            self.left = list(read)

        def read(self) -> Cost:
            return self.left.pop(0)

    done: list[float] = []

    def do(seconds: float) -> float:
        done.append(seconds)
        return 5.0  # a second, so ten a run

    # For each deed: 3, 6, 30 and 60, then 1, 2, 1 and 1, then 5, 1, 59 and 29.
    assert cost_of(do, OfNumbers(), Pace(seconds=2.0, rounds=3)) == Cost(3, 2, 30, 29)
    assert done == [1.0, 2.0, 2.0, 2.0]
