"""After a crash at any statement of a round or message, operator and ledger agree to the cent.

If a round and a sweep run at the same time, exactly one of them gets the bet.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count

import psycopg
import pytest
from django.db import connection

from games.errors import OperatorSilent
from games.models import Participation
from games.solo.operator_money import play
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.harness.killed import dies
from tests.harness.sweeps import sample
from tests.operator_wallet import an_operator, make_due
from wallet.models import BetState, OperatorBet, OperatorMessage
from wallet.operator_wallet import bets, operators, queue

LEAST_OF_A_ROUND = 14  # statements that do more than read
LEAST_OF_A_MESSAGE = 4
LONGEST = 100

# The same without checking the state of a bet.
UNGUARDED = """
ALTER TABLE wallet_operator_bet DISABLE TRIGGER wallet_operator_bet_is_decided;
ALTER TABLE wallet_operator_message DISABLE TRIGGER wallet_operator_message_begins;
"""


@pytest.fixture
def operator(cloned_db):
    with an_operator() as operator:
        yield operator


@pytest.fixture
def table(cloned_db):
    return a_table()


@pytest.fixture
def swept_at_once(monkeypatch):
    """Sweeps bets immediately, as after a crash."""
    monkeypatch.setattr(bets, "LOST_AFTER", bets.LOST_AFTER * 0)


def go_on() -> None:
    """Run the periodic tasks."""
    bets.sweep()
    make_due()
    queue.send_due()


@pytest.mark.parametrize("when", sample(["before", "after"], 1))
def test_a_round_survives_its_process(operator, table, swept_at_once, when, is_sweep):
    for number in count(1):
        visitor = operator.visit()
        click = visitor.click(table, banker=STAKE)
        died = dies(partial(play, click), when, number, every=is_sweep)
        go_on()
        agreed(operator)
        is_played = Participation.objects.filter(round_id=click.round_id).exists()
        assert play(click).repeated == is_played
        go_on()
        agreed(operator)
        if not died:
            break
        assert number < LONGEST
    assert number > (LEAST_OF_A_ROUND if is_sweep else 2)
    assert set(OperatorBet.objects.values_list("state", flat=True)) == {BetState.PLAYED, BetState.GIVEN_UP}


@pytest.mark.parametrize("when", sample(["before", "after"], 1))
def test_a_message_survives_its_process(operator, table, when):
    for number in count(1):
        operator.visit().plays(table, banker=STAKE)
        died = dies(queue.send_due, when, number)
        go_on()
        agreed(operator)
        if not died:
            break
        assert number < LONGEST
    assert number > LEAST_OF_A_MESSAGE
    shown = operator.host.named("win")
    assert len(shown) > len({said["transaction"] for said in shown})  # some messages were sent twice and booked once


def test_unguarded_a_round_and_a_sweep_both_have_the_bet(cloned_db, operator, table, swept_at_once, monkeypatch):
    with psycopg.connect(cloned_db.owner_url, autocommit=True) as owner:
        owner.execute(UNGUARDED)

    def decide(bet, state, why=""):
        OperatorBet.objects.filter(pk=bet.pk).update(state=state, why=why, ended_at=_now())
        return True

    monkeypatch.setattr(bets, "_decide", decide)
    _sweep_after_the_answer(monkeypatch)
    visitor = operator.visit()
    visitor.plays(table, banker=STAKE)
    assert OperatorMessage.objects.filter(bet__round_id__in=_rounds()).count() == 2  # a win, and a rollback of its bet


@pytest.mark.sweep
def test_a_sweep_that_comes_first_has_the_bet(operator, table, swept_at_once, monkeypatch):
    _sweep_after_the_answer(monkeypatch)
    visitor = operator.visit()
    click = visitor.click(table, banker=STAKE)
    with pytest.raises(OperatorSilent):
        play(click)
    assert not Participation.objects.exists()
    monkeypatch.undo()
    go_on()
    agreed(operator)


def test_a_round_that_comes_first_has_the_bet(operator, table, swept_at_once, monkeypatch):
    book = bets.book
    swept = []

    def booked(bet):
        before = book(bet)
        swept.append(_elsewhere(bets.sweep))
        return before

    monkeypatch.setattr(bets, "book", booked)
    visitor = operator.visit()
    visitor.plays(table, banker=STAKE)
    assert swept == [0]
    go_on()
    assert Participation.objects.count() == 1
    agreed(operator)


def test_many_workers_tell_each_message_once(operator, table):
    for _ in range(3):
        operator.visit().plays(table, banker=STAKE)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(_in_a_worker, [queue.send_due] * 4))
    assert len(operator.host.named("win")) == 3
    agreed(operator)


def _sweep_after_the_answer(monkeypatch) -> None:
    ask = operators.ask

    def asked(*what):
        answer = ask(*what)
        _elsewhere(bets.sweep)
        return answer

    monkeypatch.setattr(operators, "ask", asked)


def _elsewhere(act):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(_in_a_worker, act).result()


def _in_a_worker(act):
    try:
        return act()
    finally:
        connection.close()


def _rounds():
    return Participation.objects.values_list("round_id", flat=True)


def _now():
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]
