"""An operator that hangs blocks only a few threads: other requests fail at once, others play on."""

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from typing import Any

import pytest
from django.db import connections

from games.betting.error_messages import refusal
from games.errors import OperatorBusy, OperatorSilent
from games.solo.operator_money import play, refresh_operator_balance
from games.variants import VARIANTS
from tests.builders import a_table
from tests.games.operator_wallet_books import STAKE, agreed
from tests.harness.reference_host import Fault
from tests.operator_wallet import an_operator
from wallet.models import Mode, OperatorBet, OperatorMessage, Partner
from wallet.operator_wallet import operators, queue

MOST = 2
A_WHILE = 60  # seconds: no test waits this long


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Allow only a few waiting requests for an operator, without a timeout."""
    monkeypatch.setattr(operators, "MOST_WAIT_FOR_ONE", MOST)
    monkeypatch.setattr(operators, "MOST_WAIT", MOST + 1)
    monkeypatch.setattr(operators, "SECONDS_TO_ANSWER", A_WHILE)


@pytest.fixture
def table(cloned_db):
    return a_table()


def apart(threads: ThreadPoolExecutor, do: Callable[[], Any]) -> Future[Any]:
    """Run a function in a thread with its own connection."""

    def alone() -> Any:
        try:
            return do()
        finally:
            connections.close_all()

    return threads.submit(alone)


def heard(host, number: int) -> None:
    """Wait until the operator has received this many bets."""
    while True:
        host.asked.clear()
        if len(host.named("bet")) >= number:
            return
        assert host.asked.wait(A_WHILE)


def test_an_operator_that_hangs_holds_as_many_threads_as_it_may(table):
    with an_operator() as hangs, an_operator() as answers, ThreadPoolExecutor(MOST) as threads:
        clicks = [hangs.visit().click(table, banker=STAKE) for _ in range(MOST + 2)]
        other = answers.visit()
        hangs.host.fail("bet", *[Fault.SILENT_AFTER] * MOST)
        held = [apart(threads, partial(play, click)) for click in clicks[:MOST]]
        heard(hangs.host, MOST)

        for click in clicks[MOST:]:
            with pytest.raises(OperatorBusy) as busy:
                play(click)
        shown = refusal(busy.value, variant=VARIANTS["baccarat"], mode=Mode.REAL, language="en").text
        assert shown == "The site you came from is responding slowly. No bet was placed. Try again in a moment."
        late = hangs.visit()
        asked = len(hangs.host.named("balance"))
        refresh_operator_balance(late.player, Mode.REAL, late.session)
        assert len(hangs.host.named("balance")) == asked
        assert (
            len(hangs.host.named("bet"))
            == OperatorBet.objects.filter(launch__operator_player__partner=hangs.partner).count()
        )
        assert not OperatorMessage.objects.exists()  # a request that was not sent is not rolled back

        assert other.plays(table, banker=STAKE).round_id
        hangs.host.go_on.set()
        for each in held:
            assert isinstance(each.exception(A_WHILE), OperatorSilent)
        assert play(clicks[-1]).round_id  # its players play as soon as it answers again
        queue.send_due()
        agreed(hangs, answers)


def test_all_operators_together_leave_threads_to_the_house():
    partners = [Partner(pk=-number) for number in range(1, MOST + 3)]
    with ExitStack() as waiting:
        for partner in partners[: MOST + 1]:
            waiting.enter_context(operators.waiting_for(partner))
        with pytest.raises(operators.Busy), operators.waiting_for(partners[-1]):
            pass
    with operators.waiting_for(partners[-1]):
        pass


def test_whatever_happens_the_slot_is_free_again():
    partner = Partner(pk=-1)
    for _ in range(3 * MOST):
        with pytest.raises(ZeroDivisionError), operators.waiting_for(partner):
            1 // 0  # noqa: B018
    assert operators._waiting[partner.pk] == 0


class Slow(Counter[int]):
    """Makes each reader wait until two have read, or for a moment."""

    def __init__(self) -> None:
        super().__init__()
        self.both = threading.Barrier(2)

    def total(self) -> int:
        """Return the value that both read before either has counted itself, if no lock prevents it."""
        found = super().total()
        with suppress(threading.BrokenBarrierError):
            self.both.wait(0.5)
        return found


def two_at_once(monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many of two threads get the single free slot."""
    monkeypatch.setattr(operators, "MOST_WAIT_FOR_ONE", 1)
    monkeypatch.setattr(operators, "MOST_WAIT", 1)
    monkeypatch.setattr(operators, "_waiting", Slow())
    have_tried, partner = threading.Barrier(2), Partner(pk=-1)

    def one(_: int) -> bool:
        try:
            with operators.waiting_for(partner):
                have_tried.wait(A_WHILE)
        except operators.Busy:
            have_tried.wait(A_WHILE)
            return False
        return True

    with ThreadPoolExecutor(2) as threads:
        return sum(threads.map(one, range(2)))


def test_one_that_only_checks_before_waiting_is_one_too_many(monkeypatch):
    monkeypatch.setattr(operators, "_counting", nullcontext())
    assert two_at_once(monkeypatch) == 2


def test_who_counts_while_nobody_else_does_is_not(monkeypatch):
    assert two_at_once(monkeypatch) == 1
