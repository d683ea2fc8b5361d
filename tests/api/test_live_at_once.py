"""Concurrent calls at live tables: each idempotency key places its chip once."""

from functools import partial
from typing import Any

from games.models import LiveSeat
from tests.api.at_live import at, client_of
from tests.api.test_live import a_bet
from tests.builders import a_player
from tests.live.at_table import a_live_table
from tests.live.betting import held
from tests.wallet.test_at_once import at_once

TOGETHER = 4
CHIP = 50_00


def bets_at_once(*keys: str) -> tuple[list[Any], int]:
    """Send a bet with each of these keys at the same moment; return the answers and the amount then held."""
    live_table, player = a_live_table(), a_player(real=1_000_00)
    api_client = client_of(player)
    assert api_client.post(at(live_table, "seat")).status_code == 200
    asked = a_bet(live_table)
    answers = at_once([partial(api_client.post, at(live_table, "bets"), asked, key=key) for key in keys])
    assert LiveSeat.objects.get(player=player).stakes == {"player": held(player)}
    return answers, held(player)


def test_without_a_key_of_its_own_each_of_the_same_calls_lays_a_chip(cloned_db):
    answers, stored = bets_at_once(*(f"key {number}" for number in range(TOGETHER)))
    assert {answer.status_code for answer in answers} == {200}
    assert stored == TOGETHER * CHIP


def test_the_same_call_at_the_same_moment_places_one_chip_and_gets_one_answer(cloned_db):
    answers, stored = bets_at_once(*["key"] * TOGETHER)
    assert stored == CHIP
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer for answer in answers) == TOGETHER - 1
