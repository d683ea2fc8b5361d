"""A pause at the moment a round begins: each race is first shown without its guard, then prevented."""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from threading import Event

import pytest
from django.db import transaction
from django.db.models import QuerySet

from audit.models import Event as Recorded
from games.chemin import apply, play
from games.engine.chemin import Phase as Asked
from games.errors import TablePaused, TableStopped
from games.models import Incident, LiveRound, LiveTable, Phase
from games.shared import phases, rounds
from games.tables.status import pause_table
from tests.chemin.at_table import (
    a_bank,
    a_chemin_table,
    a_staked_coup,
    answer_by_the_rule,
    asked_at,
    seated_players,
    seen_of,
)
from tests.games.test_rounds_are_written_by_functions import weaken
from tests.live.at_table import a_live_table, hurry, round_at, step
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, outcome, somebody_is_blocked, until

Gate = tuple[Event, Event]  # set when it is about to happen; lets it happen


def pause(live_table: LiveTable) -> str:
    pause_table(table_id=live_table.table_id, reason="A card is bent.", by="staff:7")
    return "paused"


def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the locks between a pause and the start of a round."""
    monkeypatch.setattr(QuerySet, "select_for_update", lambda rows, **_how: rows)


def waiting(does: Callable[..., object]) -> tuple[Callable[..., object], Gate]:
    """Return a function that signals before it runs, and waits until it may."""
    is_near, may_go_on = Event(), Event()

    def wait_then_do(*one: object, **more: object) -> object:
        is_near.set()
        assert may_go_on.wait(PATIENCE)
        return does(*one, **more)

    return wait_then_do, (is_near, may_go_on)


def pause_in_the_midst(live_table: LiveTable, gate: Gate, begins: Future[str]) -> None:
    """Pause the table while a round is about to begin, then let it begin."""
    is_near, may_go_on = gate
    assert is_near.wait(PATIENCE)
    pausing = in_a_thread(lambda: pause(live_table))
    until(lambda: pausing.done() or somebody_is_blocked())
    may_go_on.set()
    assert begins.result(PATIENCE)
    assert pausing.result(PATIENCE) == "paused"


def paused_at() -> datetime:
    return Recorded.objects.get(kind="table.paused").at


class TestTheTick:
    """Staff pause the table between the check of the table and the start of the round."""

    @pytest.fixture
    def live_table(self, cloned_db: object) -> LiveTable:
        """A table whose next round is due."""
        live_table = a_live_table()
        step(live_table)  # nobody has bet, so betting opens again
        live_round = round_at(live_table)
        with transaction.atomic():
            rounds.end_void(live_round)
        hurry(live_table)
        return live_table

    @pytest.fixture
    def gate(self, live_table: LiveTable, monkeypatch: pytest.MonkeyPatch) -> Gate:
        open_next, gate = waiting(rounds.open_next)
        monkeypatch.setattr(rounds, "open_next", open_next)
        return gate

    def tick(self, live_table: LiveTable) -> Future[str]:
        return in_a_thread(lambda: str(phases.advance(live_table.pk)))

    def test_without_the_lock_a_round_would_open_at_a_table_that_pauses(self, live_table, gate, monkeypatch):
        """The database refuses it, which looks like a malfunction."""
        without_locks(monkeypatch)
        pause_in_the_midst(live_table, gate, self.tick(live_table))
        assert round_at(live_table).phase == Phase.VOID
        assert "NothingOpensHere" in Incident.objects.get().cause

    def test_the_pause_waits_for_the_round_that_begins(self, live_table, gate):
        pause_in_the_midst(live_table, gate, self.tick(live_table))
        opened = round_at(live_table)
        assert opened.phase == Phase.BETTING
        assert opened.opened_at < paused_at()

    def test_a_round_that_waited_for_the_pause_does_not_begin(self, live_table):
        before = round_at(live_table).pk
        has_paused, may_end = Event(), Event()

        def pause_slowly() -> str:
            with transaction.atomic():
                pause(live_table)
                has_paused.set()
                assert may_end.wait(PATIENCE)
            return "paused"

        pausing = in_a_thread(pause_slowly)
        assert has_paused.wait(PATIENCE)
        ticking = self.tick(live_table)
        until(lambda: ticking.done() or somebody_is_blocked())
        may_end.set()
        assert pausing.result(PATIENCE) == "paused"
        assert ticking.result(PATIENCE) == "False"
        assert round_at(live_table).pk == before


class TestABanker:
    """A player takes the bank at the moment when the table is paused."""

    @pytest.fixture
    def live_table(self, cloned_db: object) -> LiveTable:
        live_table = a_chemin_table()
        seated_players(live_table, 2)
        a_staked_coup(live_table)  # with the shoe that the next one is dealt from: nobody cuts one then
        while seen_of(live_table).phase is not Asked.OFFER:
            answer_by_the_rule(live_table)
        return live_table

    @pytest.fixture
    def gate(self, live_table: LiveTable, monkeypatch: pytest.MonkeyPatch) -> Gate:
        carry_out, gate = waiting(apply.carry_out)
        monkeypatch.setattr(play, "carry_out", carry_out)
        return gate

    def test_without_the_lock_a_coup_begins_at_a_table_that_pauses(self, live_table, gate, monkeypatch, owner):
        """The database refuses the move too, until it no longer looks whether the table is open."""
        without_locks(monkeypatch)
        weaken(
            owner,
            "games_store_move",
            ("at_table.is_open AND", ""),
            ("ELSE games_is_in_coup(phase) OR at_table.is_open END", "ELSE true END"),
        )
        pause_in_the_midst(live_table, gate, in_a_thread(lambda: str(a_bank(live_table))))
        assert LiveRound.objects.latest("opened_at").opened_at > paused_at()

    def test_without_the_lock_the_database_refuses_the_coup(self, live_table, gate, monkeypatch):
        """That looks like a malfunction, and the table stops."""
        without_locks(monkeypatch)
        with pytest.raises(TableStopped):
            pause_in_the_midst(live_table, gate, in_a_thread(lambda: str(a_bank(live_table))))
        assert LiveRound.objects.count() == 1

    def test_the_pause_waits_for_the_coup_that_begins(self, live_table, gate):
        pause_in_the_midst(live_table, gate, in_a_thread(lambda: str(a_bank(live_table))))
        assert LiveRound.objects.count() == 2
        assert LiveRound.objects.latest("opened_at").opened_at < paused_at()

    def test_a_player_who_waited_for_the_pause_is_refused(self, live_table):
        has_paused, may_end = Event(), Event()

        def pause_slowly() -> str:
            with transaction.atomic():
                pause(live_table)
                has_paused.set()
                assert may_end.wait(PATIENCE)
            return "paused"

        banker = asked_at(live_table)
        pausing = in_a_thread(pause_slowly)
        assert has_paused.wait(PATIENCE)
        taking = in_a_thread(lambda: outcome(lambda: a_bank(live_table)))
        until(lambda: taking.done() or somebody_is_blocked())
        may_end.set()
        assert pausing.result(PATIENCE) == "paused"
        assert taking.result(PATIENCE) == TablePaused.__name__
        assert asked_at(live_table) == banker
        assert LiveRound.objects.count() == 1
