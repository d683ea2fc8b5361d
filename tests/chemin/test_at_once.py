"""Concurrent actions at one table: each race is first shown without its guard, then prevented."""

from collections.abc import Callable
from functools import partial
from threading import Barrier
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet

from games.chemin import play, tick
from games.chemin.moves import NotNow
from games.chemin.state import table_state
from games.engine.chemin import Phase
from games.errors import PlayError
from games.models import CheminMove, CheminSeat, CheminTenure, Incident, LiveTable
from players.models import Player
from tests.builders import a_player, a_purse
from tests.chemin.at_table import (
    MONEY,
    a_bank,
    a_chemin_table,
    a_dealt_coup,
    a_staked_coup,
    answer,
    answer_by_the_rule,
    asked,
    asked_at,
    before_the_croupier,
    cash,
    chemin_of,
    hurry,
    let_pass,
    play_out,
    seated_players,
    sit,
    state_of,
    step_to,
    table_state_of,
)
from tests.concurrency.test_money_at_once import deadlocks
from tests.harness.owner import as_owner
from tests.live.test_bets_at_once import in_a_thread, somebody_is_blocked, until
from tests.wallet.money_moves import house, move, write
from tests.wallet.test_at_once import at_once, is_whole
from tests.wallet.test_rounds_at_once import between
from wallet.ledger import Journal
from wallet.models import Account, AccountKind

PATIENCE = 120
CLICKS = 6


def outcome(click: Callable[[], object]) -> str:
    """Click and return the name of the outcome."""
    try:
        click()
    except PlayError as refusal:
        return type(refusal).__name__
    return "accepted"


def a_free_bank(count: int = 3) -> tuple[LiveTable, list[Player]]:
    """Return a table where a coup was played and all have refused the bank since, so that anyone may open it."""
    table = a_chemin_table()
    players = seated_players(table, count)
    a_dealt_coup(table)
    while (phase := play_out(table).phase) is not Phase.FREE:
        answer(asked_at(table), table, "give_suite" if phase is Phase.CHOICE else "pass")
    return table, players


def opening(table: LiveTable, player: Player) -> Callable[[], None]:
    """Return a click that opens the bank, from a page with the current question."""
    return partial(answer, player, table, "take_bank", 10_000, question=chemin_of(table).question)


def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a table and its accounts without locks."""
    monkeypatch.setattr(table_state, "LOCK", table_state.LOCK.replace("FOR NO KEY UPDATE", ""))
    monkeypatch.setattr(QuerySet, "select_for_update", lambda self, **_options: self)


def wait_for_each_other(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Make everyone who has read the table wait until all have read it."""
    have_read = Barrier(count)
    viewed = table_state.locked

    def check_then_wait(live_table_id: int, **options: object) -> table_state.TableState:
        found = viewed(live_table_id, **options)  # type: ignore[arg-type]
        have_read.wait(PATIENCE)
        return found

    monkeypatch.setattr(play, "locked", check_then_wait)


class TestTwoPlayersWhoOpenAFreeBank:
    def test_without_the_lock_only_the_number_of_the_move_keeps_them_apart_and_that_stops_the_table(
        self, cloned_db, monkeypatch
    ):
        table, players = a_free_bank()
        clicks = [partial(outcome, opening(table, player)) for player in players[:2]]
        without_locks(monkeypatch)
        wait_for_each_other(monkeypatch, 2)
        assert sorted(at_once(clicks)) == ["TableStopped", "accepted"]
        assert Incident.objects.count() == 1

    def test_one_is_banker_and_the_others_learn_that_the_question_has_changed(self, cloned_db):
        table, players = a_free_bank()
        before = CheminTenure.objects.count()
        clicks = [partial(outcome, opening(table, player)) for player in players]
        assert sorted(at_once(clicks)) == ["QuestionPassed", "QuestionPassed", "accepted"]
        assert CheminTenure.objects.count() == before + 1
        assert before_the_croupier(AccountKind.BANK) == 10_000
        assert not Incident.objects.exists()


class TestOnePlayerWhoClicksManyTimes:
    def test_takes_the_bank_once(self, cloned_db):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        assert sorted(at_once([partial(outcome, opening(table, first))] * CLICKS)) == [
            *["QuestionPassed"] * (CLICKS - 1),
            "accepted",
        ]
        assert cash(first).balance == MONEY - 10_000

    def test_stakes_once(self, cloned_db):
        table = a_chemin_table()
        seated_players(table, 3)
        a_bank(table)
        while state_of(table).phase is Phase.CALLS:
            let_pass(table)
        punter, question = asked(table), chemin_of(table).question
        assert punter is not None
        click = partial(outcome, partial(answer, punter, table, "lay_stake", 1_000, question=question))
        assert at_once([click] * CLICKS).count("accepted") == 1
        assert before_the_croupier(AccountKind.STAKES) == 1_000
        assert is_whole()


class TestOneSeat:
    def test_without_the_lock_only_the_database_keeps_two_players_apart(self, cloned_db, monkeypatch):
        table = a_chemin_table()
        players = [a_player(real=MONEY) for _ in range(2)]
        without_locks(monkeypatch)
        wait_for_each_other(monkeypatch, 2)

        def sit_down(player: Player) -> str:
            try:
                sit(player, table, 5)
            except NotNow:
                return "NotNow"
            return "accepted"

        assert sorted(at_once([partial(sit_down, player) for player in players])) == ["NotNow", "accepted"]

    def test_goes_to_one_and_the_others_learn_that_it_is_taken(self, cloned_db):
        table = a_chemin_table()
        players = [a_player(real=MONEY) for _ in range(4)]
        clicks = [partial(outcome, partial(sit, player, table, 5)) for player in players]
        assert sorted(at_once(clicks)) == [*["CheminRefused"] * 3, "accepted"]

    def test_a_random_one_is_never_one_that_is_taken_in_the_meantime(self, cloned_db):
        table = a_chemin_table(seat_count=4)
        players = [a_player(real=MONEY) for _ in range(6)]
        clicks = [partial(outcome, partial(sit, player, table)) for player in players]
        assert at_once(clicks).count("accepted") == 4
        assert set(CheminSeat.objects.values_list("number", flat=True)) == {1, 2, 3, 4}

    def test_is_taken_once_by_one_player_in_many_tabs(self, cloned_db):
        table, player = a_chemin_table(), a_player(real=MONEY)
        seats = at_once([partial(sit, player, table)] * 4)
        assert len({seat.pk for seat in seats}) == CheminSeat.objects.count() == 1


class TestTheDeadline:
    def test_of_many_ticks_one_moves_the_table(self, cloned_db):
        table = a_chemin_table()
        seated_players(table, 3)
        hurry(table)
        assert sum(at_once([partial(tick.advance, table.pk)] * 4)) == 1
        assert CheminMove.objects.filter(kind="pass").count() == 1

    def test_a_click_that_waited_for_the_tick_is_too_late(self, cloned_db):
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        click = opening(table, first)
        with transaction.atomic():
            hurry(table)
            assert table_state.locked_if_free(table.pk)
            clicked = in_a_thread(partial(outcome, click))
            until(lambda: clicked.done() or somebody_is_blocked())
            assert not clicked.done()
            assert tick.advance(table.pk)
        assert clicked.result(PATIENCE) == "QuestionPassed"
        assert cash(first).balance == MONEY

    def test_a_click_that_waited_until_its_time_was_up_is_too_late(self, cloned_db):
        """The transaction it waited for has changed nothing: the clock alone decides."""
        table = a_chemin_table()
        first, _ = seated_players(table, 2)
        as_owner("UPDATE games_chemintable SET deadline = clock_timestamp() + interval '2 seconds'")
        click = opening(table, first)
        with transaction.atomic():
            assert table_state.locked_if_free(table.pk)
            clicked = in_a_thread(partial(outcome, click))
            until(lambda: clicked.done() or somebody_is_blocked())
            assert not clicked.done()
            until(partial(is_past, table))
        assert clicked.result(PATIENCE) == "QuestionPassed"

    def test_a_tick_leaves_the_table_to_a_click_that_came_first(self, cloned_db):
        table = a_chemin_table()
        first, second = seated_players(table, 2)
        with transaction.atomic():
            answer(first, table, "pass")
            ticked = in_a_thread(lambda: str(tick.advance(table.pk)))
            assert ticked.result(PATIENCE) == "False"
        assert asked(table) == second


def is_past(table: LiveTable) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT deadline <= clock_timestamp() FROM games_chemintable WHERE live_table_id = %s", [table.pk]
        )
        (passed,) = cursor.fetchone()
    return bool(passed)


def test_the_same_players_at_two_tables_wait_for_each_other_and_never_in_a_circle(cloned_db):
    """Players sit in opposite order, and everyone stakes at both tables at the same time."""
    tables = [a_chemin_table(slug=slug, seat_count=4) for slug in ("one", "other")]
    players = [a_player(real=MONEY) for _ in range(3)]
    for table, order in zip(tables, (players, players[::-1]), strict=True):
        for seat_number, player in enumerate(order, start=1):
            sit(player, table, seat_number)

    def play_on(table: LiveTable) -> int:
        for _ in range(25):
            state, player = state_of(table), asked(table)
            if state.phase is Phase.OFFER and player is not None:
                answer(player, table, "take_bank", 10_000)
            elif state.phase is Phase.STAKES and player is not None:
                answer(player, table, "lay_stake", 1_000)
            else:
                answer_by_the_rule(table)
        return chemin_of(table).move

    assert all(move > 25 for move in at_once([partial(play_on, table) for table in tables]))
    assert is_whole()
    for table in tables:
        assert all(seat_number in table_state_of(table).seats for seat_number in (1, 2, 3))


def test_a_bank_that_goes_home_waits_for_no_round_on_the_purse_of_its_banker_while_that_waits_for_it(cloned_db):
    """A coup adds to the play time of its players before the bank goes home and is counted in the banker's day. A round
    on a purse counts the day first, so the purses are locked as well.
    """
    table = a_chemin_table()
    seated_players(table, 3)
    banker, _ = a_staked_coup(table)
    a_purse(banker, 10_000)
    purse = Account.objects.get(owner=banker, kind=AccountKind.PURSE).pk
    play.leave(player=banker, live_table_id=table.pk)

    def stake() -> None:
        write(Journal(uuid4(), "stake", move((purse, -1_000), (house("escrow", banker), 1_000))))

    def add_time() -> None:
        note = "SELECT players_note_rounds(ARRAY[%s]::bigint[], '{NULL}', '{R}', '{1000}', '{0}')"
        as_owner(note, [banker.pk])

    between(stake, lambda: step_to(table, Phase.SUITE, Phase.AUCTION, Phase.OFFER), add_time, cloned_db)
    assert deadlocks(cloned_db) == 0
    assert not Incident.objects.exists()
    assert CheminTenure.objects.get(seat__player=banker).ended_at is not None
