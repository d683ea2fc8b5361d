"""docs/api.md is correct: its first example runs unchanged, and its list of codes is complete."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from games.models import Participation
from players.api.problems import KINDS
from tests.api.client import ApiClient
from tests.api.operations import operations
from tests.builders import a_player, a_table
from wallet.models import Mode

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text()
CODES = dict(re.findall(r"^\| `([a-z-]+)` \| (\d+) \|", DOCUMENT, re.MULTILINE))


def test_the_first_example_plays_a_round(cloned_db, web_server):
    a_table()
    player = a_player(free=1_000_000)
    (example, *_) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    surroundings = {"SABOT_HOUSE": web_server.url, "SABOT_TOKEN": ApiClient(player.user).key}
    done = subprocess.run(
        [sys.executable, "-c", example],
        env=os.environ | surroundings,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    part = Participation.objects.get(player=player)
    assert (part.mode, part.staked) == (Mode.FREE, 5000)
    assert done.stdout.endswith(f"→ {part.paid}\n")


def test_codes_have_the_status_that_is_said_of_them():
    assert CODES
    assert {code: str(int(KINDS[code].status)) for code in CODES} == CODES


def test_every_code_that_any_call_may_meet_is_explained():
    common = set.intersection(*(set(said_of(each)) for each in operations() if each.is_write and each.path_parameters))
    assert common <= set(CODES)


def said_of(operation) -> list[str]:
    return re.findall("`([a-z-]+)`", " ".join(each["description"] for each in operation.said["responses"].values()))


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(?:GET|POST) ([a-z<>/]+)`", DOCUMENT))))
def test_every_address_it_names_is_there(path):
    named = re.sub("<[a-z]+>", "{}", f"/api/v1/{path}")
    assert named in {re.sub("{[a-z_]+}", "{}", each.address) for each in operations()}
