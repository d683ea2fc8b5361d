"""The two hands of a finished coup of Chemin de Fer, in the form in which pages show hands of a round."""

from typing import Literal

from games.engine.chemin.record import Dealt
from games.engine.chemin.rules import Outcome
from games.engine.chemin.state import Hand
from games.tables.board import card_view
from games.tables.presentation import HandView


def hand_views(dealt: Dealt, punter: str, banker: str) -> tuple[HandView, HandView]:
    """Return the punters' hand and the banker's hand, each card with its place in the dealing order."""
    return (
        _hand("player", punter, dealt.punter, (1, 3, 5), wins=dealt.outcome is Outcome.PUNTER),
        _hand("banker", banker, dealt.banker, (2, 4, len(dealt.cards)), wins=dealt.outcome is Outcome.BANKER),
    )


def _hand(
    side: Literal["player", "banker"], name: str, hand: Hand, orders: tuple[int, int, int], *, wins: bool
) -> HandView:
    first, second, third = orders
    cards = [card_view(hand.pair[0], first, third=False), card_view(hand.pair[1], second, third=False)]
    if hand.third is not None:
        cards.append(card_view(hand.third, third, third=True))
    return HandView(
        side=side,
        name=name,
        cards=tuple(cards),
        score=f"{hand.pair_total}:{hand.total}",
        total=hand.total,
        wins=wins,
    )
