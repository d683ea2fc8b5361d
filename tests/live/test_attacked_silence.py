"""A process that is stopped, or loses PostgreSQL, in the middle of an action at a table."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from threading import Event
from typing import Any

import pytest
from django.db import transaction

from games.models import LiveTable, Phase
from games.shared import phases, rounds, seats
from games.tables import clock
from players.models import Player
from tests.builders import a_player
from tests.live.at_table import a_live_table, bet, hurry, round_at
from tests.live.betting import balance, held
from tests.live.test_bets_at_once import PATIENCE, in_a_thread, until

SHORT = "400ms"


@pytest.fixture
def silence(cloned_db) -> Iterator[pytest.MonkeyPatch]:
    """The timeouts of the product are short until `undo`, so that they cut off one process and not its successor."""
    with pytest.MonkeyPatch.context() as timeouts:
        timeouts.setattr(clock, "LONGEST_SILENCE", SHORT)
        timeouts.setattr(seats, "READ", seats.READ.replace("'60s'", f"'{SHORT}'"))
        yield timeouts


class Quiet:
    """Blocks the first call of a function until `wake`."""

    def __init__(self, action: Callable[..., Any]) -> None:
        self.has_begun, self.may_wake = Event(), Event()
        self._action = action

    def __call__(self, *args: Any, **options: Any) -> Any:
        done = self._action(*args, **options)
        if not self.has_begun.is_set():
            self.has_begun.set()
            assert self.may_wake.wait(PATIENCE)
        return done

    def wake(self, thread: Future[str]) -> str:
        """Unblock the call and return its result."""
        self.may_wake.set()
        return thread.result(PATIENCE)


def outcome(action: Callable[[], object]) -> str:
    try:
        action()
    except phases.UNABLE as error:
        return str(error)
    return "carried out"


@pytest.fixture
def table(silence) -> tuple[LiveTable, Player]:
    """A table and a player who has bet there."""
    live_table, player = a_live_table(), a_player(real=1_000_000)
    bet(player, live_table, player=5000)
    return live_table, player


def test_a_worker_is_cut_off_and_the_table_goes_on_and_is_not_stopped_when_it_wakes(table, silence, monkeypatch):
    live_table, _ = table
    quiet = Quiet(phases._is_alone_with)
    monkeypatch.setattr(phases, "_is_alone_with", quiet)
    hurry(live_table)
    asleep = in_a_thread(lambda: outcome(lambda: phases.advance(live_table.pk)))
    assert quiet.has_begun.wait(PATIENCE)
    silence.undo()
    until(lambda: phases.advance(live_table.pk))
    assert round_at(live_table).phase == Phase.CLOSED
    assert "terminating connection" in quiet.wake(asleep)
    assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is None


def test_a_worker_that_is_cut_off_in_the_middle_of_a_phase_does_not_stop_the_table(table, silence, monkeypatch):
    live_table, _ = table
    quiet = Quiet(rounds.has_bets)
    monkeypatch.setattr(rounds, "has_bets", quiet)
    hurry(live_table)
    asleep = in_a_thread(lambda: outcome(lambda: phases.advance(live_table.pk)))
    assert quiet.has_begun.wait(PATIENCE)
    silence.undo()
    until(lambda: phases.advance(live_table.pk))
    assert "terminating connection" in quiet.wake(asleep)
    assert LiveTable.objects.get(pk=live_table.pk).stopped_by_id is None


def test_a_web_process_is_cut_off_and_what_it_was_about_to_hold_is_not_held(table, silence):
    live_table, player = table
    quiet = Quiet(bet)
    in_a_transaction = transaction.atomic(lambda: quiet(player, live_table, player=5000))  # as calls of the API are
    asleep = in_a_thread(lambda: outcome(in_a_transaction))
    assert quiet.has_begun.wait(PATIENCE)
    silence.undo()
    hurry(live_table)
    until(lambda: phases.advance(live_table.pk))
    assert round_at(live_table).phase == Phase.CLOSED
    assert "terminating connection" in quiet.wake(asleep)
    assert (balance(player), held(player)) == (1_000_000, 5000)
