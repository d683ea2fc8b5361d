"""Preview of a table request: its content, the returns of bets, the house's risk, and who is left out.

Returns are given for the least favourable stake that the limits allow. Left out are players without
a currency or a language at the table.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import cast

from django.utils.translation import get_language_info

from audit import approvals
from audit.log import Json
from games.betting.limits import Limits, StoredLimits
from games.change_requests import languages, returns
from games.change_requests.descriptions import describe_table, describe_version
from games.change_requests.differences import country, fraction
from games.change_requests.execution import limits_of, served_of
from games.change_requests.returns import BetReturn, LowestReturn
from games.engine.bets import Variant
from games.engine.liability import largest_win
from games.engine.settle import SettlementError
from games.models import Shape, Table
from games.variants import LANGUAGES, VARIANTS
from players.models import Jurisdiction


@dataclass(frozen=True)
class Line:
    """A bet in one currency: its exact return, and the lowest return that the limits allow."""

    bet: BetReturn
    lowest: LowestReturn

    @property
    def exact(self) -> str:
        """The exact return as a fraction."""
        return fraction(self.bet.rtp)

    @property
    def exact_lowest(self) -> str:
        """The lowest return as a fraction."""
        return fraction(self.lowest.rtp)


@dataclass(frozen=True)
class OfCurrency:
    """Effects of the limits in one currency. Amounts are minor units."""

    currency: str
    lines: tuple[Line, ...]
    one_player: int  # the most that one player can win in a round, and so cost the house
    everybody: int | None  # the most that all players together can win, at a shared table


@dataclass(frozen=True)
class Preview:
    """Everything that the preview of a request shows."""

    description: approvals.Description
    currencies: tuple[OfCurrency, ...]
    languages: tuple[tuple[str, bool], ...]  # language names, and whether the game has all texts in them
    without_money: tuple[str, ...]  # countries that the table serves without taking any of their currencies

    @property
    def is_between_guests(self) -> bool:
        """Whether players bet only against each other."""
        return not self.currencies


def preview(request: Mapping[str, Json]) -> Preview:
    """Return the preview of a valid request."""
    is_change = "table" in request
    table = Table.objects.get(pk=str(request["table"])) if is_change else None
    variant = table.variant if table else str(request["variant"])
    shape = Shape(table.shape if table else str(request["shape"]))
    missing, limits = languages.missing(variant), limits_of(request)
    return Preview(
        description=describe_version(request) if is_change else describe_table(request),
        currencies=tuple(_currencies(variant, shape, cast("StoredLimits", limits))) if variant in VARIANTS else (),
        languages=tuple((get_language_info(code)["name"], code not in missing) for code in LANGUAGES),
        without_money=tuple(_without_money(request)),
    )


def most_of_one_player(game: Variant, limits: Limits) -> int:
    """Return the most that one player can win in a round, in minor units.

    It is the largest win of any combination of bets that the rules allow, each at its maximum.
    """
    codes = list(limits.bets)
    together = chain.from_iterable(combinations(codes, many) for many in range(1, len(codes) + 1))
    stakes = ({code: limits.bets[code].maximum for code in chosen} for chosen in together)
    return max(largest_win(game, each) for each in stakes if _may_be_staked(game, each))


def _may_be_staked(game: Variant, stakes: Mapping[str, int]) -> bool:
    try:
        game.check(stakes)
    except SettlementError:
        return False
    return True


def _currencies(variant: str, shape: Shape, limits: StoredLimits) -> Iterator[OfCurrency]:
    game, bets = VARIANTS[variant], returns.bets(variant)
    for currency in limits:
        allowed = Limits.of(limits, currency)
        lowest = returns.lowest(variant, {currency: limits[currency]})
        yield OfCurrency(
            currency=currency,
            lines=tuple(Line(bet, low) for bet, low in zip(bets, lowest, strict=True)),
            one_player=most_of_one_player(game, allowed),
            everybody=allowed.liability if shape is Shape.SHARED else None,
        )


def _without_money(request: Mapping[str, Json]) -> Iterator[str]:
    served = served_of(request)
    for law in Jurisdiction.objects.filter(pk__in=served.jurisdictions if served else ()).order_by("pk"):
        if not set(law.currencies) & limits_of(request).keys():
            yield country(law.pk)
