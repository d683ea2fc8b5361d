"""Property test of Chemin de Fer: no money is lost, no state is stuck, no hidden card is shown,
every coup ends.

Hypothesis creates tables with three to nine seats and tries any actions, allowed or not: more than
a hundred thousand steps in `make test-all`, and at least a sixtieth of that in `make test`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from operator import attrgetter
from struct import iter_unpack
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from games.engine.cards import RANK_LETTERS, SUIT_LETTERS, Card
from games.engine.chemin import (
    Call,
    Phase,
    Refused,
    Side,
    State,
    TableRules,
    apply,
    default_action,
    new_table,
    options,
    view,
)
from games.engine.chemin.actions import (
    Action,
    AskCroupier,
    BreakUp,
    BringShoe,
    ComeBack,
    DealCards,
    DrawCard,
    EndBank,
    GiveSuite,
    Join,
    KeepBank,
    LayStake,
    Leave,
    MakeBid,
    MakeCall,
    Pass,
    SetBalance,
    Stand,
    StepAway,
    TableAction,
    TakeBank,
    TimeUp,
    VoidCoup,
)
from games.engine.chemin.events import CardsDealt, Declared, Event, Settled
from games.engine.chemin.frozen import freeze, thaw
from games.engine.chemin.options import Option
from games.engine.chemin.record import recompute_coup
from games.engine.chemin.rules import CUT_CARD, DECKS
from games.engine.chemin.state import there
from games.engine.chemin.steps.play import advice_to
from games.engine.shoe import shuffle
from tests.engine.chemin.books import Books

STEPS = 100_000
EXAMPLES, EXAMPLES_OF_A_SWEEP = 75, 1_100  # choices depend on all modules' constants
SHARE = 60  # `make test` must reach this fraction of a sweep
COUPS = 5_000
LONGEST_WAY_TO_THE_END = 4 * 9 + 10
"""All seats pass an offer, a call, a stake and a bid, and one coup is played."""

QUIET = {Phase.ALONE, Phase.FREE, Phase.SHOE}
"""Phases without a seat in turn."""

CARD_CODE = f"[{RANK_LETTERS}][{SUIT_LETTERS}]"

SEATS = st.integers(0, 10)
AMOUNTS = st.one_of(st.integers(-1, 30), st.integers(1, 3_000))
ONE_SEAT = (Pass, DealCards, DrawCard, Stand, AskCroupier, KeepBank, GiveSuite, Leave, StepAway, ComeBack)
SEAT_AND_AMOUNT = (TakeBank, MakeBid, LayStake)

ANYTHING: st.SearchStrategy[Action] = st.one_of(
    st.builds(lambda make, seat: make(seat), st.sampled_from(ONE_SEAT), SEATS),
    st.builds(lambda make, seat, amount: make(seat, amount), st.sampled_from(SEAT_AND_AMOUNT), SEATS, AMOUNTS),
    st.builds(MakeCall, SEATS, st.sampled_from(Call), st.one_of(st.none(), AMOUNTS)),
    st.builds(Join, SEATS, AMOUNTS),
    st.builds(SetBalance, SEATS, AMOUNTS),
    st.just(TimeUp()),
    st.just(BringShoe(())),
    st.sampled_from([VoidCoup(), EndBank(), BreakUp()]),
)


class AnyEvening(RuleBasedStateMachine):
    """One table, its independent accounts, and a count of all steps at all tables."""

    steps = 0
    coups = 0
    voided = 0
    phases: set[Phase] = set()

    def __init__(self) -> None:
        super().__init__()
        self.books = Books()
        self.state: State = new_table(TableRules(3, 1, 1))
        self.asked: list[tuple[Phase, int]] = []
        self.first = 0
        self.departs: dict[Side, bool] = {}

    @initialize(
        seat_count=st.integers(3, 9),
        minimum=st.sampled_from([1, 20, 100]),
        spread=st.sampled_from([1, 2, 50]),
        balances=st.lists(st.one_of(st.integers(0, 300), st.integers(100, 5_000)), min_size=2, max_size=9),
    )
    def open_table(self, seat_count: int, minimum: int, spread: int, balances: list[int]) -> None:
        self.state = new_table(TableRules(seat_count, minimum, minimum * spread))
        for number, balance in enumerate(balances[:seat_count], start=1):
            self.do(Join(number, balance))

    @rule(choices=st.binary(min_size=2 * 16, max_size=2 * 48))
    def players_decide(self, choices: bytes) -> None:
        """The seat in turn takes one of its options; two bytes per decision, to need only one
        draw.
        """
        for choice, *_ in iter_unpack("H", choices[: len(choices) // 2 * 2]):
            open_to = self.open_options()
            if not open_to:
                break
            amount, which = divmod(choice, len(open_to))
            self.do(choose(open_to[which], amount))

    @rule(times=st.integers(1, 6))
    def time_is_up(self, times: int) -> None:
        for _ in range(times):
            if self.state.turn is not None:
                self.do(TimeUp())

    @precondition(lambda self: self.state.phase is Phase.SHOE)
    @rule(number=st.integers(0, 19), coups_left=st.one_of(st.none(), st.integers(0, 3)))
    def house_brings_a_shoe(self, number: int, coups_left: int | None) -> None:
        """Bring a full shoe, or one that ends after one or two coups."""
        self.do(BringShoe(shuffled(number)))
        shoe = self.state.shoe
        assert shoe is not None
        if coups_left is not None:
            drawn = len(shoe.cards) - CUT_CARD - 1 - 5 * coups_left
            self.state = replace(self.state, shoe=replace(shoe, drawn=drawn))

    @precondition(lambda self: self.state.phase in (Phase.PUNTER, Phase.BANKER))
    @rule()
    def house_voids_a_coup_that_is_dealt(self) -> None:
        self.do(VoidCoup())
        AnyEvening.voided += 1

    @rule(make=st.sampled_from([Leave, StepAway, ComeBack]), seat=SEATS, is_asked_seat=st.booleans())
    def someone_comes_or_goes(self, make: type[Leave | StepAway | ComeBack], seat: int, is_asked_seat: bool) -> None:
        """Players leave and return at any time, those in turn as often as others."""
        number = self.state.turn if is_asked_seat and self.state.turn is not None else seat
        with suppress(Refused):
            self.do(make(number))

    @rule(seat=SEATS, balance=st.integers(0, 5_000))
    def someone_sits_down(self, seat: int, balance: int) -> None:
        with suppress(Refused):
            self.do(Join(seat, balance))

    @rule(action=ANYTHING)
    def someone_does_anything(self, action: Action) -> None:
        """An action is either allowed or refused; an allowed one is among the options."""
        before = self.state
        try:
            self.do(action)
        except Refused:
            assert self.state is before
            return
        if isinstance(action, TableAction):
            assert any(is_offered(action, option) for option in options(before, action.seat))

    @invariant()
    def everyone_asked_has_something_to_do(self) -> None:
        open_to = self.open_options()
        default = default_action(self.state)
        if self.state.turn is None:
            assert default is None
            assert self.state.phase in QUIET
            return
        assert default is not None
        assert any(is_offered(default, option) for option in open_to)
        for option in open_to:
            apply(self.state, option.action)
            if option.highest is not None:
                apply(self.state, option.at(option.highest))

    def teardown(self) -> None:
        """All players stop deciding: the croupier ends the coup and the bank."""
        for _ in range(LONGEST_WAY_TO_THE_END):
            if self.state.turn is None:
                break
            self.do(TimeUp())
        assert self.state.phase in QUIET
        assert self.state.coup is None or self.state.coup.hands is None or self.state.coup.outcome is not None
        AnyEvening.coups += self.books.coups

    def do(self, action: Action) -> None:
        """Take one step and check the table."""
        AnyEvening.steps += 1
        before = self.state
        self.state, events = apply(before, action)
        AnyEvening.phases.add(self.state.phase)
        self.books.enter(events)
        self.books.agree_with(self.state)
        self.check_seats_and_order(before)
        self.check_what_everyone_sees()
        self.check_frozen()
        self.check_record(before, events)
        assert all(not cards_in(event) or type(event).__name__ in ("HandShown", "ThirdCard") for event in events)

    def open_options(self) -> tuple[Option, ...]:
        """Return the options of the seat in turn or, if the bank is free, of the first player who
        can open.
        """
        if self.state.turn is not None:
            return options(self.state, self.state.turn)
        return next((open_to for seat in self.state.seats if (open_to := options(self.state, seat.number))), ())

    def check_seats_and_order(self, before: State) -> None:
        """Check one player per seat, and that a phase asks each seat once, in one direction."""
        state = self.state
        numbers = [seat.number for seat in state.seats]
        assert len(set(numbers)) == len(numbers)
        assert all(1 <= number <= state.rules.seat_count for number in numbers)
        assert state.turn is None or state.turn in numbers
        if state.bank is not None:
            assert state.rules.minimum <= state.bank.amount <= state.rules.maximum
            assert state.last_banker == state.bank.seat
        if state.asked is None or before.asked is None or state.asked == before.asked:
            return
        if state.phase is before.phase and state.last_banker == before.last_banker:
            assert right_of(state, before.asked) < right_of(state, state.asked)

    def check_frozen(self) -> None:
        """Check that the frozen table contains no card, and that it thaws to the same table."""
        frozen = json.dumps(freeze(self.state))
        assert not re.search(CARD_CODE, frozen)
        cards = self.state.shoe.cards if self.state.shoe else ()
        balances = {seat.number: seat.balance for seat in self.state.seats}
        assert thaw(json.loads(frozen), rules=self.state.rules, cards=cards, balances=balances) == self.state

    def check_record(self, before: State, events: tuple[Event, ...]) -> None:
        """Check that the settlement equals the one recomputed from the record."""
        for event in events:
            if isinstance(event, CardsDealt):
                self.first, self.departs = there(before.shoe).drawn, dict.fromkeys(Side, False)
            if isinstance(event, Declared):
                self.departs[event.side] = not advice_to(before, event.side).allows(event.draws)
            if isinstance(event, Settled):
                cards = there(self.state.shoe).cards
                played = recompute_coup(
                    cards[self.first :],
                    stakes=there(before.coup).stakes,
                    bank=there(before.bank).amount,
                    punter_draws=self.books.declared.get(Side.PUNTER),
                    banker_draws=self.books.declared.get(Side.BANKER),
                )
                totals = (played.punter.total, played.banker.total)
                came_to = Settled(played.outcome, *totals, played.stakes, played.tax, played.bank)
                assert came_to == event
                assert played.cards == cards[self.first : there(self.state.shoe).drawn]
                assert self.departs == {Side.PUNTER: played.punter_departs, Side.BANKER: played.banker_departs}

    def check_what_everyone_sees(self) -> None:
        """Check that each viewer sees exactly the face-up cards, and the punter also their own
        two.
        """
        state = self.state
        coup = state.coup
        if coup is None or coup.hands is None:
            assert not any(cards_in(view(state, viewer)) for viewer in (None, state.turn))
            return
        up = Counter(self.books.thirds.values())
        for pair in self.books.shown.values():
            up.update(pair)
        own = Counter(coup.hands.punter.pair) if "punter" not in self.books.shown else Counter()
        assert coup.punter == self.books.punter
        for viewer in (*range(1, state.rules.seat_count + 1), None):
            may_see = up + own if viewer == self.books.punter and state.find(viewer) else up
            assert Counter(cards_in(view(state, viewer))) == may_see


def choose(option: Option, amount: int) -> TableAction:
    """Return the option at an amount within its limits, with both ends as likely as the middle."""
    if option.lowest is None or option.highest is None:
        return option.action
    if amount % 4 == 0:
        return option.at(option.highest)
    return option.at(option.lowest + amount % (option.highest - option.lowest + 1))


def is_offered(action: TableAction, option: Option) -> bool:
    """Return whether an action is this option at an amount within its limits."""
    if option.lowest is None or option.highest is None:
        return action == option.action
    amount = getattr(action, "amount", None)
    return amount is not None and option.lowest <= amount <= option.highest and option.at(amount) == action


def right_of(state: State, number: int) -> int:
    """Return the distance of a seat to the right of the banker; the banker's own is the largest."""
    return (number - state.last_banker - 1) % state.rules.seat_count


def cards_in(thing: object) -> list[Card]:
    """Return every card in a record, at any depth."""
    cards: list[Card] = []
    parts: list[Any] = [thing]
    for part in parts:  # the list grows in the meantime
        kind: Any = type(part)
        if kind is Card:
            cards.append(part)
        elif take_apart := way_to_take_apart(kind):
            parts.extend(take_apart(part))
    return cards


@cache
def way_to_take_apart(kind: type) -> Callable[[Any], Iterable[object]] | None:
    """Return a function that yields the parts of objects of this kind, or None.

    It is called millions of times.
    """
    if issubclass(kind, tuple | frozenset):
        return iter
    names = getattr(kind, "__dataclass_fields__", ())
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda thing: [getattr(thing, name) for name in names]) if names else None


@cache
def shuffled(number: int) -> tuple[Card, ...]:
    return shuffle(bytes([number]) * 32, DECKS)


def test_any_evening_at_any_table(is_sweep: bool) -> None:
    share = 1 if is_sweep else SHARE
    run_state_machine_as_test(
        AnyEvening,
        settings=settings(
            max_examples=EXAMPLES_OF_A_SWEEP if is_sweep else EXAMPLES,
            stateful_step_count=50,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert AnyEvening.steps >= STEPS // share
    assert AnyEvening.phases == set(Phase)
    assert AnyEvening.coups >= COUPS // share
    assert AnyEvening.voided
