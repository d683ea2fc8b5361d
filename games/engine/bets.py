"""Bets of a game: payouts, preconditions, exclusions, and the `Variant` that holds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, NamedTuple

from games.engine.conditions import EVERY_COUP, Condition, Facts
from games.engine.coup import banker_draws, player_draws
from games.engine.felt import Felt

LARGEST_STAKE: Final = 10**15
"""In minor units.

The ledger uses 64-bit integers; two hundred times this amount still fits, with room for sums.
"""


class SettlementError(ValueError):
    """The rules of the variant do not allow the stakes. `bets` are the codes of the
    bets concerned.
    """

    code: ClassVar[str]

    def __init__(self, message: str, *bets: str) -> None:
        super().__init__(message)
        self.bets = bets


class NoStake(SettlementError):
    """Nothing is staked."""

    code = "no_stake"

    def __init__(self) -> None:
        super().__init__("nothing is staked")


class UnknownBet(SettlementError):
    """The game has no such bet."""

    code = "unknown_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"no such bet in this game: {', '.join(bets)}", *bets)


class BadStake(SettlementError):
    """A stake is not a whole number of minor units between 1 and LARGEST_STAKE."""

    code = "bad_stake"

    def __init__(self, *bets: str) -> None:
        super().__init__(
            f"a stake is a whole number of minor units from 1 to {LARGEST_STAKE}: {', '.join(bets)}", *bets
        )


class ExcludedBets(SettlementError):
    """The stakes contain bets that exclude each other."""

    code = "excluded_bets"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"these bets exclude each other: {', '.join(bets)}", *bets)


class MissingMainBet(SettlementError):
    """A side bet is staked without one of its main bets."""

    code = "missing_main_bet"

    def __init__(self, *bets: str) -> None:
        super().__init__(f"a side bet needs a main bet with it: {', '.join(bets)}", *bets)


class Pays(NamedTuple):
    """Payout odds: `win` units are won for each `per` units staked, such as 8 to 1 or 19 to 20.

    The stake is returned as well.
    """

    win: int
    per: int

    def payout(self, stake: int) -> int:
        """Return the payout in minor units, stake included, rounded down."""
        return stake + stake * self.win // self.per

    @property
    def fraction(self) -> Fraction:
        """The gain per unit staked."""
        return Fraction(self.win, self.per)

    def __str__(self) -> str:
        return f"{self.win}:{self.per}"


PUSH: Final = Pays(0, 1)
"""The stake is returned and nothing is won."""


class Prize(NamedTuple):
    """A condition and the payout odds that apply when it holds."""

    when: Condition
    pays: Pays


@dataclass(frozen=True)
class BetRule:
    """One bet. The first prize whose condition holds is paid. If none holds, the stake is lost."""

    code: str
    prizes: tuple[Prize, ...]
    needs: tuple[str, ...] = ()
    """Codes of main bets. A side bet is accepted only together with at least one of them."""
    commission: bool = False
    """True if the bet pays even money less a commission.

    The commission is recorded as the house's share.
    """

    def pays(self, coup: Facts) -> Pays | None:
        """Return the payout odds for this coup, or None if the bet loses."""
        for condition, pays in self.prizes:
            if condition.holds(coup):
                return pays
        return None

    @cached_property
    def payouts(self) -> tuple[Pays | None, ...]:
        """The payouts for each coup of `EVERY_COUP`."""
        return tuple(map(self.pays, EVERY_COUP))

    @property
    def pays_text(self) -> str:
        """The possible payouts, highest first: "8:1" or "200:1 / 25:1".

        With more than two, the range: "30:1–1:1".
        """
        ladder = sorted({prize.pays for prize in self.prizes} - {PUSH}, key=lambda pays: pays.fraction, reverse=True)
        if len(ladder) > 2:
            return f"{ladder[0]}–{ladder[-1]}"
        return " / ".join(str(pays) for pays in ladder)


class Shape(StrEnum):
    """Shape of a game: dealt for one player on demand, or in timed rounds for a whole table."""

    SOLO = "solo"
    SHARED = "shared"


class Control(StrEnum):
    """Controls that the table of a game can offer to the player, apart from placing chips."""

    DEAL = "deal"
    DOUBLE = "double"
    CLEAR = "clear"
    UNDO = "undo"
    REBET = "rebet"
    DOUBLE_AND_DEAL = "double_and_deal"
    REBET_AND_DEAL = "rebet_and_deal"
    TAKE_OFF = "take_off"  # a button on each bet area; without one, right click, long press and keys do it
    FAVOURITES = "favourites"
    REBUY = "rebuy"


class Headline(NamedTuple):
    """The return that a game is advertised with: the mean over `bets`, in percent as printed."""

    bets: tuple[str, ...]
    percent: str
    """In percent, rounded half up to the published number of decimal places."""


@dataclass(frozen=True)
class Variant:
    """The rules of one punto banco game."""

    slug: str
    version: str
    changed: date
    """The date of the last change of the rules."""
    decks: int
    shape: Shape
    bets: tuple[BetRule, ...]
    """In the order of the table."""
    controls: tuple[Control, ...]
    declared: Mapping[str, str]
    """The return of each bet in percent, rounded half up to the published number of
    decimal places.
    """
    headline: Headline
    labels: Mapping[str, Mapping[str, str]] = field(repr=False)
    """Language, then key, then text."""
    felt: Felt = field(repr=False)
    exclusions: tuple[frozenset[str], ...] = ()
    """A player may stake on at most one bet of each set."""

    def __post_init__(self) -> None:
        """Check that the felt has exactly these bets. Raises FeltError."""
        self.felt.check([bet.code for bet in self.bets])

    def bet(self, code: str) -> BetRule:
        """Return the bet with this code. Raises UnknownBet."""
        try:
            return self._bets_by_code[code]
        except KeyError:
            raise UnknownBet(code) from None

    def check(self, stakes: Mapping[str, int]) -> None:
        """Check that these stakes, in minor units, may be played together.

        Table limits are not checked.

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
        """Return the text of `name`, `tagline`, `bet.<code>` or `when.<condition>`.

        Raises KeyError if there is none.
        """
        return self.labels[language][key]

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of all rules that decide about money.

        The tableau and the bets are included with their result in every case, not only by name. So
        a change of the rules in any module changes the digest.
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
                    "pays": list(map(str, bet.payouts)),
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
    def control_names(self) -> frozenset[str]:
        """The codes of the controls, as pages name them."""
        return frozenset(control.value for control in self.controls)

    @cached_property
    def _bets_by_code(self) -> Mapping[str, BetRule]:
        return {bet.code: bet for bet in self.bets}

    @cached_property
    def _side_bets(self) -> tuple[BetRule, ...]:
        return tuple(bet for bet in self.bets if bet.needs)
