"""A round survives the death of the web process after each of its SQL statements, which is right before the next one.

After a kill at any moment, there is no round or a whole one; the ledger is correct; the repeated click gets the true
answer. `make test` tries each fourth statement.
"""

import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import count

import pytest

from audit.models import Event
from games.models import Participation, Round, SoloSeat
from tests.builders import a_player, a_table
from tests.harness.databases import Database
from tests.harness.visitor import Visitor
from tests.harness.web import PROJECT
from tests.wallet import wholeness
from wallet.ledger import accounts
from wallet.models import Entry, Journal, Mode

MONEY = 100_000_000
PLAY = "/en/table/baccarat/real/play/"
CHIP = 1000


@pytest.fixture
def mortal_server(cloned_db: Database) -> Iterator[str]:
    """The house in a process that exits on request and is replaced at once; gives its address."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.servers.mortal", str(listening.fileno())],
            cwd=PROJECT,
            env=cloned_db.environment,
            pass_fds=(listening.fileno(),),
        )
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            process.terminate()
            process.wait(10)


def test_gli19_b_3_5_a_round_is_whole_or_has_not_happened(mortal_server, cloned_db, is_sweep):
    player, _table = a_player(real=MONEY), a_table()
    visitor = Visitor(mortal_server, player.user)
    visitor.get("/en/table/baccarat/real/")
    deaths = 0
    for number in count(1, 1 if is_sweep else 4):
        seat = seat_with_a_chip(visitor, player)
        form = click("deal", seat)
        died = dies(visitor, form, f"after {number}")
        deaths += died
        if died:
            assert_whole_or_nothing(player, seat)
            status, text = visitor.post(PLAY, form)
            assert status == 200
            assert str(seat.round_id) in text or Round.objects.get(pk=seat.round_id).code in text
        assert_whole(player, seat)
        wholeness.assert_whole()
        if not died:
            break
    assert deaths >= (4 if is_sweep else 1)  # look, lock, finish, commit: fewer would not be all of it
    assert Round.objects.count() == deaths + 1
    assert accounts.balance(player.pk, Mode.REAL) == MONEY + sum(
        part.paid - part.staked for part in Participation.objects.all()
    )


def click(action: str, seat: SoloSeat) -> dict[str, object]:
    """Return the data that the page sends for a button."""
    return {"action": action, "round_id": seat.round_id, "slip_version": seat.slip_version, "table_version": 1}


def seat_with_a_chip(visitor: Visitor, player) -> SoloSeat:
    seat = SoloSeat.objects.get(player=player)
    status, _text = visitor.post(PLAY, click("bet:player", seat) | {"chip": CHIP})
    assert status == 200
    seat.refresh_from_db()
    assert seat.slip == {"player": CHIP}
    return seat


def dies(visitor: Visitor, form: dict[str, object], fate: str) -> bool:
    try:
        status, _text = visitor.post(PLAY, form, **{"X-Die": fate})
    except ConnectionError:
        return True
    assert status == 200
    return False


def assert_whole_or_nothing(player, seat: SoloSeat) -> None:
    if Round.objects.filter(pk=seat.round_id).exists():
        assert_whole(player, seat)
    else:
        assert not Participation.objects.filter(round_id=seat.round_id).exists()
        assert not Journal.objects.filter(round_id=seat.round_id).exists()
        assert not Event.objects.filter(kind="round.settled", on=f"round:{seat.round_id}").exists()
        seat.refresh_from_db()
        assert seat.slip == {"player": CHIP}


def assert_whole(player, seat: SoloSeat) -> None:
    part = Participation.objects.get(round_id=seat.round_id)
    assert part.wagers.get().stake == CHIP
    assert part.balance_after == accounts.balance(player.pk, Mode.REAL)
    assert set(Journal.objects.filter(round_id=seat.round_id).values_list("kind", flat=True)) == {"stake", "settle"}
    assert sum(Entry.objects.filter(journal__round_id=seat.round_id).values_list("amount", flat=True)) == 0
    assert Event.objects.filter(kind="round.settled", on=f"round:{seat.round_id}").count() == 1
    assert not SoloSeat.objects.filter(round_id=seat.round_id).exists()
