"""Recomputes a finished coup from its record: cards, stakes, bank and declarations.

The module does not use the state machine. It is an independent computation for the verification of
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, product

from games.engine.cards import Card
from games.engine.chemin.events import SettledStake
from games.engine.chemin.rules import Advice, Outcome, banker_rule, outcome_of, punter_rule
from games.engine.chemin.state import Chips, Hand
from games.engine.chemin.steps.play import reckon


class RecordError(ValueError):
    """The recorded coup is impossible; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dealt:
    """The result of the cards of a coup."""

    cards: tuple[Card, ...]
    """In dealing order: punter, banker, punter, banker, then third cards, the punter's first."""
    punter: Hand
    banker: Hand
    punter_departs: bool
    """True if the side departed from the rule."""
    banker_departs: bool
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Played(Dealt):
    """The result of a coup with its money. Amounts are minor units."""

    stakes: tuple[SettledStake, ...]
    tax: int
    bank: int
    """The bank when the coup was settled, before any part of it was returned."""


def redeal_coup(cards: Iterable[Card], *, punter_draws: bool | None, banker_draws: bool | None) -> Dealt:
    """Deal a coup from these cards, starting at its first card.

    It takes as many as it needs.

    A declaration is None if the side had nothing to declare: both sides after a natural of the
    punter, the banker after a natural of the bank. Raises RecordError.
    """
    shoe = iter(cards)
    first, second, third, fourth = _take(shoe, 4)
    punter, banker = Hand((first, third), shown=True), Hand((second, fourth), shown=True)
    _check_asked("punter", punter_draws, is_asked=not punter.natural)
    _check_asked("banker", banker_draws, is_asked=not punter.natural and not banker.natural)
    punter_departs = _departs(punter_rule(punter.pair_total), punter_draws)
    if punter_draws and not banker.natural:
        punter = replace(punter, third=_take(shoe, 1)[0])
    punter_third = None if punter.third is None else punter.third.points
    banker_departs = _departs(banker_rule(banker.pair_total, punter_third), banker_draws)
    if banker_draws:
        banker = replace(banker, third=_take(shoe, 1)[0])
    return Dealt(
        cards=(first, second, third, fourth, *(hand.third for hand in (punter, banker) if hand.third is not None)),
        punter=punter,
        banker=banker,
        punter_departs=punter_departs,
        banker_departs=banker_departs,
        outcome=outcome_of(punter.total, banker.total),
    )


def recompute_coup(
    cards: Iterable[Card],
    *,
    stakes: Sequence[Chips],
    bank: int,
    punter_draws: bool | None,
    banker_draws: bool | None,
) -> Played:
    """Recompute a coup from its cards, as `deal_again` does, its stakes in order, and the bank at
    its start.

    Raises RecordError.
    """
    _check_stakes(stakes, bank)
    dealt = redeal_coup(cards, punter_draws=punter_draws, banker_draws=banker_draws)
    if len(stakes) > 1 and (dealt.punter_departs or dealt.banker_departs):
        raise RecordError("a side departed from the rule although several players had staked")
    settled, tax, to_bank = reckon(dealt.outcome, stakes)
    return Played(
        cards=dealt.cards,
        punter=dealt.punter,
        banker=dealt.banker,
        punter_departs=dealt.punter_departs,
        banker_departs=dealt.banker_departs,
        outcome=dealt.outcome,
        stakes=settled,
        tax=tax,
        bank=bank + to_bank,
    )


def possible_outcomes(cards: Sequence[Card]) -> frozenset[Outcome]:
    """Return the possible outcomes of a coup with exactly these cards; empty if it cannot exist.

    With five cards, the last one may belong to either side.
    """
    outcomes = set()
    for punter_draws, banker_draws in product((None, False, True), repeat=2):
        with suppress(RecordError):
            dealt = redeal_coup(cards, punter_draws=punter_draws, banker_draws=banker_draws)
            if len(dealt.cards) == len(cards):
                outcomes.add(dealt.outcome)
    return frozenset(outcomes)


def _check_stakes(stakes: Sequence[Chips], bank: int) -> None:
    if not stakes:
        raise RecordError("there is no coup without stakes")
    if any(stake.amount <= 0 for stake in stakes):
        raise RecordError("a stake is not above zero")
    if len({stake.seat for stake in stakes}) < len(stakes):
        raise RecordError("a seat has staked twice")
    if (at_risk := sum(stake.amount for stake in stakes)) > bank:
        raise RecordError(f"stakes of {at_risk} against a bank of {bank}")


def _check_asked(side: str, draws: bool | None, *, is_asked: bool) -> None:
    if is_asked and draws is None:
        raise RecordError(f"the {side} declared nothing")
    if not is_asked and draws is not None:
        raise RecordError(f"the {side} declared although a natural had ended the coup")


def _departs(advice: Advice, draws: bool | None) -> bool:
    return draws is not None and not advice.allows(draws)


def _take(shoe: Iterator[Card], count: int) -> tuple[Card, ...]:
    taken = tuple(islice(shoe, count))
    if len(taken) < count:
        raise RecordError("the cards ran out before the coup was complete")
    return taken
