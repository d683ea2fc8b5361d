"""examples/check_receipt.py, run as anybody runs it, against copies of the public log and with no house."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from audit.sealing import witnesses
from audit.verification.verify import tile_path
from casino.public_log import Tile, content
from games.deals import trusted_keys
from games.models import Phase
from games.rounds import receipts
from tests.audit.sealed import an_event, sign
from tests.audit.signing import Pens
from tests.builders import a_player, a_round, a_table
from tests.live.at_table import a_live_table, advance_to, bet, round_at

PROGRAM = Path(__file__).resolve().parents[2] / "examples" / "check_receipt.py"
RICH = 1_000_000
TWO_DAYS = 172_800


@pytest.fixture
def pens(settings, cloned_db) -> Pens:
    pens = Pens()
    settings.AUDIT_KEYS = pens.keys
    return pens


@pytest.fixture
def run(tmp_path: Path, pens: Pens) -> Callable[..., tuple[int, str]]:
    """Copy the public log as a mirror has it, run the program on a receipt, and return status and output."""

    def running(receipt: str, *, dealer: str = "") -> tuple[int, str]:
        folder = tmp_path / "mirror"
        published = witnesses.published()
        assert published
        size = published[0].size
        for level in ("0", "entries"):
            for number in range(-(-size // 256)):
                tile = Tile(number, min(256, size - 256 * number))
                file = folder / tile_path(level, number, tile.width)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content(level, tile))
        (folder / "checkpoint").write_text(published[1])
        (tmp_path / "keys").write_text(pens.keys)
        (tmp_path / "receipt").write_text(receipt)
        command: list[str | Path] = [
            sys.executable,
            "-I",
            PROGRAM,
            tmp_path / "receipt",
            folder,
            "--keys",
            tmp_path / "keys",
        ]
        ended = subprocess.run(
            [*command, "--dealer", dealer or trusted_keys()[0]], capture_output=True, text=True, check=False
        )
        assert ended.stderr == ""
        return ended.returncode, ended.stdout

    return running


def later(seconds: int) -> int:
    return int(time.time()) + seconds


def as_json(player_id: int, round_id: Any) -> str:
    """Return what the API answers for a round."""
    found, sealed = receipts.receipt(player_id, round_id), receipts.sealed_bets(player_id, round_id)
    assert found
    return json.dumps(found.as_json | {"sealed": sealed.as_json if sealed else None})


def test_a_promise_that_was_kept_is_found_in_each_kind_of_file(run, pens):
    player, table = a_player(real=RICH), a_table()
    for number in range(300):
        an_event(number)
    played = [a_round(player, table, player=1000) for _ in range(3)]
    sign(pens)
    found = receipts.receipt(player.pk, played[1].round_id)
    assert found
    evidence = json.dumps({"rounds": [{"kept": [found.note], "said": None}]})
    for receipt in (
        found.note,
        as_json(player.pk, played[1].round_id),
        receipts.proof(player.pk, played[1].round_id),
        evidence,
    ):
        status, said = run(receipt)
        assert (status, said.startswith("Kept: round")) == (0, True), said
        assert said.endswith(f"player=1000 SEK: entry {found.leaf} of the log.\n")


@pytest.mark.parametrize(("waited", "status"), [(0, 2), (TWO_DAYS, 1)])
def test_a_round_that_was_removed_after_its_receipt_breaks_the_promise_once_it_is_due(
    run, pens, cloned_db, waited, status
):
    played = a_round(a_player(real=RICH), a_table(), player=1000)
    assert played.receipt
    note = receipts.signed(played.receipt).note
    with psycopg.connect(cloned_db.superuser_url, autocommit=True) as database:
        database.execute("SET session_replication_role = replica")
        database.execute(
            "DELETE FROM audit_pending USING audit_event AS e WHERE e.id = event_id AND kind = 'round.settled'"
        )
        database.execute("DELETE FROM audit_event WHERE kind = 'round.settled'")
    an_event(1)
    sign(pens, later(waited))
    found, said = run(note)
    assert found == status, said
    assert said.startswith("BROKEN" if status == 1 else "Nothing can be said")
    assert str(played.round_id) in said


def test_bets_of_a_live_round_are_under_the_root_that_is_in_the_log(run, pens):
    player, other = a_player(real=RICH), a_player(real=RICH)
    live_table = a_live_table()
    bet(player, live_table, player=5000)
    bet(other, live_table, banker=5000)
    round_id = round_at(live_table).pk
    first = receipts.receipt(player.pk, round_id)
    bet(player, live_table, tie=5000)
    last = receipts.receipt(player.pk, round_id)
    assert first
    assert last
    sign(pens)
    status, said = run(last.note)
    assert (status, "the house has time until" in said) == (2, True)
    advance_to(live_table, Phase.SETTLED)
    sign(pens)
    status, said = run(last.note)
    assert (status, "the house has to show a path" in said) == (2, True)
    sealed = json.loads(as_json(player.pk, round_id))["sealed"]
    status, said = run(json.dumps(last.as_json | {"sealed": sealed}))
    assert (status, "the bets are under the root" in said) == (0, True), said
    status, said = run(json.dumps(first.as_json | {"sealed": sealed}))
    assert (status, "only the last receipt of a round counts" in said) == (1, True)


def test_what_nobody_has_signed_is_no_evidence(run, pens):
    player = a_player(real=RICH)
    played = a_round(player, a_table(), player=1000)
    sign(pens)
    found = receipts.receipt(player.pk, played.round_id)
    assert found
    note = re.sub(r"stakes=\S+", "stakes=player=9000", found.note)
    assert run(note) == (2, "Nothing can be said: this dealer has not signed the receipt.\n")
    assert run(found.note, dealer="5" * 64)[0] == 2
    assert run("no receipt")[0] == 2
