"""Concurrent calls of API clients, and processes that are killed in the middle.

Each test first shows the race without its guard, then shows that the guard prevents it.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

import pytest
from rest_framework.request import Request
from rest_framework.response import Response

from games.api import solo
from games.models import Participation, Round
from players.models import ApiCall, Player
from tests.api.at_solo import AtTable, answered
from tests.api.client import ApiClient
from tests.builders import a_golden_table, a_player, a_table
from tests.harness.killed import dies
from tests.wallet import wholeness
from tests.wallet.test_at_once import at_once, is_whole
from wallet.ledger import accounts, purse
from wallet.models import Mode

MONEY = 1_000_000
CHIP = 5000
TOGETHER = 4


def unguarded(request: Request, do: Callable[[], Response]) -> Response:
    """Do what a call says, however often it comes."""
    return do()


def a_seat(player: Player, *, golden: bool = False) -> AtTable:
    """An API client at its open seat."""
    seat = AtTable(ApiClient(player.user), a_golden_table() if golden else a_table())
    answered(seat.open())
    return seat


def refill(seat: AtTable, key: str) -> Any:
    return seat.api_client.post(seat.base + "purse/re-buy/", {"amount": CHIP}, key=key)


class TestMoneyMovedByARepeatedCall:
    def test_without_the_key_is_moved_each_time(self, cloned_db, monkeypatch):
        player = a_player(real=MONEY)
        seat = a_seat(player, golden=True)
        monkeypatch.setattr(solo, "once", unguarded)
        at_once([partial(refill, seat, "the same")] * TOGETHER)
        assert purse.balance(player, Mode.REAL) == TOGETHER * CHIP

    def test_is_moved_once_and_every_call_gets_the_same_answer(self, cloned_db):
        player = a_player(real=MONEY)
        seat = a_seat(player, golden=True)
        answers = at_once([partial(refill, seat, "the same")] * TOGETHER)
        assert {answer.content for answer in answers} == {answers[0].content}
        assert (purse.balance(player, Mode.REAL), accounts.balance(player.pk, Mode.REAL)) == (CHIP, MONEY - CHIP)
        assert is_whole()


class TestARoundThatSeveralCallsAskFor:
    @pytest.mark.parametrize("same_key", [True, False])
    def test_is_played_once(self, cloned_db, same_key):
        player = a_player(real=MONEY)
        seat = a_seat(player)
        said = {"round_id": seat.solo_seat["round_id"], "bets": {"player": CHIP}}
        keys = ["the same"] * TOGETHER if same_key else [str(uuid4()) for _ in range(TOGETHER)]
        answers = [answered(each) for each in at_once([partial(seat.send, "rounds/", said, key=key) for key in keys])]
        assert {answer["round"]["id"] for answer in answers} == {said["round_id"]}
        assert [answer["repeated"] for answer in answers].count(False) == (TOGETHER if same_key else 1)
        assert Participation.objects.get().staked == CHIP
        assert is_whole()


def test_a_process_that_dies_leaves_nothing_or_a_whole_round_with_its_answer(cloned_db):
    """After a kill at any moment, the repeated call plays the round, or returns the one that was played."""
    player = a_player(real=MONEY)
    seat = a_seat(player)
    answered(seat.play({"player": CHIP}))  # the session has begun, and everything that is read once is cached
    left: list[int] = []
    for number in count(1):
        before, key = Round.objects.count(), str(uuid4())
        said = {"round_id": seat.solo_seat["round_id"], "bets": {"player": CHIP}}
        died = dies(partial(seat.send, "rounds/", said, key=key), "after", number)
        left.append(Round.objects.count() - before)
        assert ApiCall.objects.filter(key=key).count() == left[-1]
        again = seat.send("rounds/", said, key=key)
        assert answered(again)["round"]["id"] == said["round_id"]
        assert (again.headers.get("Idempotency-Replayed") == "true") is bool(left[-1])
        assert Round.objects.count() - before == 1
        seat.solo_seat = again.json()["solo_seat"]
        if not died:
            break
    # Nothing after key, lock, round and answer; all of it after the commit, and where nobody died.
    assert left[-2:] == [1, 1]
    assert left[:-2] == [0] * len(left[:-2])
    assert len(left) > 6
    wholeness.assert_whole()
    assert accounts.balance(player.pk, Mode.REAL) == MONEY + sum(
        part.paid - part.staked for part in Participation.objects.all()
    )
