"""The benches run and print their figures; their speed is not tested."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.__main__ import BENCHES
from bench.measuring import Pace, Result, compare, repeat
from tests.harness.folders import fresh_folder

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 900.0
GROWN = ("lobby", "deal", "history", "player_page", "dashboard", "reports")
FIGURES = {
    "start": {"first_start", "first_start_cpu", "next_start", "next_start_cpu"},
    "pay_all": {"pay_all_100"},
    "push": {"push_500_p50", "push_500_p99", "push_500_processor"},
    "felt": {"felt_solo_chip", "felt_first_card", "felt_live_chip", "felt_frames"},
    "costs": {f"{name}_{where}" for name in ("solo_click", "live_click", "api_call") for where in ("web", "postgresql")}
    | {f"{name}_page_web" for name in ("lobby", "history", "cashier")},
    "shares": {
        f"{name}_{program}"
        for name in ("solo", "live", "api")
        for program in ("web", "postgresql", "dealer", "valkey", "clients")
    },
    "growth": {f"growth_{page}" for page in GROWN},
}


def bench(var: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", "--quick", *arguments],
        cwd=PROJECT,
        env=os.environ | {"SABOT_VAR": str(var)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def var() -> Iterator[Path]:
    """The folder in which the bench stores its files."""
    folder = fresh_folder("sabot-bench-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.sweep
def test_every_bench_prints_its_figures_and_leaves_nothing(var: Path) -> None:
    done = bench(var)
    assert done.returncode == 0, done.stderr
    rows = {row[0]: [float(figure.replace(",", "")) for figure in row[1:4]] for row in map(str.split, table(done))}
    assert set(rows) == {figure for name in BENCHES for figure in FIGURES.get(name, {name})}
    for ours, yardstick, ratio in rows.values():
        assert ratio == pytest.approx(ours / yardstick, rel=0.2, abs=1e-3)
    assert rows["first_start"][0] > rows["next_start"][0]
    assert "fsync on, full_page_writes on" in done.stderr
    assert done.stderr.count("Migrating …") == 1
    assert list((var / "bench").iterdir()) == []


def table(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the rows of the table, without its head."""
    return done.stdout.splitlines()[1:]


def test_a_bench_without_a_house_is_run_by_its_name(var: Path) -> None:
    done = bench(var, "odds")
    assert done.returncode == 0, done.stderr
    assert [row.split()[0] for row in table(done)] == ["odds"]


def test_an_unknown_name_is_refused(var: Path) -> None:
    done = bench(var, "roulette")
    assert done.returncode == 2
    assert "invalid choice: 'roulette'" in done.stderr


def test_both_sides_are_measured_in_turn_and_medians_compared() -> None:
    calls: list[str] = []
    rates = {"ours": iter([0.0, 10.0, 1000.0, 20.0]), "theirs": iter([0.0, 30.0, 40.0, 1.0])}

    def measure(name: str) -> float:
        calls.append(name)
        return next(rates[name])

    (result,) = compare(
        Pace(seconds=0, rounds=3), "a second", lambda _: measure("theirs"), {"x": lambda _: measure("ours")}, aim=0.5
    )
    assert calls == ["theirs", "ours"] * 4
    assert result == Result("x", ours=20.0, yardstick=30.0, unit="a second", aim=0.5)


def test_an_action_is_done_once_at_least() -> None:
    done: list[None] = []
    assert repeat(lambda: done.append(None), units=5)(0) > 0
    assert len(done) == 1
