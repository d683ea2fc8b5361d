"""A click that a browser repeats after a lost answer counts once at a shared table."""

from functools import partial
from uuid import uuid4

import pytest
from django.db import transaction

from games.betting import idempotency
from games.betting.rules import Change
from games.errors import BetTooLate, NotEligible, TableStopped, UnknownChip
from games.models import IncidentKind, LiveTable, Phase
from games.shared import malfunction, seats
from players.models import Player
from players.protection import exclusions
from tests.builders import a_player
from tests.live.at_table import a_live_table, advance_to, round_at
from tests.live.betting import chip, held, press, stakes_of, stranger, total_of
from tests.live.test_bets_at_once import in_a_thread, outcome, somebody_is_blocked, until
from tests.people import events
from tests.wallet.test_at_once import at_once

MONEY = 1_000_00
TIMES = 6


def a_bettor(table: LiveTable) -> Player:
    """Return a player from Romania at the table."""
    player = a_player("RO", real=MONEY)
    seats.seat_at(player, table)
    return player


@pytest.mark.django_db
class TestAClickSentAgain:
    def test_puts_down_one_chip(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        for _ in range(2):
            chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        assert (stakes_of(player, table), held(player)) == ({"player": 2_000}, 2_000)
        assert total_of(round_at(table).pk, "RON") == {"player": 2_000}
        chip(player, table, "player", 2_000, idempotency_key=uuid4())
        assert held(player) == 4_000

    @pytest.mark.sweep
    def test_and_ones_without_a_key_are_each_a_click(self):
        table = a_live_table()
        player = a_bettor(table)
        for _ in range(2):
            chip(player, table, "player", 2_000)
        assert held(player) == 4_000

    @pytest.mark.sweep
    def test_doubles_once_and_takes_off_once(self):
        table = a_live_table()
        player = a_bettor(table)
        chip(player, table, "player", 2_000, idempotency_key=uuid4())
        double, undo = uuid4(), uuid4()
        for _ in range(2):
            press(player, table, Change.DOUBLE, idempotency_key=double)
        assert held(player) == 4_000
        for _ in range(2):
            press(player, table, Change.UNDO, idempotency_key=undo)
        assert held(player) == 2_000

    @pytest.mark.sweep
    def test_is_known_after_others_of_other_windows(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        for _ in range(idempotency.STORED_KEYS - 1):
            chip(player, table, "banker", 2_000, idempotency_key=uuid4())
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        assert stakes_of(player, table)["player"] == 2_000
        assert len(seats.seat_at(player, table).idempotency_keys or ()) == idempotency.STORED_KEYS

    def test_is_not_refused_when_bets_are_closed_by_then(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        bet_on = round_at(table).pk
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        advance_to(table, Phase.CLOSED)
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key, round_id=bet_on)
        assert not events("bet.refused")
        with pytest.raises(BetTooLate):
            chip(player, table, "player", 2_000, idempotency_key=uuid4(), round_id=bet_on)

    def test_is_not_refused_at_a_table_that_was_stopped_since(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        malfunction.stop(
            live_round=round_at(table), kind=IncidentKind.PHASE_RAISED, cause="a test", found=(), by="test"
        )
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        with pytest.raises(TableStopped):
            chip(player, table, "player", 2_000, idempotency_key=uuid4())

    def test_that_was_refused_is_refused_again(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        for _ in range(2):
            with pytest.raises(UnknownChip):
                chip(player, table, "player", 7, idempotency_key=idempotency_key)
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        assert held(player) == 2_000

    def test_by_a_player_who_may_no_longer_play_is_refused(self):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
        exclusions.pause(player=player, by=str(player))
        with pytest.raises(NotEligible):
            chip(player, table, "player", 2_000, idempotency_key=idempotency_key)

    @pytest.mark.sweep
    def test_of_somebody_else_is_theirs(self):
        table = a_live_table()
        one, other, idempotency_key = a_bettor(table), a_bettor(table), uuid4()
        chip(one, table, "player", 2_000, idempotency_key=idempotency_key)
        chip(other, table, "player", 2_000, idempotency_key=idempotency_key)
        assert (held(one), held(other)) == (2_000, 2_000)


class TestAtTheSameMoment:
    def test_without_the_key_every_one_counts_and_with_it_one_does(self, cloned_db):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        assert at_once([partial(outcome, partial(chip, player, table, "tie", 2_000))] * TIMES) == ["accepted"] * TIMES
        assert held(player) == TIMES * 2_000
        marked = partial(outcome, partial(chip, player, table, "player", 2_000, idempotency_key=idempotency_key))
        assert at_once([marked] * TIMES) == ["accepted"] * TIMES
        assert stakes_of(player, table) == {"tie": TIMES * 2_000, "player": 2_000}

    def test_one_that_comes_too_late_waits_for_what_became_of_the_first(self, cloned_db):
        table = a_live_table()
        player, idempotency_key = a_bettor(table), uuid4()
        with transaction.atomic():
            chip(player, table, "player", 2_000, idempotency_key=idempotency_key)
            again = partial(
                chip, player, table, "player", 2_000, idempotency_key=idempotency_key, round_id=stranger()
            )  # takes no bets
            late = in_a_thread(partial(outcome, again))
            until(lambda: late.done() or somebody_is_blocked())
            assert not late.done()
        assert late.result(60) == "accepted"
        assert held(player) == 2_000
