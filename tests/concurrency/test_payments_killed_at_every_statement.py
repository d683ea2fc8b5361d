"""Money survives kill -9 between any two statements of each action that moves it, in the house and at its bank.

After a kill at any moment, every transaction is whole or has not happened; the ledger is correct, and the bank agrees
with the house; and the same form, message or job again ends with exactly one effect: nothing is lost or doubled.
`make test` takes some of them each day and kills before and after each COMMIT; `make test-all` takes all of them and
kills at each statement.
"""

from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.concurrency import actions_in, actions_out
from tests.concurrency.actions import Action, Scene
from tests.concurrency.books import Counts, broken, counts, difference
from tests.harness.killed import Act, dies
from tests.harness.sweeps import sample

# With each, the fewest statements that do more than read it can be done with: fewer would mean that the test looked
# elsewhere.
ACTIONS: dict[Scene, int] = {
    actions_in.beginning_a_deposit: 8,
    actions_in.approved_by_call_back: 16,
    actions_in.declined_by_call_back: 15,
    actions_in.approved_when_asked: 16,
    actions_in.given_up: 13,
    actions_in.answered_at_the_bank: 4,
    actions_in.a_purse_filled: 5,
    actions_in.a_purse_left: 4,
    actions_in.free_money: 6,
    actions_out.asking_for_a_withdrawal: 11,
    actions_out.cancelling: 10,
    actions_out.refusing: 10,
    actions_out.approving: 8,
    actions_out.approving_as_the_first: 10,
    actions_out.approving_as_the_second: 13,
    actions_out.refusing_as_the_second: 15,
    actions_out.sending: 7,
    actions_out.paid_by_call_back: 13,
    actions_out.returned_by_call_back: 13,
    actions_out.paid_when_asked: 11,
    actions_out.closing_with_money: 25,
    actions_out.closing_without_money: 25,
    actions_out.closing_after_the_payout: 16,
}
TELLING: dict[Scene, int] = {actions_in.the_bank_tells: 8, actions_out.the_bank_pays: 12}
LONGEST = 200  # statements; an act has a few dozen


@pytest.mark.parametrize(("scene", "least"), sample(ACTIONS.items(), 3), ids=[each.__name__ for each in ACTIONS])
def test_everything_that_moves_money_happens_once(cloned_db, scene, least, is_sweep):
    deaths = deaths_at_every_statement(scene()) if is_sweep else deaths_around_every_commit(scene())
    assert deaths >= (least if is_sweep else 2)


@pytest.mark.parametrize(("scene", "least"), sample(TELLING.items(), 1), ids=[each.__name__ for each in TELLING])
def test_what_the_bank_tells_a_running_house_counts_once(start_server, settings, monkeypatch, scene, least, is_sweep):
    """The bank may be killed after the house has received a message, but before recording that: it sends it again."""
    house = start_server(environment={"FORMS_PER_SECOND": "1000"})
    settings.PAYMENT_HOST = f"127.0.0.1:{house.port}"
    monkeypatch.setattr("payments.core.PAYMENT_HOST", settings.PAYMENT_HOST)  # read once, when it was loaded
    deaths = deaths_at_every_statement(scene()) if is_sweep else deaths_around_every_commit(scene())
    assert deaths >= (least if is_sweep else 2)


def deaths_at_every_statement(set_up: Callable[[], Action]) -> int:
    """Kill a process after the first statement of an action, another one after the second of the next, and so on;
    return how many did. Right after a statement is right before the next one, and after the last of them nobody learns
    that it is done.
    """
    return deaths(set_up, (partial(dies, when="after", number=number) for number in range(1, LONGEST)))


def deaths_around_every_commit(set_up: Callable[[], Action]) -> int:
    """The same in short: kill a process before each COMMIT, and another one after it."""
    moments = ((when, number) for number in range(1, LONGEST) for when in ("before", "after"))
    return deaths(set_up, (partial(dies, when=when, number=number, every=False) for when, number in moments))


def deaths(set_up: Callable[[], Action], ways: Iterator[Callable[[Act], bool]]) -> int:
    """Kill a process in one way after another, in a new action each time, until one survives; return how many did not.
    What a repeated action leaves in the ledger is checked with the next death, and at the end.
    """
    seen: list[int] = []
    for dies_so in ways:
        action = set_up()
        before = counts()
        died = dies_so(action.do)
        if died:
            seen.append(stage(action, before))
            assert not broken()
        action.do()
        assert difference(before, counts()) == action.stages[-1]
        if not died:
            break
        action.finish()
    else:
        pytest.fail("it died every time")
    assert not broken()
    assert set(seen) == set(range(len(action.stages)))  # some died before anything was done, and some after everything
    return len(seen)


def stage(action: Action, before: Counts) -> int:
    """Return how far an action has come; there is nothing in between."""
    done = difference(before, counts())
    assert done in action.stages
    return action.stages.index(done)
