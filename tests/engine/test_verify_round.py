"""tools/verify_round.py, which shares no code with the engine, deals the same cards."""

import ast
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from games.engine.coup import Side, deal
from games.engine.shoe import commitment, shuffle
from tests.harness.sweeps import sample
from tests.vectors import ROUNDS

SCRIPT = Path(__file__).parents[2] / "tools" / "verify_round.py"


def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script isolated: no site packages, another directory."""
    return subprocess.run(
        [sys.executable, "-I", "-S", SCRIPT, *arguments], capture_output=True, text=True, check=False, cwd="/"
    )


@pytest.mark.parametrize("number", sample(range(12), 1))
@pytest.mark.parametrize(("decks", "player_value"), [(1, ""), (1, "mine ♣"), (8, "")])
def test_it_deals_what_the_house_dealt(number: int, decks: int, player_value: str) -> None:
    seed = sha256(b"%d" % number).digest()
    coup = deal(shuffle(seed, decks, player_value))
    ran = verify(seed.hex(), commitment(seed), "--decks", str(decks), "--player-value", player_value)
    printed = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())
    assert printed == {
        "cards": " ".join(map(str, coup.cards)),
        "player": f"{coup.player_total} with {' '.join(map(str, coup.hand(Side.PLAYER)))}",
        "banker": f"{coup.banker_total} with {' '.join(map(str, coup.hand(Side.BANKER)))}",
        "outcome": coup.outcome.value,
        "commitment": "matches",
    }
    assert ran.returncode == 0


@pytest.mark.parametrize("case", ROUNDS, ids=[case["id"][:4] + case["purpose"] for case in ROUNDS])
def test_the_commitment_of_a_solo_round_names_the_round_its_table_decks_and_rules(case: dict[str, Any]) -> None:
    known = ("purpose", "table", "rules", "decks")
    named = [word for name in known for word in (f"--{name}", str(case[name]))]
    given = [case["seed"], case["commitment"], *named, "--player-value", case["player_value"]]
    ran = verify(*given, "--round", case["id"])
    printed = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())
    expected = (case["cards"], case["outcome"], "matches")
    assert (printed["cards"], printed["outcome"], printed["commitment"]) == expected
    assert verify(*given, "--round", "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6c").returncode == 1


def test_a_broken_promise_shows() -> None:
    ran = verify("00" * 32, "11" * 32)
    assert ran.stdout.splitlines()[-1].endswith("DOES NOT MATCH")
    assert ran.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["zz", "00"], "hex"),
        (["00" * 31, "00"], "64 hex digits"),
        (["00" * 32, "00", "--decks", "9"], "decks"),
    ],
)
def test_what_makes_no_sense_is_said(arguments: list[str], complaint: str) -> None:
    ran = verify(*arguments)
    assert ran.returncode == 2
    assert complaint in ran.stderr


def test_it_depends_on_nothing_but_the_standard_library() -> None:
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {str(name).partition(".")[0] for name in imported} <= sys.stdlib_module_names
