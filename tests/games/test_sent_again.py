"""A click that a browser repeats after a lost answer counts once at a solo table."""

from typing import Any
from uuid import uuid4

import pytest

from games import solo
from games.betting.rules import Change
from games.models import SoloSeat, Table
from players.models import Player
from tests.builders import a_golden_table, a_player, a_purse, a_seat, a_table
from wallet.models import Mode

pytestmark = pytest.mark.django_db


def at(player: Player, table: Table) -> dict[str, Any]:
    """Return player, table and mode of a click."""
    a_seat(player, table)
    return {"player": player, "table_id": table.pk, "mode": Mode.REAL}


def on_table(where: dict[str, Any]) -> dict[str, int]:
    return dict(SoloSeat.objects.get(player=where["player"]).slip)


def test_a_chip_is_put_down_once_and_undone_once():
    where = at(a_player(real=1_000_000), a_table())
    down, undo = uuid4(), uuid4()
    for _ in range(2):
        solo.add_chip(**where, bet="tie", chip=5_000, idempotency_key=down)
    assert on_table(where) == {"tie": 5_000}
    for _ in range(2):
        solo.add_chip(**where, bet="tie", chip=5_000)  # without an idempotency key each request is a click
    assert on_table(where) == {"tie": 15_000}
    for _ in range(2):
        solo.change_slip(**where, change=Change.UNDO, idempotency_key=undo)
    assert on_table(where) == {"tie": 10_000}


def test_a_chip_is_taken_off_once():
    player, table = a_player(real=1_000_000), a_golden_table()
    where, off = at(player, table), uuid4()
    a_purse(player, 100_000)
    for _ in range(3):
        solo.add_chip(**where, bet="player", chip=5_000)
    for _ in range(2):
        solo.take_chip(**where, bet="player", chip=5_000, idempotency_key=off)
    assert on_table(where) == {"player": 10_000}


def test_a_chip_of_the_round_before_is_known():
    where, idempotency_key = at(a_player(real=1_000_000), a_table()), uuid4()
    seat = solo.add_chip(**where, bet="tie", chip=5_000, idempotency_key=idempotency_key)
    solo.play_round(**where, round_id=seat.round_id, slip_version=seat.slip_version)
    solo.add_chip(**where, bet="tie", chip=5_000, idempotency_key=idempotency_key)
    assert on_table(where) == {}
