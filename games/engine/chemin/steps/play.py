"""A coup: shoe, calls and stakes, cards and binding advice, outcome, returned stakes, and tax."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from games.engine.cards import FULL_DECK, Card
from games.engine.chemin.actions import AskCroupier, BringShoe, DealCards, DrawCard, LayStake, MakeCall, Stand
from games.engine.chemin.events import (
    AdviceAsked,
    Announced,
    Announcement,
    CallMade,
    CardsDealt,
    Declared,
    Event,
    ExcessTakenHome,
    HandShown,
    Settled,
    SettledStake,
    ShoeBrought,
    StakeLaid,
    StakeRelieved,
    Step,
    ThirdCard,
)
from games.engine.chemin.rules import (
    DECKS,
    STAKES_RETURNED,
    Advice,
    Call,
    Outcome,
    Side,
    banker_rule,
    outcome_of,
    punter_rule,
    tax_on,
)
from games.engine.chemin.state import Chips, Hand, Hands, Phase, Refusal, Refused, Shoe, State, there
from games.engine.chemin.steps.phases import after_coup, ask_next, begin_coup, end_bank, open_amount, open_stakes
from games.engine.chemin.steps.seats import hand_back, put_down


class Reckoning(NamedTuple):
    """The result of an outcome for the stakes: the returned amounts, the tax, and the change of the
    bank.

    `to_bank` is below zero if the bank shrinks.
    """

    stakes: tuple[SettledStake, ...]
    tax: int
    to_bank: int


def reckon(outcome: Outcome, stakes: Iterable[Chips]) -> Reckoning:
    """Settle stakes: even money if the punter wins, stakes back on a draw, stakes less tax to the
    bank if the banker wins.
    """
    settled = tuple(SettledStake(each.seat, each.amount, each.amount * STAKES_RETURNED[outcome]) for each in stakes)
    at_risk = sum(stake.stake for stake in settled)
    tax = tax_on(at_risk) if outcome is Outcome.BANKER else 0
    return Reckoning(settled, tax, at_risk - sum(stake.returned for stake in settled) - tax)


def settle(state: State) -> Step:
    """Pay the coup. A lost bank ends, and its uncovered part is returned to the banker."""
    coup, hands, bank = state.running_coup, state.dealt_hands, state.held_bank
    outcome = outcome_of(hands.punter.total, hands.banker.total)
    stakes, tax, to_bank = reckon(outcome, coup.stakes)
    holds = bank.amount + to_bank
    for stake in stakes:
        state = hand_back(state, stake.seat, stake.returned)
    state = replace(state, bank=Chips(bank.seat, holds), coup=replace(coup, outcome=outcome))
    settled = Settled(outcome, hands.punter.total, hands.banker.total, stakes, tax, holds)
    ended = end_bank if outcome is Outcome.PUNTER else _cap_bank
    return Step(state, (settled,)).then(ended).then(after_coup)


def _cap_bank(state: State) -> Step:
    """Return the part of the bank above the table's maximum to the banker."""
    bank = state.held_bank
    excess = bank.amount - state.rules.maximum
    if excess <= 0:
        return Step(state)
    state = replace(hand_back(state, bank.seat, excess), bank=Chips(bank.seat, state.rules.maximum))
    return Step(state, (ExcessTakenHome(bank.seat, excess),))


def make_call(state: State, action: MakeCall) -> Step:
    """Make the call.

    Only the first call counts: no other seat is asked to call, and the others may join it.

    A caller who covers the whole bank puts all of it down and gets back what others take over.
    """
    amount = _called_amount(state, action)
    state = put_down(state, action.seat, amount)
    coup = replace(state.running_coup, call=action.call, stakes=(Chips(action.seat, amount),))
    state = replace(state, coup=coup)
    return Step(state, (CallMade(action.seat, action.call, amount),)).then(open_stakes)


def lay_stake(state: State, action: LayStake) -> Step:
    """Stake against the bank or join the call. Raises Refused above the open amount."""
    if action.amount > open_amount(state):
        raise Refused(Refusal.MORE_THAN_IS_OPEN)
    state = put_down(state, action.seat, action.amount)
    laid = StakeLaid(action.seat, action.amount)
    coup = state.running_coup
    state = replace(state, coup=replace(coup, stakes=(*coup.stakes, Chips(action.seat, action.amount))))
    return Step(state, (laid,)).then(_relieve_caller).then(ask_next)


def _called_amount(state: State, action: MakeCall) -> int:
    bank = state.held_bank.amount
    if action.call is not Call.BANCO_AVEC_LA_TABLE:
        if action.amount is not None:
            raise Refused(Refusal.BAD_AMOUNT)
        return bank
    if action.amount is None:
        raise Refused(Refusal.BAD_AMOUNT)
    if action.amount < action.call.smallest_stake(bank):
        raise Refused(Refusal.LESS_THAN_HALF)
    if action.amount > bank:
        raise Refused(Refusal.MORE_THAN_IS_OPEN)
    return action.amount


def _relieve_caller(state: State) -> Step:
    """If the caller covers the bank, return to the caller the amount that the last stake takes
    over.
    """
    coup = state.running_coup
    if coup.call is None or not coup.call.covers_the_bank:
        return Step(state)
    called, *joined = coup.stakes
    amount = joined[-1].amount
    state = hand_back(state, called.seat, amount)
    relieved = (Chips(called.seat, called.amount - amount), *joined)
    events: tuple[Event, ...] = (StakeRelieved(called.seat, amount),)
    return Step(replace(state, coup=replace(coup, stakes=relieved)), events)


_SIX_DECKS = Counter(FULL_DECK * DECKS)


def bring_shoe(state: State, action: BringShoe) -> Step:
    """Put a new shoe of six complete decks on the table and begin the coup that waited for it."""
    if state.phase is not Phase.SHOE:
        raise Refused(Refusal.NOT_NOW)
    if Counter(action.cards) != _SIX_DECKS:
        raise Refused(Refusal.WRONG_SHOE)
    state = replace(state, shoe=Shoe(action.cards))
    return Step(state, (ShoeBrought(len(action.cards)),)).then(begin_coup)


def deal_cards(state: State, action: DealCards) -> Step:
    """Deal the first and third card to the punter, the second and fourth to the banker.

    A natural of the punter is shown at once.
    """
    (first, second, third, fourth), state = _draw(state, 4)
    hands = Hands(punter=Hand((first, third)), banker=Hand((second, fourth)))
    coup = replace(state.running_coup, hands=hands)
    dealt = CardsDealt(seat=action.seat, punter=there(coup.punter))
    step = Step(replace(state, coup=coup, phase=Phase.PUNTER), (dealt,))
    if hands.punter.natural:
        return step.then(_show_punter).then(_show_banker).then(settle)
    return step


def draw_card(state: State, action: DrawCard) -> Step:
    """Draw a third card for the side in turn."""
    return _decide(state, action.seat, draws=True)


def stand(state: State, action: Stand) -> Step:
    """Stand for the side in turn."""
    return _decide(state, action.seat, draws=False)


def ask_croupier(state: State, action: AskCroupier) -> Step:
    """Ask the croupier for the rule. The answer is binding, except at a free choice."""
    side = side_to_decide(state)
    hands = state.dealt_hands
    if side in hands.advised:
        raise Refused(Refusal.ALREADY_ADVISED)
    state = _with_hands(state, replace(hands, advised=hands.advised | {side}))
    return Step(state, (AdviceAsked(action.seat, side),))


def side_to_decide(state: State) -> Side:
    """Return the side that decides in this phase."""
    return Side.PUNTER if state.phase is Phase.PUNTER else Side.BANKER


def advice_to(state: State, side: Side) -> Advice:
    """Return the rule for a side that has to decide."""
    hands = state.dealt_hands
    if side is Side.PUNTER:
        return punter_rule(hands.punter.pair_total)
    third = hands.punter.third
    return banker_rule(hands.banker.pair_total, None if third is None else third.points)


def forbidden(state: State, side: Side, draws: bool) -> Refusal | None:
    """Return the reason why a side may not draw (or stand), or None.

    The rule binds a side that plays for several punters or against several, and a side that asked
    for advice. Both sides may depart from it only if a single punter plays against the banker.
    """
    if advice_to(state, side).allows(draws):
        return None
    if side in state.dealt_hands.advised:
        return Refusal.ADVICE_BINDS
    return None if state.running_coup.one_against_one else Refusal.RULE_BINDS


def _decide(state: State, seat: int, *, draws: bool) -> Step:
    side = side_to_decide(state)
    reason = forbidden(state, side, draws)
    if reason is not None:
        raise Refused(reason)
    step = Step(state, (Declared(seat=seat, side=side, draws=draws),))
    if side is Side.PUNTER:
        return step.then(_show_banker).then(_serve_punter if draws else _turn_to_banker)
    if draws:
        step = step.then(_serve_banker)
    return step.then(_show_punter).then(settle)


def _serve_punter(state: State) -> Step:
    """Deal a third card face up, unless the banker has a natural."""
    if state.dealt_hands.banker.natural:
        return Step(state, (Announced(Announcement.NO_THIRD_CARD),)).then(_turn_to_banker)
    (card,), state = _draw(state, 1)
    hands = state.dealt_hands
    state = _with_hands(state, replace(hands, punter=replace(hands.punter, third=card)))
    return Step(state, (ThirdCard(Side.PUNTER, card),)).then(_turn_to_banker)


def _turn_to_banker(state: State) -> Step:
    """Let the banker decide, unless a natural ended the coup."""
    if state.dealt_hands.banker.natural:
        return _show_punter(state).then(settle)
    return Step(replace(state, phase=Phase.BANKER))


def _serve_banker(state: State) -> Step:
    (card,), state = _draw(state, 1)
    hands = state.dealt_hands
    state = _with_hands(state, replace(hands, banker=replace(hands.banker, third=card)))
    return Step(state, (ThirdCard(Side.BANKER, card),))


def _show_punter(state: State) -> Step:
    hands = state.dealt_hands
    shown = replace(hands.punter, shown=True)
    return Step(_with_hands(state, replace(hands, punter=shown)), (_turned_up(Side.PUNTER, shown),))


def _show_banker(state: State) -> Step:
    hands = state.dealt_hands
    shown = replace(hands.banker, shown=True)
    return Step(_with_hands(state, replace(hands, banker=shown)), (_turned_up(Side.BANKER, shown),))


def _turned_up(side: Side, hand: Hand) -> HandShown:
    return HandShown(side, hand.pair, hand.pair_total, hand.natural)


def _with_hands(state: State, hands: Hands) -> State:
    return replace(state, coup=replace(state.running_coup, hands=hands))


def _draw(state: State, count: int) -> tuple[tuple[Card, ...], State]:
    shoe = there(state.shoe)
    after = shoe.drawn + count
    return shoe.cards[shoe.drawn : after], replace(state, shoe=replace(shoe, drawn=after))
