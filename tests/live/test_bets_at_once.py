"""Concurrent bets: each race is first shown without its guard, then prevented by it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Barrier, Event
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from games.betting.rules import Change
from games.errors import PlayError
from games.models import LiveTable, LiveTotal, Participation, Phase
from games.shared import phases, seats
from games.tables.default_tables import pairs_limits
from players.models import ExclusionKind, Player
from players.protection import exclusions
from tests.builders import a_player
from tests.games.test_rounds_are_written_by_functions import weaken
from tests.harness.owner import as_owner
from tests.live.at_table import a_live_table, advance_to, hurry, round_at
from tests.live.betting import chip, held, held_for, press, stakes_of, total_of
from tests.wallet.test_at_once import at_once, is_whole
from wallet.models import Account, AccountKind, Mode

MONEY = 100_000_00
PATIENCE = 120
BETTORS = 6
BLOCKED = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def a_table(**in_lei: object) -> LiveTable:
    """Return a `pairs` table that takes bets, with the given limits in lei."""
    limits = pairs_limits()
    limits["RON"].update(in_lei)  # type: ignore[typeddict-item]
    if "chips" in in_lei:
        limits["RON"].pop("tray")  # all chips are in the tray
    return a_live_table("pairs", limits=limits)


def bettors(table: LiveTable, number: int = BETTORS) -> list[Player]:

    players = [a_player("RO", real=MONEY) for _ in range(number)]
    for player in players:
        seats.seat_at(player, table)
    return players


def outcome(click: Callable[[], object]) -> str:
    """Click and return the name of the outcome."""
    try:
        click()
    except PlayError as refusal:
        return type(refusal).__name__
    return "accepted"


def close(table: LiveTable) -> str:

    hurry(table)
    assert phases.advance(table.pk)
    return "closed"


def in_a_thread(job: Callable[[], str]) -> Future[str]:
    """Run a job in its own thread and connection."""

    def run() -> str:
        try:
            return job()
        finally:
            connection.close()

    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(run)
    finally:
        pool.shutdown(wait=False)


def until(happens: Callable[[], bool]) -> None:
    """Wait until another thread has made the condition true."""
    give_up = monotonic() + PATIENCE
    while not happens():
        assert monotonic() < give_up, "it never happened"
        sleep(0.01)


def blocked() -> int:
    """Return how many sessions wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # otherwise the same snapshot is read again
        cursor.execute(BLOCKED)
        (waiting,) = cursor.fetchone()
    return int(waiting)


def somebody_is_blocked() -> bool:
    return blocked() > 0


@contextmanager
def stopped_before_the_hold(player: Player) -> Iterator[None]:
    """Make the player's bets wait before anything is held, after all checks."""
    with transaction.atomic():
        Account.objects.select_for_update().get(owner=player, kind=AccountKind.CASH, mode=Mode.REAL)
        yield


class TestAChipAgainstTheClosing:
    """The tick closes the bets between the check of the round and the hold."""

    def test_without_the_lock_a_bet_is_placed_on_a_round_that_is_closed(self, owner, cloned_db):
        taken = "r.deadline > clock_timestamp()"
        weaken(owner, "games_place_bets", (f"{taken}\n    FOR SHARE", taken))
        table = a_table()
        player, other = bettors(table, 2)
        chip(other, table, "banker", 25_00)  # so that there is something to close
        with stopped_before_the_hold(player):
            bet = in_a_thread(lambda: outcome(lambda: chip(player, table, "player", 25_00)))
            until(somebody_is_blocked)
            assert in_a_thread(partial(close, table)).result(PATIENCE) == "closed"
        assert bet.result(PATIENCE) == "accepted"
        assert round_at(table).phase == Phase.CLOSED
        assert stakes_of(player, table) == {"player": 25_00}

    def test_the_closing_waits_for_the_chip(self, cloned_db):
        table = a_table()
        (player,) = bettors(table, 1)
        with stopped_before_the_hold(player):
            bet = in_a_thread(lambda: outcome(lambda: chip(player, table, "player", 25_00)))
            until(somebody_is_blocked)
            closing = in_a_thread(partial(close, table))
            until(lambda: blocked() > 1)
            assert round_at(table).phase == Phase.BETTING
        assert (bet.result(PATIENCE), closing.result(PATIENCE)) == ("accepted", "closed")
        assert round_at(table).phase == Phase.CLOSED
        assert (held(player), stakes_of(player, table)) == (25_00, {"player": 25_00})

    def test_a_chip_that_waited_for_the_closing_is_too_late_and_holds_nothing(self, cloned_db):
        table = a_table()
        player, other = bettors(table, 2)
        chip(other, table, "banker", 25_00)
        with transaction.atomic():
            hurry(table)
            bet = in_a_thread(lambda: outcome(partial(chip, player, table, "player", 25_00)))
            until(lambda: bet.done() or somebody_is_blocked())
            assert not bet.done()
            assert phases.advance(table.pk)
        assert bet.result(PATIENCE) == "BetTooLate"
        assert held(player) == 0
        assert stakes_of(player, table) == {}

    def test_a_chip_that_waited_until_the_deadline_had_passed_is_too_late(self, cloned_db):
        """The transaction it waited for has changed nothing: the clock alone decides."""
        table = a_table()
        (player,) = bettors(table, 1)
        round_id = round_at(table).pk
        as_owner(
            "UPDATE games_liveround SET deadline = clock_timestamp() + interval '2 seconds' WHERE id = %s", [round_id]
        )
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT FROM games_liveround WHERE id = %s FOR UPDATE", [round_id])
            bet = in_a_thread(lambda: outcome(partial(chip, player, table, "player", 25_00)))
            until(lambda: bet.done() or somebody_is_blocked())
            until(lambda: is_past_deadline(round_id))
        assert bet.result(PATIENCE) == "BetTooLate"
        assert held(player) == 0


def is_past_deadline(round_id: UUID) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadline <= clock_timestamp() FROM games_liveround WHERE id = %s", [round_id])
        (is_past,) = cursor.fetchone()
    return bool(is_past)


def test_of_many_bettors_at_the_deadline_every_accepted_bet_is_staked_and_no_other_holds_anything(cloned_db):
    table = a_table()
    players = bettors(table)
    round_id, accepted = round_at(table).pk, Event()

    def bet_until_too_late(player: Player) -> tuple[int, str]:
        for count in range(10_000):
            came = outcome(partial(chip, player, table, "player", 25_00, round_id=round_id))
            if came != "accepted":
                return count, came
            if count == 2:
                accepted.set()
        raise AssertionError("never too late")

    def close_in_the_meantime() -> tuple[int, str]:
        assert accepted.wait(PATIENCE)
        return 0, close(table)

    jobs: list[Callable[[], tuple[int, str]]] = [partial(bet_until_too_late, player) for player in players]
    placed = at_once([*jobs, close_in_the_meantime])[:-1]
    assert {came for _, came in placed} == {"BetTooLate"}
    for player, (count, _) in zip(players, placed, strict=True):
        assert held(player) == count * 25_00
    advance_to(table, Phase.SETTLED)
    assert held_for(round_id) == 0
    parts = dict(Participation.objects.filter(round_id=round_id).values_list("player_id", "staked"))
    assert parts == {player.pk: count * 25_00 for player, (count, _) in zip(players, placed, strict=True) if count}
    assert is_whole()


def test_a_pause_waits_for_the_bet_in_progress_and_no_bet_comes_after_it(cloned_db):
    table = a_table()
    (player,) = bettors(table, 1)
    with stopped_before_the_hold(player):
        bet = in_a_thread(lambda: outcome(partial(chip, player, table, "player", 25_00)))
        until(somebody_is_blocked)
        pause = in_a_thread(lambda: exclusions.pause(player=player, by=str(player)).kind)
        until(lambda: blocked() > 1)
        assert not pause.done()
    assert (bet.result(PATIENCE), pause.result(PATIENCE)) == ("accepted", ExclusionKind.PAUSE)
    assert outcome(partial(chip, player, table, "player", 25_00)) == "NotEligible"
    assert (held(player), stakes_of(player, table)) == (25_00, {"player": 25_00})


def test_bets_at_two_tables_that_advance_at_once_wait_for_each_other_in_one_order(cloned_db):
    """A deadlock would be a database error instead of a refusal."""
    tables = [a_table(), a_live_table(slug="other")]
    players = bettors(tables[0])
    for player in players:
        seats.seat_at(player, tables[1])
    over = Event()

    def bet_here_and_there(player: Player) -> str:
        while not over.is_set():
            for table in tables:
                outcome(partial(chip, player, table, "player", 25_00 if table == tables[0] else 20_00))
                outcome(partial(press, player, table, Change.UNDO if player.pk % 2 else Change.DOUBLE))
        return "betting"

    def move_on() -> str:
        try:
            for _ in range(3):
                for table in tables:
                    advance_to(table, Phase.BETTING)
        finally:
            over.set()
        return "moved on"

    jobs: list[Callable[[], str]] = [partial(bet_here_and_there, player) for player in players]
    at_once([*jobs, move_on])
    for table in tables:
        advance_to(table, Phase.BETTING)
    assert [held(player) for player in players] == [0] * len(players)
    assert Participation.objects.exists()
    assert is_whole()


class TestTwoTabsOfOnePlayer:
    def test_without_the_version_one_tab_loses_the_other_s_chip(self, owner, cloned_db, monkeypatch):
        weaken(owner, "games_place_bets", ("own.version <> seen", "false"))
        read, both_read = seats.read, Barrier(2)

        def read_then_meet(*asked: Any) -> seats.SeatAtTable | None:
            found = read(*asked)
            both_read.wait(PATIENCE)
            return found

        monkeypatch.setattr(seats, "read", read_then_meet)
        table = a_table()
        (player,) = bettors(table, 1)
        click = partial(chip, player, table, "player", 25_00)
        assert at_once([partial(outcome, click)] * 2) == ["accepted"] * 2
        assert stakes_of(player, table) == {"player": 25_00}

    def test_both_tabs_see_every_chip(self, cloned_db):
        table = a_table()
        (player,) = bettors(table, 1)

        def five_chips() -> list[str]:
            return [outcome(partial(chip, player, table, "player", 25_00)) for _ in range(5)]

        assert at_once([five_chips, five_chips]) == [["accepted"] * 5] * 2
        assert stakes_of(player, table) == {"player": 250_00}
        assert held(player) == 250_00
        assert total_of(round_at(table).pk, "RON") == {"player": 250_00}

    def test_undo_in_one_and_double_in_the_other_keep_held_money_and_bets_equal(self, cloned_db):
        table = a_table()
        (player,) = bettors(table, 1)
        chip(player, table, "player", 25_00)

        def press_often(change: Change) -> set[str]:
            return {outcome(partial(press, player, table, change)) for _ in range(5)}

        assert at_once([partial(press_often, change) for change in (Change.UNDO, Change.DOUBLE)]) == [{"accepted"}] * 2
        assert sum(stakes_of(player, table).values()) == held(player)


class TestWhatTheHousePutsUp:
    """Room for three bets of 25,000 lei on Player, and six players who want to place one."""

    ROOM = 3

    @pytest.fixture
    def table(self, cloned_db) -> LiveTable:
        largest = 25_000_00
        return a_table(chips=[25_00, largest], liability=self.ROOM * largest)

    def bet(self, table: LiveTable, player: Player) -> str:
        return outcome(partial(chip, player, table, "player", 25_000_00))

    def test_it_takes_as_many_as_there_is_room_for(self, table):
        players = bettors(table)
        results = at_once([partial(self.bet, table, player) for player in players])
        assert sorted(results) == ["OverLiability"] * (BETTORS - self.ROOM) + ["accepted"] * self.ROOM
        assert total_of(round_at(table).pk, "RON") == {"player": self.ROOM * 25_000_00}
        assert held_for(round_at(table).pk) == self.ROOM * 25_000_00
        assert LiveTotal.objects.count() == 1
