"""A round of a public beacon goes into the shuffle of a shoe: chosen in the log before it exists, and verified."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from audit.sealing import sealer
from audit.verification import house
from games import deals
from games.chemin import tick
from games.engine.chemin import Phase as Engine
from games.engine.commitments import entropy_of
from games.history.card_proofs import file_of
from games.models import LiveTable, Shoe, ShoeBeacon, ShoeCut
from games.shared import moves, phases
from games.shared.phases import read_awake
from games.shared.shoes import next_binding
from games.tables import clock
from players.models import Player
from tests.beacon_server import BeaconServer, beacon_server
from tests.builders import a_player
from tests.chemin.at_table import a_chemin_table, seated_players, seen_of, take_bank
from tests.examples.test_verify_round_in_perl import check as in_perl
from tests.harness.owner import OwnerWithin, as_owner
from tests.live.at_table import round_at
from tests.live.test_cut_shoes import a_cut_shoe, address_of, all_bound, digest_of
from tests.people import a_visitor, events
from tests.vectors import BEACONS

pytestmark = pytest.mark.django_db
VALUE = "ab" * 16
NUMBER, SIGNATURE = BEACONS["rounds"][0]["round"], BEACONS["rounds"][0]["signature"]
LINE = f"beacon {BEACONS['chain']} {NUMBER} {SIGNATURE}"
PERIOD = 10_000  # seconds; so long that the chosen round is the one that the test has
SCRIPT = Path(__file__).parents[2] / "tools" / "verify_round.py"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[BeaconServer]:
    """A beacon whose next round is the published one."""
    with beacon_server(tmp_path) as server:
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        settings.BEACON_URL, settings.BEACON_PERIOD, settings.BEACON_SECONDS = server.url, PERIOD, 25
        settings.BEACON_GENESIS = int(clock.now().timestamp()) - (NUMBER - 2) * PERIOD - PERIOD // 2
        yield server


@pytest.fixture
def player() -> Player:
    return a_player(real=1_000_000)


@pytest.fixture
def cut(server: BeaconServer, player: Player, owner: OwnerWithin) -> ShoeCut:
    """The next shoe of a shared table, to which a player has added."""
    cut = a_cut_shoe(player, owner)
    assert moves.bind_chance(cut.live_table_id, cut.shoe_id, player.pk, digest_of(VALUE))
    all_bound(cut)
    assert moves.open_chance(cut.live_table_id, cut.shoe_id, player.pk, VALUE)
    return cut


def end_cut() -> None:
    as_owner("UPDATE games_shoecut SET open_until = clock_timestamp()")


def the_round_comes(server: BeaconServer, settings: Settings) -> None:
    """Let the time of the round come, by moving all rounds."""
    settings.BEACON_GENESIS -= PERIOD
    server.publish(NUMBER)


def give_up() -> None:
    as_owner("UPDATE games_shoebeacon SET wait_until = clock_timestamp()")


def page_of(player: Player, live_table_id: int) -> str:
    visitor = a_visitor()
    visitor.force_login(player.user)
    return str(visitor.get(address_of(live_table_id)).text)


def shoe_of(cut: ShoeCut) -> Shoe:
    assert phases.advance(cut.live_table_id)
    return round_at(LiveTable.objects.get(pk=cut.live_table_id)).shoe


def findings() -> list[str]:
    """Return the faults that the verification of the house finds in the deals of the log."""
    sealer.seal()
    return [each.text for each in house.run(is_whole=True, parts=["rounds"])]


def test_the_round_that_was_chosen_before_it_existed_goes_in_and_everybody_can_verify_it(
    cut, server, settings, player, tmp_path
):
    (committed,) = events("shoe.committed")
    assert committed["data"]["beacon"] == {"chain": BEACONS["chain"], "round": NUMBER}
    assert f"Round {NUMBER} of the public beacon drand is added" in page_of(player, cut.live_table_id)
    end_cut()
    phases.advance(cut.live_table_id)
    assert ShoeCut.objects.exists()  # the table waits
    assert not read_awake(cut.live_table_id).is_late
    the_round_comes(server, settings)
    shoe = shoe_of(cut)
    added = [f"{digest_of(VALUE)} {VALUE}", LINE]
    assert (shoe.pk, shoe.entropy) == (cut.shoe_id, entropy_of(added))
    opened = events("shoe.opened")[-1]["data"]
    assert opened["chances"] == added
    assert opened["beacon"] == {"chain": BEACONS["chain"], "round": NUMBER, "signature": SIGNATURE}
    added_by = "1 player has added random numbers to this shoe."
    is_in = f"{added_by} Round {NUMBER} of the public beacon drand is included."
    assert is_in in page_of(player, cut.live_table_id)
    settings.BEACON_GENESIS += PERIOD
    assert findings() == []
    ran = prove(file_of(shoe), tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert f"beacon      round {NUMBER} of {BEACONS['chain']}\nits network matches" in ran.stdout
    ran = in_perl(tmp_path / "proof.json")
    assert (ran.returncode, "entropy                  matches" in ran.stdout) == (0, True)


def prove(proof: dict[str, Any], folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the script on a proof."""
    file = folder / "proof.json"
    file.write_text(json.dumps(proof))
    command = [sys.executable, *options, str(SCRIPT), "--proof", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_script_finds_a_round_that_the_network_did_not_sign_and_says_which_library_it_needs(
    cut, server, settings, tmp_path
):
    end_cut()
    the_round_comes(server, settings)
    proof = file_of(shoe_of(cut))
    other = BEACONS["rounds"][1]["signature"]
    lines = [proof["chances"][0], LINE.replace(SIGNATURE, other)]
    forged = {"chances": lines, "entropy": entropy_of(lines), "beacon": proof["beacon"] | {"signature": other}}
    ran = prove(proof | forged, tmp_path)
    assert (ran.returncode, "its network DOES NOT MATCH" in ran.stdout) == (1, True)
    ran = prove(proof | {"beacon": None}, tmp_path)
    assert ran.returncode == 1
    ran = prove(proof, tmp_path, "-I", "-S")
    assert (ran.returncode, "install pyblst" in ran.stderr) == (2, True)
    prove(proof | {"chances": [LINE, proof["chances"][0]]}, tmp_path)  # a beacon's line comes last
    assert in_perl(tmp_path / "proof.json").returncode == 1


def test_where_the_beacon_is_away_the_shoe_goes_without_it_and_page_and_log_say_so(cut, player, tmp_path):
    end_cut()
    phases.advance(cut.live_table_id)
    assert ShoeCut.objects.exists()
    give_up()
    shoe = shoe_of(cut)
    assert shoe.entropy == entropy_of([f"{digest_of(VALUE)} {VALUE}"])
    assert events("shoe.opened")[-1]["data"]["beacon"]["signature"] == ""
    assert f"Round {NUMBER} of the public beacon drand did not arrive in time" in page_of(player, cut.live_table_id)
    assert findings() == []
    ran = prove(file_of(shoe), tmp_path, "-I", "-S")
    assert (ran.returncode, f"round {NUMBER} did not come in time" in ran.stdout) == (0, True)


def test_an_installation_without_a_beacon_asks_nobody(player, owner):
    cut = a_cut_shoe(player, owner)
    assert events("shoe.committed")[-1]["data"]["beacon"] is None
    assert not ShoeBeacon.objects.exists()
    end_cut()
    shoe_of(cut)
    assert events("shoe.opened")[-1]["data"]["beacon"] is None


class TestTheWebRole:
    def open(self, cut: ShoeCut, entropy: str) -> Shoe:
        live_table = LiveTable.objects.select_related("table").get(pk=cut.live_table_id)
        return moves.open_shoe(live_table, deals.new_shoe(next_binding(live_table, cut.shoe_id), entropy))

    def test_does_not_go_without_the_round_while_it_is_awaited(self, cut):
        end_cut()
        with pytest.raises(moves.DoesNotFit):
            self.open(cut, entropy_of([f"{digest_of(VALUE)} {VALUE}"]))

    def test_does_not_leave_out_a_round_that_came(self, cut):
        end_cut()
        assert moves.take_beacon(cut.shoe_id, SIGNATURE)
        with pytest.raises(moves.DoesNotFit):
            self.open(cut, entropy_of([f"{digest_of(VALUE)} {VALUE}"]))

    def test_brings_a_round_once_and_after_the_cut(self, cut):
        assert not moves.take_beacon(cut.shoe_id, SIGNATURE)
        end_cut()
        assert not moves.take_beacon(cut.shoe_id, SIGNATURE.upper())
        assert moves.take_beacon(cut.shoe_id, SIGNATURE)
        assert not moves.take_beacon(cut.shoe_id, "0" * 96)

    def test_is_found_out_where_it_brings_another_signature(self, cut, settings):
        end_cut()
        assert moves.take_beacon(cut.shoe_id, BEACONS["rounds"][1]["signature"])
        shoe_of(cut)
        assert f"shoe:{cut.shoe_id}: round {NUMBER} of the beacon has a different signature." in findings()

    def test_is_found_out_where_it_chose_a_round_that_existed(self, cut, server, settings):
        end_cut()
        the_round_comes(server, settings)
        shoe_of(cut)
        assert f"shoe:{cut.shoe_id}: round {NUMBER} of the beacon already existed when it was chosen." in findings()


def test_the_same_at_chemin_de_fer(server, settings):
    live_table = a_chemin_table()
    seated_players(live_table, 2)
    take_bank(live_table)
    cut = ShoeCut.objects.get()
    end_cut()
    assert tick.due() == [live_table.pk]
    assert not tick.advance(live_table.pk)
    assert seen_of(live_table).phase is Engine.SHOE
    the_round_comes(server, settings)
    assert tick.advance(live_table.pk)
    assert seen_of(live_table).phase is Engine.CALLS
    assert moves.chances(cut.shoe_id) == [LINE]
    assert Shoe.objects.get().entropy == entropy_of([LINE])
