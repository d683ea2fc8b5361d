"""Checks of a table version: limits, pace, jurisdictions and modes, returns of bets, languages.
Errors are sentences for staff.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import NoneType
from typing import cast

from django.utils.translation import get_language, gettext

from games.betting.limits import Limits, StoredLimits
from games.change_requests import rules
from games.engine.odds import LIVE_MINIMUM, lowest_return, percent
from games.engine.settle import largest_loss
from games.models import Shape, Table, TableVersion
from games.tables.chemin_rules import CheminClock, CheminRules, CheminRulesError, StoredCheminLimits
from games.tables.clock import Clock, ClockError
from games.variants import GAMES, VARIANTS
from games.variants.common import CheminGame
from players.models import Jurisdiction
from wallet.models import Mode
from wallet.money import format_amount, format_money

TableLimits = StoredLimits | StoredCheminLimits  # of games against the house; of Chemin de Fer
TableClock = Clock | CheminClock


@dataclass(frozen=True)
class TableEligibility:
    """The jurisdictions and modes that a table serves, without duplicates, in alphabetical order."""

    jurisdictions: Sequence[str]
    modes: Sequence[str]

    @classmethod
    def of(cls, jurisdictions: Iterable[str], modes: Iterable[str]) -> "TableEligibility":
        """Sort the values and remove duplicates."""
        return cls(sorted(set(jurisdictions)), sorted({str(mode) for mode in modes}))

    @classmethod
    def under(cls, version: TableVersion) -> "TableEligibility":
        """Return the jurisdictions and modes that a version serves."""
        return cls(version.jurisdictions, version.modes)


class TableError(Exception):
    """An invalid change of a table, as a sentence for staff."""


class NothingChanged(TableError):
    """A new version that equals the one in force."""

    def __init__(self) -> None:
        super().__init__(gettext("These values are already in force. Nothing would change."))


class NobodyEligible(TableError):
    """A table that serves no valid jurisdiction or mode; *part* says which."""

    def __init__(self, message: str, *, part: str) -> None:
        super().__init__(message)
        self.part = part


class UnusableLimits(TableError):
    """Limits that do not work with the table's rules, chips or players.

    *currency* and *bet* say where; *part* is "chips", "tray" or "liability" if one of these is at
    fault.
    """

    def __init__(self, message: str, *, currency: str = "", bet: str = "", part: str = "") -> None:
        where = ", ".join(part for part in (currency, bet) if part)
        super().__init__(f"{where}: {message}" if where else message)
        self.message = message[:1].upper() + message[1:]
        self.currency, self.bet, self.part = currency, bet, part


class WrongShape(TableError):
    """A table whose shape does not fit its game."""

    def __init__(self) -> None:
        super().__init__(gettext("Chemin de Fer needs a Chemin de Fer table; other games cannot use one."))


class UnusableClock(TableError):
    """A clock that is missing, of the wrong kind, or given to a solo table."""


class Overtaken(TableError):
    """A request that no longer fits: the table has another version, or the release other rules."""


class MissingLanguage(TableError):
    """A game that lacks texts in a configured language."""

    def __init__(self, variant: str, missing: Mapping[str, Sequence[str]]) -> None:
        texts = "; ".join(f"{language}: {', '.join(lacking)}" for language, lacking in missing.items())
        super().__init__(
            gettext("%(variant)s lacks texts (%(texts)s). A game needs texts in all five languages.")
            % {"variant": variant, "texts": texts}
        )


class ReturnTooLow(TableError):
    """A bet that returns under 75 % at some stake the limits allow (GLI-19 v3.0, 4.7.1)."""

    def __init__(self, bet: str, currency: str, stake: int, rtp: Fraction) -> None:
        amount = format_money(stake, currency, get_language() or "en")
        returns = f"eturns {percent(rtp, 2)} % at a stake of {amount}; the minimum is 75 %."
        super().__init__(f"{bet} r{returns}")
        self.message, self.bet, self.currency = f"R{returns}", bet, currency


def check(table: Table, limits: TableLimits, clock: TableClock | None, eligibility: TableEligibility) -> None:
    """Refuse a version that the table, stored or not, cannot be played under.

    Raises UnusableLimits, UnusableClock, NobodyEligible, ReturnTooLow, MissingLanguage, WrongShape,
    KeyError for an unknown variant.
    """
    shape = Shape(table.shape)
    if shape not in shapes_of(table.variant):
        raise WrongShape
    if not isinstance(clock, {Shape.SOLO: NoneType, Shape.SHARED: Clock, Shape.CHEMIN: CheminClock}[shape]):
        raise UnusableClock(
            gettext("A shared or Chemin de Fer table needs its own kind of clock; a solo table has none.")
        )
    if clock:
        _check_pace(clock)
    if shape is Shape.CHEMIN:
        _chemin_rules(limits)
    else:
        bets = cast("StoredLimits", limits)
        check_usable(table.variant, bets, shape)
        check_returns(table.variant, bets)
    _check_eligibility(eligibility, shape, limits)
    if missing := rules.missing(table.variant):
        raise MissingLanguage(table.variant, missing)


def shapes_of(variant: str) -> Sequence[Shape]:
    """Return the shapes that tables of a game can have. Raises KeyError for an unknown one."""
    return [Shape.CHEMIN] if isinstance(GAMES[variant], CheminGame) else [Shape.SOLO, Shape.SHARED]


def everybody(shape: Shape, limits: TableLimits) -> TableEligibility:
    """Return the widest service: every jurisdiction and every mode that such a table supports.
    Raises UnusableLimits.
    """
    is_practice = shape is Shape.CHEMIN and _chemin_rules(limits).is_practice
    return TableEligibility.of(Jurisdiction.objects.values_list("pk", flat=True), [Mode.FREE] if is_practice else Mode)


def check_seats_stay(before: TableLimits, after: TableLimits) -> None:
    """Refuse a change of seats or house players: seated players stay, and real money is never
    played against the house.

    Raises UnusableLimits.
    """
    was, will_be = CheminRules.of(before), _chemin_rules(after)
    if (was.seat_count, was.house_players) != (will_be.seat_count, will_be.house_players):
        raise UnusableLimits(
            gettext("Seats and house players of a Chemin de Fer table cannot be changed. Create a new table instead.")
        )


def check_returns(variant_slug: str, limits: StoredLimits) -> None:
    """Refuse limits under which some allowed stake returns less than 75 %, rounding included. Raises ReturnTooLow."""
    variant = VARIANTS[variant_slug]
    for currency in limits:
        allowed = Limits.of(limits, currency)
        for bet, (low, high) in ((bet, (each.minimum, each.maximum)) for bet, each in allowed.bets.items()):
            rtp, stake = lowest_return(variant, bet, low, high, allowed.step)
            if rtp < LIVE_MINIMUM:
                raise ReturnTooLow(bet, currency, stake, rtp)


def check_usable(variant_slug: str, limits: StoredLimits, shape: Shape = Shape.SOLO) -> None:
    """Refuse limits under which the table cannot be played. Raises UnusableLimits.

    Every bet of the rules needs limits; every minimum, maximum and chip is a multiple of the step;
    a shared table needs a liability.
    """
    expected = {bet.code for bet in VARIANTS[variant_slug].bets}
    for currency, entry in limits.items():
        step, chips, bets = entry["step"], entry["chips"], entry["bets"]
        if bets.keys() != expected:
            raise UnusableLimits(
                (gettext("the bets must be %(join)s.") % {"join": ", ".join(sorted(expected))}), currency=currency
            )
        if step < 1 or not chips or any(chip < 1 or chip % step for chip in chips):
            raise UnusableLimits(gettext("every chip must be a multiple of the step."), currency=currency, part="chips")
        if not entry.get("tray", chips) or set(entry.get("tray", chips)) - set(chips):
            raise UnusableLimits(
                gettext("chips in the tray must be chips of the table."), currency=currency, part="tray"
            )
        for bet, (low, high) in bets.items():
            if not 0 < low <= high or low % step or high % step:
                span = gettext("from %(low)s to %(high)s in steps of %(step)s") % {
                    "low": _amount(low, currency),
                    "high": _amount(high, currency),
                    "step": _amount(step, currency),
                }
                raise UnusableLimits(
                    (gettext("%(span)s cannot be staked.") % {"span": span}), currency=currency, bet=bet
                )
        if (shape is Shape.SHARED) is not ("liability" in entry):
            raise UnusableLimits(
                gettext("a shared table needs a maximum house loss; a solo table has none."),
                currency=currency,
                part="liability",
            )
        if shape is Shape.SHARED:
            _check_liability(variant_slug, limits, currency)


def _check_liability(variant_slug: str, limits: StoredLimits, currency: str) -> None:
    """Require a liability that covers any single bet at its maximum, so that the limits can be honoured."""
    liability = limits[currency].get("liability")
    for bet, (_low, high) in limits[currency]["bets"].items():
        worst = largest_loss(VARIANTS[variant_slug], {bet: high})
        if type(liability) is not int or liability < worst:
            can_win = gettext("%(high)s can win %(worst)s") % {
                "high": _amount(high, currency),
                "worst": _amount(worst, currency),
            }
            most = _amount(liability, currency) if type(liability) is int else "none"
            raise UnusableLimits(
                (
                    gettext("%(can_win)s, more than the maximum house loss of %(most)s.")
                    % {"can_win": can_win, "most": most}
                ),
                currency=currency,
                bet=bet,
            )


def _amount(minor: int, currency: str) -> str:
    return format_amount(minor, currency, get_language() or "en")


def _chemin_rules(limits: TableLimits) -> CheminRules:
    """Read the limits of a Chemin de Fer table. Raises UnusableLimits."""
    try:
        return CheminRules.of(limits)
    except CheminRulesError as error:
        raise UnusableLimits(str(error)) from error


def _check_eligibility(eligibility: TableEligibility, shape: Shape, limits: TableLimits) -> None:
    """Refuse a table without players, or with a mode that it does not support. Raises NobodyEligible."""
    jurisdictions, modes = set(eligibility.jurisdictions), set(eligibility.modes)
    widest = everybody(shape, limits)
    if not jurisdictions or not jurisdictions <= set(widest.jurisdictions):
        raise NobodyEligible(gettext("Choose at least one configured jurisdiction."), part="jurisdictions")
    if not modes or not modes <= set(Mode.values):
        raise NobodyEligible(gettext("Choose real money, free money or both."), part="modes")
    if not modes <= set(widest.modes):
        raise NobodyEligible(gettext("A table with house players can only be for free money."), part="modes")


def _check_pace(clock: TableClock) -> None:
    """Refuse a pace outside the allowed range. Raises UnusableClock."""
    try:
        type(clock).of(clock.stored())
    except ClockError as error:
        raise UnusableClock(str(error)) from error
