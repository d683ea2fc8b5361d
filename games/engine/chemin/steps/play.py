"""Cards of a coup: shoe, deal, third cards, and binding advice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from games.engine.cards import FULL_DECK, Card
from games.engine.chemin.actions import AskCroupier, BringShoe, DealCards, DrawCard, Stand
from games.engine.chemin.events import (
    AdviceAsked,
    Announced,
    Announcement,
    CardsDealt,
    Declared,
    HandShown,
    ShoeBrought,
    Step,
    ThirdCard,
)
from games.engine.chemin.rules import DECKS, Advice, Side, banker_rule, punter_rule
from games.engine.chemin.state import Hand, Hands, Phase, Refusal, Refused, Shoe, State, there
from games.engine.chemin.steps.phases import begin_coup
from games.engine.chemin.steps.settlement import settle

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
