"""examples/verify_round.pl, which shares no code with the house, finds the published cases right, and faults wrong."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.vectors import FOLDER, ROUNDS, SHOES

SCRIPT = Path(__file__).parents[2] / "examples" / "verify_round.pl"
CORE = ("Digest::SHA", "JSON::PP", "List::Util")


def check(*files: Path) -> subprocess.CompletedProcess[str]:
    """Run the script."""
    perl = shutil.which("perl")
    assert perl, "Perl is missing: install the package perl"
    ran = subprocess.run([perl, *[f"-M{name}" for name in CORE], "-e1"], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, f"Perl lacks its core modules, as in perl-base: install the package perl\n{ran.stderr}"
    return subprocess.run([perl, SCRIPT, *files], capture_output=True, text=True, check=False, cwd="/")


def test_it_finds_what_the_engine_finds() -> None:
    ran = check(FOLDER / "shoes.json", FOLDER / "rounds.json")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert all(line.endswith(" matches") for line in lines)
    cut = [case for case in SHOES if "chances" in case]
    assert len(lines) == 4 * len(SHOES) + len(cut) + 3 * len(ROUNDS)


def a_card(case: dict[str, Any]) -> None:
    case["coup"][1]["card"] = "AC" if case["coup"][1]["card"] != "AC" else "KS"


def a_position(case: dict[str, Any]) -> None:
    case["coup"][1]["place"] += 1


def a_salt(case: dict[str, Any]) -> None:
    case["coup"][2]["salt"] = "00" * 16


def a_path(case: dict[str, Any]) -> None:
    case["coup"][2]["path"].pop()


def a_table(case: dict[str, Any]) -> None:
    case["table"] += 1


def a_value(case: dict[str, Any]) -> None:
    case["entropy"] += "x"


@pytest.mark.parametrize("spoil", [a_card, a_position, a_salt, a_path, a_table, a_value])
def test_it_finds_whatever_is_spoilt(tmp_path: Path, spoil: Callable[[dict[str, Any]], None]) -> None:
    case: dict[str, Any] = json.loads(json.dumps(SHOES[0]))
    spoil(case)
    file = tmp_path / "shoe.json"
    file.write_text(json.dumps([case]))
    ran = check(file)
    assert ran.returncode == 1
    assert "DOES NOT MATCH" in ran.stdout
