"""The benches run, and say what they should: not how fast anything is."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench.__main__ import NAMES
from bench.contest import Contest, Pace, Result, Suite, measure
from tests.harness.folders import fresh_folder

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 480.0
AIMS = {
    "engine_coups": 0.2,
    "fast_coups": 10,
    "solo_service": 0.4,
    "solo_http": 0.2,
    "api_round": 0.2,
    "live_bets_http": 0.2,
    "posting": 0.8,
    "posting_vs_hordak": 5,
    "hot_house": 0.9,
    "audit_on": 0.8,
    "verify_leaves": 0.25,
    "push_500_p99_ms": 4,
    "close_bets_100": 0.25,
    "pay_all_100": 0.25,
    "close_bets_1000": 0.25,
    "pay_all_1000": 0.25,
    "close_bets_10000": 0.25,
    "pay_all_10000": 0.25,
    "report_10m": 1,
    "lists_10m": 0.8,
    "seal_rate": None,
    "first_start": None,
    "next_start": None,
}
GROWN = ("lobby", "deal", "history", "player_page", "reports", "dashboard")
AIMS |= {f"growth_{page}_{size}": 1.5 for page in GROWN for size in ("1m", "10m")}
OVER_THE_HOUSE = ("solo_service", "solo_http", "api_round", "live_bets_http")
MOVEMENTS = ("posting", "hot_house", "audit_on")
WHOLE_ROUNDS = ("close_bets_100", "pay_all_100")
SEALING = ("seal_rate",)
REPORTS = ("report_10m",)
LISTS = ("lists_10m",)
GROWTH = tuple(f"growth_{page}_1m" for page in GROWN)
HORDAK = ("posting_vs_hordak",) if importlib.util.find_spec("hordak") else ()


@pytest.fixture
def var() -> Iterator[Path]:
    """Where the bench keeps what it makes, so that a real one's results stay."""
    folder = fresh_folder("sabot-bench-")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def bench(var: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", "--quick", *arguments],
        cwd=PROJECT,
        env=os.environ | {"SABOT_VAR": str(var)} | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@dataclass(frozen=True)
class Run:
    """A run that has ended."""

    done: subprocess.CompletedProcess[str]
    results: dict[object, dict[str, object]]
    left: list[str]


@pytest.fixture(scope="module")
def of_houses() -> Iterator[Run]:
    """One run of everything that needs a house: one pair of servers, and two clients where `make bench` has four."""
    folder = fresh_folder("sabot-bench-")
    done = bench(
        folder,
        *OVER_THE_HOUSE,
        *MOVEMENTS,
        *HORDAK,
        *WHOLE_ROUNDS,
        *SEALING,
        *REPORTS,
        *LISTS,
        *GROWTH,
        CLIENTS="2",
        ROUNDS="2000",
        ROWS="2000",
    )
    assert done.returncode == 0, done.stderr
    results = {each["name"]: each for each in written(folder)}
    yield Run(done, results, [path.name for path in (folder / "bench").iterdir()])
    shutil.rmtree(folder, ignore_errors=True)


def written(var: Path) -> list[dict[str, object]]:
    results: list[dict[str, object]] = json.loads((var / "bench.json").read_text())
    for each in results:
        assert list(each) == ["name", "ours", "yardstick", "ratio", "unit", "aim"]
        ours, yardstick, ratio = each["ours"], each["yardstick"], each["ratio"]
        assert isinstance(ours, float)
        assert isinstance(yardstick, float)
        assert ratio == pytest.approx(ours / yardstick, rel=0.1, abs=1e-4)
        assert each["aim"] == AIMS.get(str(each["name"]))
    return results


@pytest.mark.sweep
def test_what_needs_a_house_is_measured_on_durable_servers_of_which_nothing_is_left(of_houses: Run) -> None:
    kinds = (OVER_THE_HOUSE, MOVEMENTS, HORDAK, WHOLE_ROUNDS, SEALING, REPORTS, LISTS, GROWTH)
    assert set(of_houses.results) == {name for kind in kinds for name in kind}
    for name in of_houses.results:
        assert str(name) in of_houses.done.stdout
    suites = 1 + len(MOVEMENTS) + len(HORDAK) + 1 + len(SEALING) + len(REPORTS) + len(LISTS) + 1
    assert of_houses.done.stderr.count("fsync on, synchronous_commit on") == suites
    assert of_houses.done.stderr.count("Migrating …") == 1
    assert of_houses.left == []


@pytest.mark.parametrize("names", [OVER_THE_HOUSE, WHOLE_ROUNDS])
@pytest.mark.sweep
def test_what_is_of_one_kind_is_measured_against_one_yardstick(of_houses: Run, names: tuple[str, ...]) -> None:
    assert len({of_houses.results[name]["yardstick"] for name in names}) == 1


@pytest.mark.sweep
def test_movements_of_money_are_measured_with_a_yardstick_for_each_question(of_houses: Run) -> None:
    assert len({of_houses.results[name]["yardstick"] for name in MOVEMENTS}) == len(MOVEMENTS)


@pytest.mark.sweep
def test_what_a_house_with_a_past_is_asked_is_told_one_by_one_and_what_grew_most_counts(of_houses: Run) -> None:
    asked: dict[str, list[tuple[float, float]]] = {name: [] for name in GROWTH}
    for name, ours, before in re.findall(
        r"^  (growth_\w+): .*: ([\d.]+) ms, ([\d.]+) before", of_houses.done.stderr, re.M
    ):
        asked[name].append((float(ours), float(before)))
    for name, times in asked.items():
        result = of_houses.results[name]
        assert (result["ours"], result["yardstick"]) in times
        assert result["ratio"] == pytest.approx(max(ours / before for ours, before in times), rel=0.1)
    assert {name: len(times) > 1 for name, times in asked.items()} == dict.fromkeys(GROWTH, True)


@pytest.mark.sweep
def test_the_ledger_is_measured_against_django_hordak_or_the_bench_says_how_to_get_it(
    var: Path, request: pytest.FixtureRequest
) -> None:
    """It is no requirement of the house, nor of its tests."""
    if HORDAK:
        assert set(HORDAK) <= set(request.getfixturevalue("of_houses").results)
        return
    done = bench(var, "posting_vs_hordak")
    assert done.returncode == 1
    assert "not measured: django-hordak is not installed: pip install -r requirements-bench.txt" in done.stderr
    assert written(var) == []


@pytest.mark.sweep
def test_coups_are_measured_against_the_npm_package_or_the_bench_says_why_not(var: Path) -> None:
    """Where npm is missing or reaches no registry, there is nothing to measure against."""
    done = bench(var, "engine_coups", "fast_coups", "fast_shoe_coups")
    if done.returncode:
        assert "not measured: " in done.stderr
        assert written(var) == []
        return
    assert [each["name"] for each in written(var)] == ["engine_coups", "fast_coups", "fast_shoe_coups"]


@pytest.mark.sweep
def test_a_first_and_a_next_start_are_measured_to_the_page_and_to_the_database(var: Path) -> None:
    done = bench(var, "first_start", "next_start")
    assert done.returncode == 0, done.stderr
    first, first_cpu, following, following_cpu = written(var)
    names = ["first_start", "first_start_cpu", "next_start", "next_start_cpu"]
    assert [each["name"] for each in (first, first_cpu, following, following_cpu)] == names
    assert first["ours"] > following["ours"] > 0  # type: ignore[operator]
    assert first_cpu["ours"] > following_cpu["ours"] > 0  # type: ignore[operator]
    assert list((var / "bench").iterdir()) == []


def test_without_node_the_bench_says_so_in_a_line_and_fails(var: Path, tmp_path: Path) -> None:
    done = bench(var, "engine_coups", PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "engine_coups: not measured: node is not installed; Node.js brings it"
    assert written(var) == []


def test_a_name_that_is_none_is_refused(var: Path) -> None:
    done = bench(var, "roulette")
    assert done.returncode == 2
    assert "invalid choice: 'roulette'" in done.stderr


def test_every_bench_asked_for_by_name_is_there() -> None:
    assert set(AIMS) <= set(NAMES)


def test_both_sides_are_measured_in_turn_and_medians_compared() -> None:
    calls: list[str] = []
    rates = {"ours": iter([0.0, 10.0, 1000.0, 20.0]), "theirs": iter([0.0, 30.0, 40.0, 1.0])}

    def contestant(name: str, seconds: float) -> float:
        calls.append(name)
        return next(rates[name])

    class Open:
        def __enter__(self) -> Contest:
            return Contest(lambda seconds: contestant("theirs", seconds), {"x": lambda s: contestant("ours", s)})

        def __exit__(self, *error: object) -> None:
            calls.append("closed")

    suite = Suite("a test", "things/s", {"x": 0.5}, lambda names: Open())
    (result,) = measure(suite, ["x"], Pace(seconds=0, rounds=3))
    assert calls == ["theirs", "ours"] * 4 + ["closed"]
    assert result == Result("x", ours=20.0, yardstick=30.0, unit="things/s", aim=0.5)
