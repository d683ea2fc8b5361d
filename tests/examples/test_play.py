"""examples/play.py, run as anybody runs it, against a house that answers."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from games.engine.commitments import entropy_of
from games.models import Participation, Phase, ShoeChance, ShoeCut
from games.shared import moves
from players.models import Player
from tests.api.client import ApiClient
from tests.builders import a_player, a_table
from tests.harness.sweeps import sample
from tests.harness.web import WebServer
from tests.live.at_table import a_live_table, advance_to, round_at, step
from tests.live.test_cut_shoes import spend
from tests.start.support import wait_until
from wallet.models import Mode

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "play.py"
MONEY = 1_000_000  # minor units
PATIENCE = 120  # seconds


@pytest.fixture
def player(cloned_db) -> Player:
    a_table()
    return a_player(real=MONEY, free=MONEY)


def begun(server: WebServer, key: str, *arguments: str, **streams: Any) -> subprocess.Popen[str]:
    """Start the program with a token."""
    return subprocess.Popen(
        [sys.executable, "-u", str(PROGRAM), server.url, *arguments],
        env={"SABOT_TOKEN": key, "PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8"},
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **streams,
    )


def run(server: WebServer, key: str, *arguments: str, typed: str = "") -> tuple[int, str, str]:
    """Run it to its end; return its status, output and errors."""
    process = begun(server, key, *arguments)
    said, complained = process.communicate(typed, timeout=PATIENCE)
    return process.returncode, said, complained


@pytest.mark.sweep
def test_it_says_which_tables_there_are(player, web_server):
    status, said, complained = run(web_server, ApiClient(player.user).key)
    assert (status, complained) == (0, "")
    assert said.split()[:2] == ["baccarat", "solo"]


def test_it_plays_the_given_bets_and_holds_each_seed_to_its_commitment(player, web_server):
    status, said, complained = run(
        web_server, ApiClient(player.user).key, "baccarat", "--bet", "player=50", "--bet", "tie=10", "--rounds", "3"
    )
    assert (status, complained) == (0, "")
    assert said.count("its seed is as committed") == 3
    rounds = Participation.objects.filter(player=player)
    assert [(part.staked, part.mode) for part in rounds] == [(6000, Mode.FREE)] * 3
    assert all(part.round.code in said for part in rounds.select_related("round"))


@pytest.mark.sweep
def test_it_plays_what_is_typed_and_goes_on_after_a_refusal(player, web_server):
    typed = "player fifty\nnonsense 50\nplayer 50, tie 10\n\n"
    status, said, complained = run(web_server, ApiClient(player.user).key, "baccarat", typed=typed)
    assert (status, complained) == (0, "")
    assert "'player fifty' is no bet: write player 50" in said
    assert said.count("its seed is as committed") == 1
    assert Participation.objects.get(player=player).staked == 6000


@pytest.mark.sweep
def test_it_follows_a_shared_table_and_bets_there(player, web_server):
    live_table = a_live_table()
    process = begun(web_server, ApiClient(player.user).key, live_table.table.slug, "--real", "--bet", "player=100")
    assert process.stdout
    assert process.stdout.readline().startswith("betting")
    assert process.stdout.readline().startswith("Bet 100.00 SEK")
    advance_to(live_table, Phase.SETTLED)
    step(live_table)
    said, complained = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complained) == (0, "")
    assert "Balance " in said
    part = Participation.objects.select_related("round").get(player=player)
    assert part.staked == 10_000
    assert f"Round {part.round.code}: its cards are as committed." in said


def test_it_adds_random_numbers_to_the_next_shoe_and_holds_it_to_them(player, web_server, owner, settings):
    settings.CUT_SECONDS = 4
    live_table = a_live_table()
    key, bets = ApiClient(player.user).key, ("--bet", "player=100", "--rounds", "2")
    process = begun(web_server, key, live_table.table.slug, "--real", *bets)
    assert process.stdout
    assert process.stdout.readline().startswith("betting")
    assert process.stdout.readline().startswith("Bet 100.00 SEK")
    spend(owner)
    advance_to(live_table, Phase.SETTLED)
    step(live_table)
    cut = ShoeCut.objects.get()
    wait_until(ShoeChance.objects.exclude(value="").exists, "the program opens no value")
    step(live_table)
    lines = iter(process.stdout.readline, "")
    assert "Shoe 2: what you added is in it.\n" in lines
    assert next(lines).startswith("Bet 100.00 SEK")
    (chance,) = moves.chances(cut.shoe_id)
    assert round_at(live_table).shoe.entropy == entropy_of([chance])
    advance_to(live_table, Phase.SETTLED)
    step(live_table)
    _, complained = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complained) == (0, "")


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("arguments", "words"),
    sample(
        [
            (("nowhere",), "There is no table 'nowhere' to play at"),
            (("baccarat", "--bet", "player"), "'player' is no bet"),
            (("baccarat", "--bet", "player=10.005"), "'player=10.005' is no bet"),
            (("baccarat", "--bet", "player=999999"), "The maximum bet"),
        ],
        1,
    ),
)
def test_what_goes_wrong_is_said_in_a_line(player, web_server, arguments, words):
    status, _, complained = run(web_server, ApiClient(player.user).key, *arguments)
    assert status == 1
    assert words in complained
    assert "Traceback" not in complained
    assert complained.count("\n") == 1
    assert not Participation.objects.filter(player=player).exists()


@pytest.mark.sweep
def test_without_a_token_and_without_a_house_as_well(player, web_server):
    status, _, complained = run(web_server, "")
    assert (status, complained) == (1, "The token is missing or not valid\n")
    web_server.process.terminate()
    web_server.process.wait()
    status, _, complained = run(web_server, "x")
    assert status == 1
    assert complained.startswith("The house cannot be reached")


@pytest.mark.sweep
def test_control_c_ends_it_politely(player, web_server):
    process = begun(web_server, ApiClient(player.user).key, "baccarat")
    assert process.stdout
    assert process.stdout.readline().startswith("Balance 10,000.00 SEK.")
    assert process.stdout.read(5) == "bet> "
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complained) == (0, "")
    assert said.endswith("Goodbye.\n")


def test_it_says_how_it_is_used():
    done = subprocess.run([sys.executable, str(PROGRAM), "--help"], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0
    assert "--bet NAME=AMOUNT" in done.stdout
    assert "SABOT_TOKEN" in done.stdout
