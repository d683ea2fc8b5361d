"""What a request for a table would come to, before anybody asks for it: what it says, what its bets return at the worst
stake that it allows, what the house may lose, and whom it leaves without their money or their language.
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
    """A bet in one currency: its exact return, and the least that the limits leave of it."""

    bet: BetReturn
    lowest: LowestReturn

    @property
    def exact(self) -> str:
        """The exact return as the fraction that it is."""
        return fraction(self.bet.rtp)

    @property
    def exact_lowest(self) -> str:
        """The least return as the fraction that it is."""
        return fraction(self.lowest.rtp)


@dataclass(frozen=True)
class OfCurrency:
    """What the limits in one currency come to. Minor units."""

    currency: str
    lines: tuple[Line, ...]
    one_player: int  # can win so much in a round, which is the most that it may cost the house
    everybody: int | None  # together, at a shared table


@dataclass(frozen=True)
class Preview:
    """Everything that is shown of a request before it is asked for."""

    description: approvals.Description
    currencies: tuple[OfCurrency, ...]
    languages: tuple[tuple[str, bool], ...]  # by name, and whether the game has all its texts in it
    without_money: tuple[str, ...]  # countries served none of whose currencies the table takes

    @property
    def is_between_guests(self) -> bool:
        """Whether the house has no part in the bets."""
        return not self.currencies


def preview(request: Mapping[str, Json]) -> Preview:
    """Return what a request comes to that could be asked for now."""
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
    """Return the most that one player can win in a round, with bets that the rules allow together at their maximum."""
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
