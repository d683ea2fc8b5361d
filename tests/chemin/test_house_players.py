"""House players: they follow the rule, use only what their seat may see, and play at random."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Final

import pytest

from games.chemin.tick import LARGEST_BANK, LARGEST_STAKE, NotAsked, choose
from games.engine.cards import FULL_DECK, Card
from games.engine.chemin import Phase, State, TableRules, apply, new_table, options, view
from games.engine.chemin.actions import (
    Action,
    AskCroupier,
    BringShoe,
    DrawCard,
    GiveSuite,
    Join,
    LayStake,
    MakeBid,
    MakeCall,
    SetBalance,
    Stand,
    TableAction,
    TakeBank,
)
from games.engine.chemin.events import BankTaken, Event, Settled
from games.engine.chemin.rules import DECKS
from games.engine.chemin.state import Hands, Shoe, there
from games.engine.chemin.steps.play import advice_to, side_to_decide
from tests.engine.chemin.test_any_evening import is_offered
from tests.harness.sweeps import sample

MINIMUM: Final = 100
SHOE: Final = FULL_DECK * DECKS
RULES: Final = TableRules(5, MINIMUM, 100 * MINIMUM)


class Table:
    """A table of house players, with all their actions."""

    def __init__(self, chance: Random, *balances: int, rules: TableRules = RULES) -> None:
        self.chance = chance
        self.state = new_table(rules)
        self.did: list[TableAction] = []
        self.events: list[Event] = []
        for number, balance in enumerate(balances, start=1):
            self.do(Join(number, balance))

    def do(self, action: Action) -> None:
        self.state, events = apply(self.state, action)
        self.events.extend(events)

    def step(self) -> State | None:
        """Make one step; return the state before a house player's step.

        None if nobody can continue.
        """
        if self.state.phase is Phase.SHOE:
            cards = list(SHOE)
            self.chance.shuffle(cards)
            self.do(BringShoe(tuple(cards)))
        number = self.to_decide
        if number is None:
            return None
        before = self.state
        self.did.append(choose(view(before, number), self.chance.randrange))
        self.do(self.did[-1])
        return before

    @property
    def to_decide(self) -> int | None:
        if self.state.turn is not None:
            return self.state.turn
        return next((seat.number for seat in self.state.seats if options(self.state, seat.number)), None)

    def count(self, kind: type[Event]) -> int:
        return sum(isinstance(event, kind) for event in self.events)


def evenings(count: int) -> Iterator[Table]:
    """Yield tables of two to five house players with little or much money and various limits."""
    for number in range(count):
        chance = Random(number)
        minimum = chance.choice([1, 7, 100])
        rules = TableRules(5, minimum, minimum * chance.choice([1, 2, 20, 1_000]))
        balances = [chance.choice([0, 1, 3, 30, 3_000]) * minimum + chance.randrange(9) for _ in range(5)]
        yield Table(chance, *balances[: 2 + number % 4], rules=rules)


@pytest.mark.sweep
def test_whatever_a_house_player_does_is_among_what_its_seat_may_do():
    decided = Counter[Phase]()
    for table in evenings(60):
        for _ in range(150):
            before = table.step()
            if before is None:
                break
            action = table.did[-1]
            assert any(is_offered(action, option) for option in options(before, action.seat))
            decided[before.phase] += 1
    assert decided.total() > 5_000
    assert set(decided) == set(Phase) - {Phase.ALONE, Phase.SHOE}


def test_nobody_decides_where_nothing_is_asked():
    table = Table(Random(1), 1_000, 1_000)
    with pytest.raises(NotAsked):
        choose(view(table.state, 2), Random(1).randrange)
    with pytest.raises(NotAsked):
        choose(view(table.state, None), Random(1).randrange)


def test_a_house_player_keeps_to_the_rule_and_never_asks_what_it_is():
    decisions = 0
    for table in evenings(40):
        for _ in range(200):
            before = table.step()
            if before is None:
                break
            action = table.did[-1]
            assert not isinstance(action, AskCroupier)
            if isinstance(action, DrawCard | Stand):
                decisions += 1
                assert advice_to(before, side_to_decide(before)).allows(isinstance(action, DrawCard))
    assert decisions > 500


@pytest.mark.sweep
def test_amounts_are_round_and_within_its_means():
    table = Table(Random(2), *[100_000 * MINIMUM] * 5)
    for _ in range(5_000):
        table.step()
    banks = [action.amount for action in table.did if isinstance(action, TakeBank | MakeBid)]
    stakes = [action.amount for action in table.did if isinstance(action, LayStake)]
    assert set(banks) >= {number * MINIMUM for number in range(1, LARGEST_BANK + 1)}
    assert {number * MINIMUM for number in range(1, LARGEST_STAKE + 1)} <= set(stakes)
    assert max(stakes) == LARGEST_STAKE * MINIMUM
    assert sum(amount % MINIMUM == 0 for amount in stakes) > 0.7 * len(stakes)  # others stake what is left
    calls = sum(isinstance(action, MakeCall) for action in table.did)
    assert 0 < calls < 0.25 * table.count(Settled)


@pytest.mark.sweep
def test_a_banker_keeps_the_bank_for_some_coups_and_lets_it_go():
    table = Table(Random(3), *[100_000 * MINIMUM] * 4)
    for _ in range(5_000):
        table.step()
    assert 1.2 < table.count(Settled) / table.count(BankTaken) < 5


@pytest.mark.sweep
@pytest.mark.parametrize("seed", sample(range(5), 1))
def test_two_house_players_alone_play_coup_after_coup(seed):
    table = Table(Random(seed), 100 * MINIMUM, 100 * MINIMUM)
    since_coup, longest = 0, 0
    for _ in range(3_000):
        table.events.clear()
        assert table.step() is not None
        if table.state.phase is Phase.CHOICE:  # the product tops up their chips
            for seat in table.state.seats:
                table.do(SetBalance(seat.number, 100 * MINIMUM))
        since_coup = 0 if table.count(Settled) else since_coup + 1
        longest = max(longest, since_coup)
    assert longest < 100


def test_a_bank_that_nobody_stakes_against_is_given_up():
    table = Table(Random(6), 100 * MINIMUM, 0)
    while table.state.phase is not Phase.CHOICE:
        table.step()
    assert table.step() is not None
    assert isinstance(table.did[-1], GiveSuite)
    assert table.state.bank is None


def test_cards_that_it_may_not_see_change_nothing():
    """The decision is the same for any face-down cards of others, and for any next cards."""
    compared = 0
    for table in evenings(30):
        for _ in range(150):
            number = table.to_decide
            if number is not None:
                seed = table.chance.random()
                expected = choose(view(table.state, number), Random(seed).randrange)
                for other in others_alike(table.state, number, table.chance):
                    compared += 1
                    assert choose(view(other, number), Random(seed).randrange) == expected
            if table.step() is None:
                break
    assert compared > 1_000


def others_alike(state: State, number: int, chance: Random) -> Iterator[State]:
    """Yield tables that look the same from this seat: with another shoe and other hidden cards."""
    if state.shoe is not None:
        yield replace(state, shoe=Shoe(tuple(chance.choices(FULL_DECK, k=312)), state.shoe.drawn))
    coup = state.coup
    if coup is None or coup.hands is None:
        return
    hands: Hands = coup.hands
    if not hands.banker.shown:
        hands = replace(hands, banker=replace(hands.banker, pair=two_cards(chance)))
    if not hands.punter.shown and there(coup.punter) != number:
        hands = replace(hands, punter=replace(hands.punter, pair=two_cards(chance)))
    yield replace(state, coup=replace(coup, hands=hands))


def two_cards(chance: Random) -> tuple[Card, Card]:
    return chance.choice(FULL_DECK), chance.choice(FULL_DECK)
