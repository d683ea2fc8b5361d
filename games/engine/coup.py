"""A coup: the third-card rules, dealing the hands, their totals, pairs and the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final

from games.engine.cards import Card

NATURALS: Final = frozenset({8, 9})
"""Two-card totals that end the coup at once if either side has one."""

STANDS_ON: Final = frozenset({6, 7})
"""Two-card totals on which Player stands; Banker also stands on them if Player has stood."""

BANKER_DRAWS_AGAINST: Final[Mapping[int, frozenset[int]]] = {
    0: frozenset(range(10)),
    1: frozenset(range(10)),
    2: frozenset(range(10)),
    3: frozenset({0, 1, 2, 3, 4, 5, 6, 7, 9}),
    4: frozenset({2, 3, 4, 5, 6, 7}),
    5: frozenset({4, 5, 6, 7}),
    6: frozenset({6, 7}),
    7: frozenset(),
}
"""Banker's two-card total, and the points of Player's third card against which Banker draws."""


def player_draws(total: int) -> bool:
    """Return whether Player draws on this two-card total if no side has a natural."""
    return total <= 5


def banker_draws(total: int, player_third: int | None) -> bool:
    """Return whether Banker draws on this two-card total if no side has a natural.

    `player_third` is the points of Player's third card, or None if Player stood.
    """
    if player_third is None:
        return total <= 5
    return player_third in BANKER_DRAWS_AGAINST[total]


class TooFewCards(ValueError):
    """The cards ran out before the coup was complete."""


class Side(StrEnum):
    """The two hands of a coup.

    Player is the name of a hand, not of a person: anyone may bet on either.
    """

    PLAYER = "player"
    BANKER = "banker"


class Outcome(StrEnum):
    """The result of a coup: the side with the higher total, or a tie."""

    PLAYER = "player"
    BANKER = "banker"
    TIE = "tie"


class Pairing(Enum):
    """Pairing of the first two cards of a hand. A king and a queen are not a pair."""

    NONE = 0
    RANK = 1
    RANK_AND_SUIT = 2


@dataclass(frozen=True, slots=True)
class Coup:
    """Both hands as dealt, two or three cards each, with totals and outcome."""

    player: tuple[Card, ...]
    banker: tuple[Card, ...]
    player_total: int = field(init=False, repr=False, compare=False)
    banker_total: int = field(init=False, repr=False, compare=False)
    outcome: Outcome = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        player_total, banker_total = total(self.player), total(self.banker)
        object.__setattr__(self, "player_total", player_total)
        object.__setattr__(self, "banker_total", banker_total)
        object.__setattr__(self, "outcome", higher(player_total, banker_total))

    @property
    def natural(self) -> bool:
        """True if either side had 8 or 9 in two cards, which ends the coup at once."""
        four_cards = len(self.player) == len(self.banker) == 2
        return four_cards and (self.player_total in NATURALS or self.banker_total in NATURALS)

    @property
    def player_pair(self) -> Pairing:
        """The pairing of Player's first two cards."""
        return pairing(*self.player[:2])

    @property
    def banker_pair(self) -> Pairing:
        """The pairing of Banker's first two cards."""
        return pairing(*self.banker[:2])

    @property
    def cards(self) -> tuple[Card, ...]:
        """The four to six cards in dealing order."""
        first_four = (self.player[0], self.banker[0], self.player[1], self.banker[1])
        return first_four + self.player[2:] + self.banker[2:]

    def hand(self, side: Side) -> tuple[Card, ...]:
        """Return the cards of one side."""
        return self.player if side is Side.PLAYER else self.banker

    def score(self, side: Side) -> str:
        """Return the score of a hand as shown: the total of its first two cards, a colon, the final
        total.
        """
        hand = self.hand(side)
        return f"{total(hand[:2])}:{total(hand)}"


def deal(cards: Iterable[Card]) -> Coup:
    """Deal one coup from the front of `cards`; it takes four to six of them.

    The order is Player, Banker, Player, Banker, then at most one third card each, Player's first.
    An iterator is left at the first card of the next coup. Raises TooFewCards.
    """
    shoe = iter(cards)
    try:
        player_first, banker_first, player_second, banker_second = next(shoe), next(shoe), next(shoe), next(shoe)
        player_two = (player_first.points + player_second.points) % 10
        banker_two = (banker_first.points + banker_second.points) % 10
        player: tuple[Card, ...] = (player_first, player_second)
        banker: tuple[Card, ...] = (banker_first, banker_second)
        if player_two in NATURALS or banker_two in NATURALS:
            return Coup(player, banker)
        player_third = None
        if player_draws(player_two):
            card = next(shoe)
            player_third = card.points
            player += (card,)
        if banker_draws(banker_two, player_third):
            banker += (next(shoe),)
        return Coup(player, banker)
    except StopIteration:
        raise TooFewCards("the cards ran out before the coup was complete") from None


def total(hand: Iterable[Card]) -> int:
    """Return the total of a hand: the last digit of the sum of its points."""
    return sum([card.points for card in hand]) % 10


def higher(player_total: int, banker_total: int) -> Outcome:
    """Return the outcome for two final totals."""
    if player_total == banker_total:
        return Outcome.TIE
    return Outcome.PLAYER if player_total > banker_total else Outcome.BANKER


def pairing(first: Card, second: Card) -> Pairing:
    """Return what two cards have in common."""
    if first is second:
        return Pairing.RANK_AND_SUIT
    return Pairing.RANK if first.rank is second.rank else Pairing.NONE
