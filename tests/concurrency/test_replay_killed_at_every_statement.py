"""Dealing finished rounds again survives the death of its worker before and after each SQL statement: nothing is done
by halves, and the next worker does the rest, once.
"""

import os
import signal
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from games import replay
from games.models import Incident, Participation, ReplayDue, Table, Void, VoidPart
from tests.builders import a_player, a_round, a_table
from tests.games.corrupt import corrupt
from tests.people import events
from wallet import accounts
from wallet.models import Mode

MONEY = 1_000_000
LONGEST = 200  # statements; a run has a few dozen


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_round_is_annulled_once_whenever_workers_die(cloned_db, owner, when):
    player, table = a_player(real=MONEY), a_table()
    good = a_round(player, table, player=1000)
    part = Participation.objects.get(round_id=good.round_id)
    expected = MONEY - part.staked + part.paid
    deaths = 0
    for number in count(1):
        bad = a_round(player, table, player=1000, tie=1000)
        corrupt(owner, bad.round_id)
        died = worker_dies(when, number)
        deaths += died
        assert_nothing_by_halves(bad.round_id)
        wait_for_what_the_dead_held()
        replay.replay_finished_rounds()
        assert Void.objects.filter(pk=bad.round_id).exists()
        assert accounts.balance(player.pk, Mode.REAL) == expected
        Table.objects.filter(pk=table.pk).update(is_open=True)
        if not died:
            break
        assert number < LONGEST
    assert deaths >= 15  # queue, rounds, ledger, table, void, accounts, incident, commit: fewer would not be all of it
    assert Void.objects.count() == VoidPart.objects.count() == Incident.objects.count() == number
    assert len(events("round.voided")) == len(events("incident.opened")) == number
    assert not ReplayDue.objects.exists()
    call_command("verify_ledger", verbosity=0)


def worker_dies(when: str, number: int) -> bool:
    """Run the job in a process that kills itself before or after its statement of that number; say whether it did."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            die_at(when, number)
            replay.replay_finished_rounds()
        except BaseException:  # noqa: BLE001  (whatever it was: this process must not go on as a second pytest)
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def wait_for_what_the_dead_held() -> None:
    """PostgreSQL takes a moment to see that a client is gone, and the job passes over rows that are still locked."""
    with transaction.atomic():
        list(ReplayDue.objects.select_for_update())


def die_at(when: str, number: int) -> None:
    """Have this process die around a statement; COMMIT counts as one."""
    left = number
    connection = connections["default"]
    # A child may find another connection here than its parent has (Django keeps them by event loop, which a fork does
    # not inherit), open to another test's database. Whatever is open belongs to the parent.
    connection.connection = None
    connection.ensure_connection()

    def counted(work: Callable[[], Any]) -> Any:
        nonlocal left
        left -= 1
        if when == "before" and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        result = work()
        if when == "after" and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    commit = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]  # Django's own, untyped
    BaseDatabaseWrapper._commit = lambda self: counted(lambda: commit(self))  # type: ignore[attr-defined]
    connection.execute_wrappers.append(
        lambda execute, sql, params, many, context: counted(lambda: execute(sql, params, many, context))
    )


def assert_nothing_by_halves(round_id) -> None:
    done = {
        Void.objects.filter(pk=round_id).exists(),
        VoidPart.objects.filter(void_id=round_id).exists(),
        Incident.objects.filter(round_id=round_id).exists(),
        not ReplayDue.objects.filter(pk=round_id).exists(),
        not Table.objects.get().is_open,
    }
    assert len(done) == 1
    call_command("verify_ledger", verbosity=0)
