"""Figures about pairs of players, computed from the records of an evening at a real table."""

from collections import Counter
from datetime import timedelta
from random import Random

import pytest
from django.utils.timezone import now

from games.chemin.apply import name_of
from games.chemin.collusion.measures import choices, given, money, pace
from games.chemin.collusion.signals import Sign, analyse_play
from games.chemin.collusion.statistics import Scope
from games.engine.cards import Card
from games.engine.chemin import Phase, SeatView, options, view
from games.engine.chemin.actions import KeepBank, MakeCall, Pass, TableAction, TakeBank
from games.engine.chemin.odds import Decision, departure_costs
from games.engine.chemin.rules import Side
from games.engine.chemin.steps.phases import IN_COUP
from games.engine.chemin.steps.seats import in_order
from games.models import CheminCoup, CheminStake, Round
from players.models import Player
from tests.chemin.at_table import a_chemin_table, answer, seated_players, table_state_of
from tests.chemin.friends import find, gives_to
from tests.chemin.on_record import Policy, honest

pytestmark = pytest.mark.django_db

COUPS = 4
GIVER, TAKER = 1, 2  # seats


def holds_the_bank(seen: SeatView, chance: Random) -> TableAction:
    """Take every bank at the minimum, and keep it."""
    return find(seen, lambda action: isinstance(action, TakeBank | KeepBank)) or honest(seen, chance)


@pytest.fixture
def evening() -> tuple[list[Player], Counter[tuple[int, int, str]]]:
    """Return the players and a count of their answers to each bank.

    The first player gives money to the second: calls their bank and loses on purpose.
    """
    live_table = a_chemin_table(maximum=1_000_000)
    players, chance = seated_players(live_table, 3), Random(9)
    policies: dict[int, Policy] = {GIVER: gives_to(TAKER), TAKER: holds_the_bank}
    said: Counter[tuple[int, int, str]] = Counter()
    has_called = False
    while True:
        table_state = table_state_of(live_table)
        state, seat_number = table_state.state, table_state.state.turn
        if has_called and state.phase not in IN_COUP and is_long_enough():
            return players, said
        if seat_number is None:  # the bank is free: the first in the order may open it
            seat_number = next(seat.number for seat in in_order(state) if options(state, seat.number))
        action = policies.get(seat_number, honest)(view(state, seat_number), chance)
        player = players[seat_number - 1]
        if state.phase is Phase.STAKES or isinstance(action, MakeCall):
            banker = players[state.held_bank.seat - 1]
            said[player.pk, banker.pk, "let go" if isinstance(action, Pass) else "played"] += 1
            has_called |= isinstance(action, MakeCall) and (seat_number, state.held_bank.seat) == (GIVER, TAKER)
        call = action.call if isinstance(action, MakeCall) else None
        amount = getattr(action, "amount", None)
        answer(player, live_table, name_of(type(action)), amount, call, table_state.chemin.question)


def is_long_enough() -> bool:
    """Return True after enough coups with at least one lost on purpose."""
    return CheminCoup.objects.count() >= COUPS and CheminCoup.objects.filter(punter_departs=True).exists()


def test_money_choices_and_gifts_are_those_of_the_evening(evening):
    players, said = evening
    scope = Scope(now() - timedelta(hours=1), now() + timedelta(hours=1))
    chosen = choices(scope)
    for (who, towards), each in chosen.items():
        assert each.let_go.done == said[who, towards, "let go"]
        assert each.let_go.asked == each.let_go.done + said[who, towards, "played"]
    assert sum(each.let_go.asked for each in chosen.values()) == said.total()
    passed = money(scope)
    assert sum(each.coups for each in passed.values()) == CheminStake.objects.count()
    assert sum(each.lost_by_first + each.lost_by_second for each in passed.values()) == sum(
        stake.returned != stake.stake for stake in CheminStake.objects.all()
    )
    gave = given(scope)
    departed = (
        CheminCoup.objects.filter(punter_departs=True).count() + CheminCoup.objects.filter(banker_departs=True).count()
    )
    assert sum(each.times for each in gave.values()) == departed > 0
    assert sum(each.cost for each in gave.values()) == pytest.approx(sum(map(cost_of, CheminCoup.objects.all())))
    giver, taker = players[GIVER - 1].pk, players[TAKER - 1].pk
    called = chosen[giver, taker].called
    assert called.done == called.asked > 0
    assert all(each.with_others is None or each.with_others >= 0 for each in pace(scope, (giver, taker)).values())
    signs = {sign for pair in analyse_play(scope).pairs for sign in pair.signs}
    assert Sign.ADDRESS not in signs


def cost_of(coup: CheminCoup) -> float:
    """Return the cost of the departures in a coup, from its cards."""
    points = [Card.parse(code).points for code in Round.objects.get(pk=coup.pk).cards.split()]
    stake = CheminStake.objects.filter(coup=coup).values_list("stake", flat=True)[0]
    cost = 0.0
    for side, departs, draws in (
        (Side.PUNTER, coup.punter_departs, coup.punter_draws),
        (Side.BANKER, coup.banker_departs, coup.banker_draws),
    ):
        if departs:
            first = 0 if side is Side.PUNTER else 1
            third = points[4] if side is Side.BANKER and coup.punter_draws else None
            pair = (points[first] + points[first + 2]) % 10
            cost += stake * float(departure_costs()[Decision(side, pair, third, bool(draws))])
    return cost
