"""A move at a Chemin de Fer table is atomic: also if its process is killed after any SQL statement."""

from collections.abc import Callable
from functools import partial
from itertools import count

from games.engine.chemin import Call, Phase
from games.models import (
    CheminCoup,
    CheminMove,
    CheminStake,
    CheminTenure,
    LiveRound,
    LiveTable,
    Participation,
    Round,
    Shoe,
)
from tests.chemin.at_table import (
    a_chemin_table,
    answer,
    answer_by_the_rule,
    chemin_of,
    finish_cut,
    seated_players,
    state_of,
)
from tests.concurrency.books import counts
from tests.harness.killed import dies
from tests.wallet import wholeness

KEPT = (CheminCoup, CheminMove, CheminStake, CheminTenure, LiveRound, Participation, Round, Shoe)
LONGEST = 200  # statements; a move has a few dozen, depending on the cards
LEAST = 10  # of any move that touches money


def everything(table: LiveTable) -> tuple[object, ...]:
    """Return the state, rows and money of the table."""
    chemin = chemin_of(table)
    return chemin.state, chemin.move, chemin.question, counts(), [model.objects.count() for model in KEPT]


def survive(table: LiveTable, move: Callable[[], object], *, every: bool) -> int:
    """Kill the process of a move after its first, second, … statement until it succeeds.

    Return how many processes died.
    """
    before = everything(table)
    for number in count(1):
        died = dies(move, "after", number, every=every)
        if chemin_of(table).move != before[1]:
            return number
        assert died
        assert everything(table) == before
        assert number < LONGEST
    raise AssertionError


def test_nothing_of_a_move_is_done_by_halves(cloned_db, is_sweep):
    least = LEAST if is_sweep else 1
    table = a_chemin_table()
    first, caller, joiner = seated_players(table, 3)
    assert survive(table, partial(answer, first, table, "take_bank", 10_000), every=is_sweep) > least
    finish_cut(table)
    answer(caller, table, "make_call", call=Call.BANCO)
    assert survive(table, partial(answer, joiner, table, "lay_stake", 5_000), every=is_sweep) > least
    assert state_of(table).phase is Phase.CARDS
    while state_of(table).phase in (Phase.CARDS, Phase.PUNTER):
        answer_by_the_rule(table)
    if state_of(table).phase is Phase.BANKER:
        assert survive(table, partial(answer_by_the_rule, table), every=is_sweep) > least
    assert CheminCoup.objects.count() == Round.objects.count() == 1
    wholeness.assert_whole()
