"""tools/verify_round.py, which shares no code with the engine, deals the same cards."""

import ast
import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from games.engine import card_tree
from games.engine.commitments import Binding, Purpose
from games.engine.coup import Side, deal
from games.engine.dealing import coup_at
from games.engine.shoe import shuffle
from tests.engine.test_shoe_vectors import binding_of, every_shoe
from tests.harness.sweeps import sample
from tests.vectors import ROUNDS, SHOES

SCRIPT = Path(__file__).parents[2] / "tools" / "verify_round.py"


def verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the script isolated: no site packages, another directory."""
    return subprocess.run(
        [sys.executable, "-I", "-S", SCRIPT, *arguments], capture_output=True, text=True, check=False, cwd="/"
    )


def named(binding: Binding) -> list[str]:
    """Return the arguments for what a commitment names."""
    proofs = {"purpose": binding.purpose.value, "id": binding.id, "table": binding.table, "rules": binding.rules}
    return [word for name, value in (proofs | {"decks": binding.decks}).items() for word in (f"--{name}", str(value))]


@pytest.mark.parametrize("number", sample(range(12), 1))
@pytest.mark.parametrize(("decks", "player_value"), [(1, ""), (1, "mine ♣"), (8, "")])
def test_it_deals_what_the_house_dealt(number: int, decks: int, player_value: str) -> None:
    seed = sha256(b"%d" % number).digest()
    binding = Binding(Purpose.SOLO, "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6b", 7, decks, "ab" * 32)
    coup = deal(shuffle(seed, decks, player_value))
    ran = verify(seed.hex(), binding.commitment(seed), *named(binding), "--player-value", player_value)
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
    given = [case["seed"], case["commitment"], *named(binding_of(case)), "--player-value", case["player_value"]]
    ran = verify(*given)
    printed = dict(line.split(maxsplit=1) for line in ran.stdout.splitlines())
    expected = (case["cards"], case["outcome"], "matches")
    assert (printed["cards"], printed["outcome"], printed["commitment"]) == expected
    assert verify(*given, "--id", "0198c5f2-3c4d-7e8f-9a0b-1c2d3e4f5a6c").returncode == 1


@every_shoe
def test_a_published_shoe_is_dealt_and_held_to_its_commitment_and_root(case: dict[str, Any]) -> None:
    given = [case["seed"], case["commitment"], *named(binding_of(case)), "--player-value", case["entropy"]]
    ran = verify(*given, "--root", case["root"])
    assert ran.returncode == 0
    *cards, root, commitment = ran.stdout.splitlines()
    assert (root.split(), commitment.split()) == (["root", case["root"]], ["commitment", "matches"])
    codes = [card["card"] for card in case["coup"]]
    if case["purpose"] == "chemin":
        assert [card for line in cards for card in line.split()[1:]][156:160] == codes
    else:
        assert cards[0].split() == ["burned", str(case["burned"]), "beginning", "with", case["burn"]]
        assert cards[3].split() == ["3", str(case["coup"][0]["place"] + 1), *codes]
    for other in (["--root", "00" * 32], ["--table", "99"], ["--player-value", "another"]):
        assert verify(*given, "--root", case["root"], *other).returncode == 1


def proof_of(case: dict[str, Any], *, with_seed: bool) -> dict[str, Any]:
    """Return the file of a shoe of which one round was played, as its page gives it."""
    seed = bytes.fromhex(case["seed"])
    cards = shuffle(seed, case["decks"], case["entropy"])
    salts = card_tree.salts(seed, len(cards), case["entropy"])

    def proofs(positions: range) -> list[dict[str, Any]]:
        return [{"place": at, "card": cards[at].code, "salt": salts[at].hex()} for at in positions]

    same = ("purpose", "id", "table", "decks", "rules", "commitment", "entropy", "chances", "root", "burned")
    first = case["burned"]
    return {name: case[name] for name in same if name in case} | {
        "leaves": [leaf.hex() for leaf in card_tree.leaves(cards, salts)],
        "burn": proofs(range(1))[0] if first else None,
        "seed": case["seed"] if with_seed else None,
        "rounds": [{"number": 1, "cards": proofs(range(first, first + len(coup_at(cards, first).cards)))}],
    }


def round_of(case: dict[str, Any]) -> dict[str, Any]:
    """Return a round of a shoe in play as the API gives it."""
    shoe = {"id": case["id"], "purpose": case["purpose"], "rules_digest": case["rules"], "round_number": 3}
    shoe |= {"cards_root": case["root"], "entropy": case["entropy"], "cards": case["coup"]}
    return {"table_id": case["table"], "decks": case["decks"], "commitment": case["commitment"], "seed": None} | {
        "shoe": shoe
    }


@every_shoe
@pytest.mark.parametrize("what", ["in play", "ended", "of the API"])
def test_each_card_of_a_proof_is_held_against_the_root(tmp_path: Path, case: dict[str, Any], what: str) -> None:
    file = tmp_path / "proof.json"
    proof = round_of(case) if what == "of the API" else proof_of(case, with_seed=what == "ended")
    file.write_text(json.dumps(proof))
    ran = verify("--proof", str(file), "--root", case["root"])
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ("commitment" in ran.stdout) == (what == "ended")
    assert verify("--proof", str(file), "--root", "00" * 32).returncode == 1
    (played,) = proof.get("rounds") or [proof["shoe"]]
    card = played["cards"][1]
    for name, other in (("card", "AC" if card["card"] != "AC" else "KS"), ("salt", "00" * 16), ("place", 0)):
        right, card[name] = card[name], other
        file.write_text(json.dumps(proof))
        assert verify("--proof", str(file)).returncode == 1, name
        card[name] = right


@pytest.mark.parametrize("case", [case for case in SHOES if "chances" in case], ids=lambda case: case["purpose"])
def test_what_players_added_is_held_against_the_shuffle(tmp_path: Path, case: dict[str, Any]) -> None:
    file, proof = tmp_path / "proof.json", proof_of(case, with_seed=False)
    added, (digest, value) = proof["chances"], proof["chances"][0].split()
    for spoilt in (
        [],
        added[1:],
        [*added, added[0]],
        [f"{digest} {value[::-1]}", *added[1:]],
        [f"{'0' * 64} {value}", *added[1:]],
    ):
        file.write_text(json.dumps(proof | {"chances": spoilt}))
        ran = verify("--proof", str(file))
        assert (ran.returncode, "entropy     DOES NOT MATCH" in ran.stdout) == (1, True)
    file.write_text(json.dumps(proof))
    assert verify("--proof", str(file)).stdout.splitlines()[1:3] == [
        f"cut by      {len(added)} players",
        "entropy     matches",
    ]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"leaves": ["zz"], "root": ""}'])
def test_a_file_that_is_no_proof_is_said_to_be_none(tmp_path: Path, content: str) -> None:
    file = tmp_path / "proof.json"
    file.write_text(content)
    ran = verify("--proof", str(file))
    assert ran.returncode == 2
    assert "is no proof: " in ran.stderr


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
        (["00" * 32, "00", "--decks", "8", "--purpose", "shoe", "--first-card", "0"], "no round begins"),
        (["00" * 32, "00", "--decks", "8", "--purpose", "shoe", "--first-card", "412"], "no round begins"),
        (["00" * 32], "missing"),
    ],
)
def test_what_makes_no_sense_is_said(arguments: list[str], complaint: str) -> None:
    ran = verify(*arguments)
    assert ran.returncode == 2
    assert complaint in ran.stderr


def imported_by(node: ast.AST) -> set[str]:
    """Return the names of the modules that a piece of code imports."""
    return {
        str(alias.name if isinstance(each, ast.Import) else each.module).partition(".")[0]
        for each in ast.walk(node)
        if isinstance(each, ast.Import | ast.ImportFrom)
        for alias in each.names
    }


def test_it_depends_on_nothing_but_the_standard_library_and_on_one_more_where_a_beacon_is_verified() -> None:
    whole = ast.parse(SCRIPT.read_text(encoding="utf-8"))
    (verifying,) = (each for each in whole.body if isinstance(each, ast.FunctionDef) and each.name == "is_signed")
    assert imported_by(verifying) == {"pyblst"}
    whole.body.remove(verifying)
    assert imported_by(whole) <= sys.stdlib_module_names
