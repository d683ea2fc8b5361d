"""What a game offers: its bets, what they pay, what may stand beside what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

from games.engine.conditions import EVERY_COUP, Condition, Facts
from games.engine.felt import Felt
from games.engine.refusals import LARGEST_STAKE, BadStake, ExcludedBets, MissingMainBet, NoStake, UnknownBet
from games.engine.tableau import banker_draws, player_draws


class Pays(NamedTuple):
    """So many units won for each `per` units staked, on top of the stake: 8 to 1, 19 to 20."""

    win: int
    per: int

    def payout(self, stake: int) -> int:
        """What comes back, stake included, in whole minor units: rounded down."""
        return stake + stake * self.win // self.per

    @property
    def fraction(self) -> Fraction:
        """The gain per unit staked."""
        return Fraction(self.win, self.per)

    def __str__(self) -> str:
        return f"{self.win}:{self.per}"


PUSH: Final = Pays(0, 1)
"""The stake comes back and nothing else."""


class Prize(NamedTuple):
    """What is paid when a condition holds."""

    when: Condition
    pays: Pays


@dataclass(frozen=True)
class BetRule:
    """One bet: the first of its prizes whose condition holds decides; where none does, the stake is lost."""

    code: str
    prizes: tuple[Prize, ...]
    needs: tuple[str, ...] = ()
    """A side bet is taken only beside at least one of these."""
    commission: bool = False
    """Whether it pays even money less a commission, so that the difference is accounted as the house's share."""

    def pays(self, coup: Facts) -> Pays | None:
        """What the bet pays on this coup; None where it is lost."""
        for condition, pays in self.prizes:
            if condition.holds(coup):
                return pays
        return None

    @property
    def pays_text(self) -> str:
        """What it can pay, best first: "8:1", "200:1 / 25:1", "30:1–1:1" where there are more than two."""
        ladder = sorted({prize.pays for prize in self.prizes} - {PUSH}, key=lambda pays: pays.fraction, reverse=True)
        if len(ladder) > 2:
            return f"{ladder[0]}–{ladder[-1]}"
        return " / ".join(str(pays) for pays in ladder)


class Shape(StrEnum):
    """How a game ships: dealt for one player on demand, or in timed rounds for a whole table."""

    SOLO = "solo"
    SHARED = "shared"


class Control(StrEnum):
    """What the table of a game lets a player do with bets, besides placing them."""

    DEAL = "deal"
    DOUBLE = "double"
    CLEAR = "clear"
    UNDO = "undo"
    REBET = "rebet"
    DOUBLE_AND_DEAL = "double_and_deal"
    REBET_AND_DEAL = "rebet_and_deal"
    TAKE_OFF = "take_off"
    FAVOURITES = "favourites"
    REBUY = "rebuy"


class Headline(NamedTuple):
    """The one return a game is advertised with: the mean over these bets, in percent as printed."""

    bets: tuple[str, ...]
    percent: str
    """With the precision it is published with, rounded half up."""


@dataclass(frozen=True)
class Variant:
    """The rules of one punto banco game."""

    slug: str
    version: str
    changed: date
    """When the rules last changed."""
    decks: int
    shape: Shape
    bets: tuple[BetRule, ...]
    """In the order of the table."""
    controls: tuple[Control, ...]
    declared: Mapping[str, str]
    """The return of each bet in percent, with the precision it is published with, rounded half up."""
    headline: Headline
    labels: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Language, then key, then text."""
    felt: Felt = field(repr=False)
    exclusions: tuple[frozenset[str], ...] = ()
    """Of each of these sets at most one bet may be staked."""

    def __post_init__(self) -> None:
        """Raises FeltError where the felt is not that of these bets."""
        self.felt.check([bet.code for bet in self.bets])

    def bet(self, code: str) -> BetRule:
        """The bet of this code. Raises UnknownBet."""
        try:
            return self._bets_by_code[code]
        except KeyError:
            raise UnknownBet(code) from None

    def check(self, stakes: Mapping[str, int]) -> None:
        """Whether these stakes, in minor units, may be played together. Table limits are another matter.

        Raises NoStake, UnknownBet, BadStake, ExcludedBets or MissingMainBet, in this order.
        """
        if not stakes:
            raise NoStake
        if unknown := stakes.keys() - self._bets_by_code.keys():
            raise UnknownBet(*sorted(unknown))
        if bad := [code for code, stake in stakes.items() if type(stake) is not int or not 0 < stake <= LARGEST_STAKE]:
            raise BadStake(*bad)
        for rivals in self.exclusions:
            if len(together := [code for code in stakes if code in rivals]) > 1:
                raise ExcludedBets(*together)
        if alone := [bet.code for bet in self._side_bets if bet.code in stakes and stakes.keys().isdisjoint(bet.needs)]:
            raise MissingMainBet(*alone)

    def label(self, language: str, key: str) -> str:
        """The text of `name`, `tagline`, `bet.<code>` or `when.<condition>`. Raises KeyError where there is none."""
        return self.labels[language][key]

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of everything here that decides about money.

        The tableau and the bets enter as what they do in every case, not only by name, so that no change of the rules,
        in whatever module, leaves the digest as it was.
        """
        rules = {
            "decks": self.decks,
            "tableau": {
                "player": [total for total in range(8) if player_draws(total)],
                "banker": [[third for third in (None, *range(10)) if banker_draws(total, third)] for total in range(8)],
            },
            "bets": [
                {
                    "code": bet.code,
                    "prizes": [[prize.when.name, str(prize.pays)] for prize in bet.prizes],
                    "pays": [str(bet.pays(coup)) for coup in EVERY_COUP],
                    "needs": sorted(bet.needs),
                    "commission": bet.commission,
                }
                for bet in self.bets
            ],
            "exclusions": sorted(sorted(rivals) for rivals in self.exclusions),
            "rounding": "each winning bet down to the minor unit",
        }
        canonical = json.dumps(rules, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    @cached_property
    def _bets_by_code(self) -> Mapping[str, BetRule]:
        return {bet.code: bet for bet in self.bets}

    @cached_property
    def _side_bets(self) -> tuple[BetRule, ...]:
        return tuple(bet for bet in self.bets if bet.needs)
