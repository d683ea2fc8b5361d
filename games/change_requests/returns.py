"""Exact returns of all bets of a game, and the lowest returns under the limits of a table, as
fractions.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from games.betting.limits import Limits, StoredLimits
from games.engine.odds import exact, lowest_return
from games.labels import bet_name
from games.variants import VARIANTS
from wallet.money import format_money


@dataclass(frozen=True)
class BetReturn:
    """A bet of a game: payouts as text, return, house edge, and probabilities to win, push and
    lose.

    All figures are shares of one.
    """

    code: str
    name: str
    pays: str
    rtp: Fraction
    edge: Fraction
    win: Fraction
    push: Fraction
    lose: Fraction


@dataclass(frozen=True)
class LowestReturn:
    """The lowest return of a bet in a currency, and the stake in minor units that has it because of
    rounding.
    """

    name: str
    currency: str
    stake: int
    rtp: Fraction

    @property
    def amount(self) -> str:
        """The stake as text."""
        return format_money(self.stake, self.currency, "en")


def bets(variant: str) -> list[BetReturn]:
    """Return every bet of a game with its exact return; empty for a game between players."""
    game = VARIANTS.get(variant)
    if game is None:
        return []
    odds = exact(game)
    return [
        BetReturn(
            code=bet.code,
            name=bet_name(game, bet.code, "en"),
            pays=bet.pays_text,
            rtp=odds[bet.code].rtp,
            edge=odds[bet.code].edge,
            win=odds[bet.code].win,
            push=odds[bet.code].push,
            lose=odds[bet.code].lose,
        )
        for bet in game.bets
    ]


def lowest(variant: str, limits: StoredLimits) -> list[LowestReturn]:
    """Return the lowest return of every bet over all currencies of *limits*, in the order of the
    table.

    The game must have bets against the house.
    """
    codes = [bet.code for bet in VARIANTS[variant].bets]
    return [min(_lowest(variant, code, limits), key=lambda each: each.rtp) for code in codes]


def _lowest(variant: str, bet: str, limits: StoredLimits) -> Iterator[LowestReturn]:
    game = VARIANTS[variant]
    for currency in limits:
        allowed = Limits.of(limits, currency)
        rtp, stake = lowest_return(game, bet, allowed.bets[bet].minimum, allowed.bets[bet].maximum, allowed.step)
        yield LowestReturn(bet_name(game, bet, "en"), currency, stake, rtp)
