"""`manage.py odds` and `manage.py settle`, also as whole processes, which start no database."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time

import pytest
from django.core.management import CommandError, call_command

from games.engine.chemin.odds import chemin_odds_json, chemin_odds_table
from games.engine.counting import count_coups
from games.engine.odds import as_json, as_table, exact
from games.variants import VARIANTS

ROOT = Path(__file__).parents[2]
Manage = Callable[..., subprocess.CompletedProcess[str]]

# Like the start of a process, it allocates and drops small objects, in its own interpreter.
YARDSTICK = """
import ast, pathlib
for _ in range(20):
    ast.parse(pathlib.Path(ast.__file__).read_text())
"""

QUESTION = '{"cards": ["9C", "2D", "KC", "KD"], "stakes": {"player": 5}}'


@pytest.fixture
def manage(tmp_path: Path) -> Iterator[Manage]:
    """Run manage.py with an empty state directory, and check that no server was started in it."""

    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "casino.settings", "SABOT_VAR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, ROOT / "manage.py", *arguments],
            input=given, capture_output=True, text=True, check=False, env=environment, cwd=ROOT,
        )  # fmt: skip

    yield run
    assert {path.name for path in tmp_path.iterdir()} <= {"keys"}


@pytest.mark.sweep
def test_odds_are_printed_for_people(manage: Manage) -> None:
    ran = manage("odds", "pairs")
    assert (ran.returncode, ran.stdout.splitlines()) == (0, as_table(VARIANTS["pairs"], 8))


@pytest.mark.sweep
@pytest.mark.parametrize("decks", [None, 6])
def test_odds_are_printed_for_machines(capsys: pytest.CaptureFixture[str], decks: int | None) -> None:
    call_command("odds", "no_commission", "--json", *(["--decks", str(decks)] if decks else []))
    assert json.loads(capsys.readouterr().out) == as_json(VARIANTS["no_commission"], decks or 8)


def test_odds_of_chemin_de_fer_are_printed_for_people_and_machines(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("odds", "chemin_de_fer")
    assert capsys.readouterr().out.splitlines() == chemin_odds_table(6)
    call_command("odds", "chemin_de_fer", "--decks", "8", "--json")
    assert json.loads(capsys.readouterr().out) == chemin_odds_json(8)


@pytest.mark.parametrize(
    "arguments",
    [
        ["odds", "faro"],
        ["odds", "chemin_de_fer", "--decks", "0"],
        ["odds", "pairs", "--decks", "0"],
        ["settle", "faro"],
    ],
)
def test_what_the_house_has_not_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError):
        call_command(*arguments)
    assert capsys.readouterr().out == ""


@pytest.mark.sweep
def test_a_refusal_is_a_line_and_an_exit_status(manage: Manage) -> None:
    ran = manage("odds", "faro")
    assert ran.returncode != 0
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr


@pytest.mark.sweep
def test_the_desk_answers_every_line_and_ends_well(manage: Manage) -> None:
    ran = manage("settle", "baccarat", given=f"{QUESTION}\n{QUESTION}\n")
    assert ran.returncode == 0
    assert [json.loads(line)["payouts"] for line in ran.stdout.splitlines()] == [{"player": 10}] * 2


def test_a_bad_line_at_the_desk_shows_in_the_exit_status(manage: Manage) -> None:
    ran = manage("settle", "baccarat", given=f"{QUESTION}\nnonsense\n{QUESTION}\n")
    assert ran.returncode == 1
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ["error" in answer for answer in answers] == [False, True, False]
    assert answers[1]["error"].startswith("line 2")


@pytest.mark.sweep
def test_all_ten_bets_without_commission_take_under_a_second_of_processor_time(manage: Manage) -> None:
    """The limit is relative to a machine that runs the yardstick in a quarter of a second; a busy
    machine slows both.
    """

    def spent(run: Callable[[], object]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    pairs = [
        (
            spent(lambda: manage("odds", "no_commission")),
            spent(lambda: subprocess.run([sys.executable, "-c", YARDSTICK], check=True)),
        )
        for _ in range(4)
    ]
    command, yardstick = map(min, zip(*pairs, strict=True))
    assert command < 4 * yardstick


def test_the_calculation_itself_takes_under_a_tenth_of_a_second_of_processor_time() -> None:
    def seconds() -> float:
        count_coups.cache_clear()
        began = process_time()
        exact(VARIANTS["no_commission"])
        return process_time() - began

    assert min(seconds() for _ in range(5)) < 0.1
