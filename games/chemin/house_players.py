"""Decisions of house players at practice tables, from the view of their seat and random numbers.

House players keep the game going so that a player can learn it. They stake multiples of the table's
minimum and never depart from the rule.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from games.engine.chemin import Option, Phase, SeatView
from games.engine.chemin.actions import (
    DrawCard,
    GiveSuite,
    KeepBank,
    Pass,
    Stand,
    TableAction,
)
from games.engine.chemin.rules import Advice, banker_rule, punter_rule
from games.engine.chemin.state import there
from games.engine.chemin.views import CoupView, HandView
from games.engine.coup import total

Chance = Callable[[int], int]
"""Returns a uniform random number from 0 to below its argument: `secrets.randbelow`."""

LARGEST_BANK: Final = 5
"""The largest bank or bid of its own choice, in minimums of the table."""
LARGEST_BANK_TAKEN_OVER: Final = 10
LARGEST_STAKE: Final = 3
ONE_BANCO_IN: Final = 24
SMALL_FOR_IT: Final = 20
"""Calls banco only if its balance is at least this many times the bank."""


class NotAsked(RuntimeError):
    """A house player was to decide although its seat is not asked: a programming error."""


@dataclass(frozen=True, slots=True)
class _Thought:
    """The seat's view and the source of random numbers."""

    view: SeatView
    chance: Chance

    def one_in(self, count: int) -> bool:
        return self.chance(count) == 0

    @property
    def offers(self) -> tuple[Option, ...]:
        """Return the options other than Pass."""
        return tuple(option for option in self.view.options if not isinstance(option.action, Pass))

    @property
    def let_pass(self) -> TableAction:
        return Pass(there(self.view.seat))

    def round_amount(self, option: Option, most: int) -> TableAction:
        """Return the action with a random amount of one to *most* minimums, within the limits of the option.

        The amount is less than a minimum where no more is open.
        """
        lowest, highest = there(option.lowest), there(option.highest)
        minimum = self.view.rules.minimum
        amount = minimum * (1 + self.chance(max(1, min(most, highest // minimum))))
        return option.at(max(lowest, min(amount, highest)))


def choose(view: SeatView, chance: Chance) -> TableAction:
    """Return the action of the house player with this *view*, one of the view's options.

    Raises NotAsked where there are none.
    """
    if not view.options:
        raise NotAsked
    thought = _Thought(view, chance)
    match view.phase:
        case Phase.OFFER | Phase.FREE:
            return _open(thought)
        case Phase.SUITE | Phase.AUCTION:
            return _buy(thought)
        case Phase.CALLS:
            return _call(thought)
        case Phase.STAKES:
            return _stake(thought)
        case Phase.PUNTER | Phase.BANKER:
            return _draw_or_stand(thought)
        case Phase.CHOICE:
            return _keep_or_pass_on(thought)
        case _:
            return view.options[0].action


def _open(thought: _Thought) -> TableAction:
    """Take every second bank that is offered, and always a free one."""
    is_free = thought.view.phase is Phase.FREE
    if not is_free and (not thought.offers or thought.one_in(2)):
        return thought.let_pass
    return thought.round_amount(thought.offers[0], LARGEST_BANK)


def _buy(thought: _Thought) -> TableAction:
    """Take over, or bid for, every third bank that is affordable."""
    if not thought.offers or not thought.one_in(3):
        return thought.let_pass
    (offer,) = thought.offers
    if offer.highest is not None:
        return thought.round_amount(offer, LARGEST_BANK)
    full_amount = there(thought.view.sale).full_amount
    return offer.action if full_amount <= LARGEST_BANK_TAKEN_OVER * thought.view.rules.minimum else thought.let_pass


def _call(thought: _Thought) -> TableAction:
    """Pass, except for an occasional call against a bank that is small compared with the balance."""
    is_small = there(thought.view.balance) >= SMALL_FOR_IT * there(thought.view.bank).amount
    if thought.offers and is_small and thought.one_in(ONE_BANCO_IN):
        return thought.offers[thought.chance(len(thought.offers))].action
    return thought.let_pass


def _stake(thought: _Thought) -> TableAction:
    """Stake three times out of four, where a stake is possible."""
    if not thought.offers or thought.one_in(4):
        return thought.let_pass
    return thought.round_amount(thought.offers[0], LARGEST_STAKE)


def _keep_or_pass_on(thought: _Thought) -> TableAction:
    """Keep the bank three times out of four, but not after a coup without stakes."""
    seat = there(thought.view.seat)
    return GiveSuite(seat) if thought.view.coup is None or thought.one_in(4) else KeepBank(seat)


def _draw_or_stand(thought: _Thought) -> TableAction:
    """Follow the rule; choose at random where it leaves the choice."""
    coup = there(thought.view.coup)
    advice = _punter_advice(coup) if thought.view.phase is Phase.PUNTER else _banker_advice(coup)
    seat = there(thought.view.seat)
    draws = thought.one_in(2) if advice is Advice.AS_YOU_PLEASE else advice is Advice.DRAW
    return DrawCard(seat) if draws else Stand(seat)


def _punter_advice(coup: CoupView) -> Advice:
    return punter_rule(_pair_total(there(coup.punter)))


def _banker_advice(coup: CoupView) -> Advice:
    """Return the advice to the banker, whose cards are face up by now, as is the punter's third card."""
    thirds = there(coup.punter).cards[2:]
    return banker_rule(_pair_total(there(coup.banker)), there(thirds[0]).points if thirds else None)


def _pair_total(hand: HandView) -> int:
    return total([there(card) for card in hand.cards[:2]])
