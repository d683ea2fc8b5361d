"""Totals of play and payments: in each currency, or of all currencies in the reporting currency.

Everything is read from hourly totals; only the ends of a period that are not summed up yet are read from rows. What the
totals mean is in `backoffice.dashboard.money`.

In the reporting currency the same totals are read for each day and divided by the rate of that day
(`wallet.exchange_rates`). The sums are exact, and rounded once, when they are formatted: to the nearest minor unit,
halves to the even one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from typing import Final, Self, TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from backoffice.dashboard.period import Span
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played, PlayersPlayed, PlayersTogether, PlayerTotals
from games.reports import reconciliation
from wallet.exchange_rates import Rates, Used
from wallet.ledger import hourly_totals as ledger_totals
from wallet.ledger.round_reversal import SHORTFALL
from wallet.models import AccountKind, Currency, Mode

COUNTS: Final = frozenset({"rounds", "players"})  # fields of `Totals` that are not money

Amount: TypeAlias = int | Fraction
"""Minor units; exact parts of them where currencies are converted."""
Key = TypeVar("Key")


@dataclass(frozen=True)
class Totals:
    """Totals of one currency: money in minor units, and numbers of rounds and players."""

    turnover: Amount = 0
    won: Amount = 0  # by the house, in play against it
    rake: Amount = 0
    between_players: Amount = 0  # stakes of players against each other
    rounds: int = 0
    players: int = 0
    deposits: Amount = 0
    withdrawals: Amount = 0
    credits: Amount = 0  # to players: adjustments, and the shortfall of voided rounds

    def __add__(self, other: "Totals") -> "Totals":
        sums = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return replace(self, **sums)

    def times(self, factor: Fraction) -> "Totals":
        """Return them with all money multiplied by *factor*."""
        money = {each.name: getattr(self, each.name) * factor for each in fields(self) if each.name not in COUNTS}
        return replace(self, **money)

    @property
    def has_money(self) -> bool:
        """True if any amount is not zero."""
        return any(getattr(self, each.name) for each in fields(self) if each.name not in COUNTS)

    @property
    def ggr(self) -> Amount:
        """Gross gaming revenue."""
        return self.won + self.rake

    @property
    def ngr(self) -> Amount:
        """Net gaming revenue: GGR less credits to players."""
        return self.ggr - self.credits

    @property
    def hold(self) -> Fraction | None:
        """The house's winnings as a share of turnover; None without turnover."""
        return Fraction(self.won, self.turnover) if self.turnover else None

    @property
    def net(self) -> Amount:
        """Deposits less withdrawals."""
        return self.deposits - self.withdrawals


ByCurrency = Mapping[str, Totals]
NOTHING: Final = Totals()


@dataclass(frozen=True)
class Figures:
    """Figures of the steps between successive bounds."""

    bounds: Sequence[datetime]
    played: Sequence[Played]
    entries: Sequence[Sequence[ledger_totals.Sum]]  # by step
    who: PlayersPlayed
    missing: Sequence[tuple[str, date]] = ()  # rates that are not known; none is needed
    unknown: frozenset[int] = frozenset()

    @classmethod
    def read(cls, bounds: Sequence[datetime], most: int = 0) -> Self:
        """Read the figures between *bounds*, and up to *most* winners and losers in each currency."""
        return cls(
            bounds,
            hourly_totals.played(bounds, Mode.REAL),
            ledger_totals.read_series(bounds),
            hourly_totals.players_played(bounds, most),
        )

    @cached_property
    def steps(self) -> Sequence[ByCurrency]:
        """The totals of each step, by currency."""
        steps: list[dict[str, Totals]] = [{} for _ in self.bounds[1:]]
        for each in self.played:
            _add(steps[each.period], each.currency, totals_of([each]))
        for step, players, entries in zip(steps, self.who.periods, self.entries, strict=True):
            for of_currency in players:
                _add(step, of_currency.currency, Totals(players=of_currency.players))
            for currency, totals in _payments(entries).items():
                _add(step, currency, totals)
        return steps

    @cached_property
    def whole(self) -> ByCurrency:
        """The totals of all steps, by currency. A player counts once."""
        found: dict[str, Totals] = {}
        for step in self.steps:
            for currency, totals in step.items():
                _add(found, currency, replace(totals, players=0))
        for _country, each in self.who.countries:
            _add(found, each.currency, Totals(players=each.players))
        return {currency: totals for currency, totals in found.items() if totals != NOTHING}

    @property
    def currencies(self) -> set[str]:
        """The currencies that have any figure."""
        return set(self.whole)

    def play(self, currency: str) -> Iterator[tuple[int, Totals]]:
        """Yield the ids of table versions with parts of their totals."""
        return ((each.version_id, totals_of([each])) for each in self.played if each.currency == currency)

    def countries(self, currency: str) -> list[tuple[str, Totals]]:
        """Return the codes of jurisdictions with the totals of their players."""
        return [(code, _of_players(each)) for code, each in self.who.countries if each.currency == currency]

    def players(self, currency: str) -> list[tuple[int, Totals]]:
        """Return the ids of the players who won and lost most with their totals; those who won most come first."""
        return [(number, _of_players(each)) for number, each in self.who.players if each.currency == currency]


@dataclass(frozen=True)
class Converted:
    """Figures of all currencies in the reporting currency, at the rate of each day.

    The steps between successive *bounds* consist of parts, each within one day. What has no rate is left out, and named
    in *missing*: a figure that needs it is not shown.
    """

    bounds: Sequence[datetime]
    rates: Rates
    step_of: Sequence[int]  # by part
    days: Sequence[date]  # by part
    played: Sequence[Played]  # by part, as all of the following
    entries: Sequence[Sequence[ledger_totals.Sum]]
    who: PlayersTogether

    @classmethod
    def read(cls, span: Span, bounds: Sequence[datetime], rates: Rates, most: int = 0) -> Self:
        """Read the figures between *bounds*, and up to *most* winners and losers."""
        parts, step_of = span.by_day(bounds)
        days = [begins.astimezone(ZoneInfo(span.zone)).date() for begins in parts[:-1]]
        factors = {
            (number, currency): factor
            for number, day in enumerate(days)
            for currency in Currency.values
            if (factor := rates.factor(currency, day)) is not None
        }
        return cls(
            bounds,
            rates,
            step_of,
            days,
            hourly_totals.played(parts, Mode.REAL),
            ledger_totals.read_series(parts),
            hourly_totals.players_together(parts, step_of, factors, most),
        )

    @cached_property
    def money(self) -> Sequence[ByCurrency]:
        """The totals of each part, by currency, as they are."""
        parts: list[dict[str, Totals]] = [{} for _ in self.days]
        for each in self.played:
            _add(parts[each.period], each.currency, totals_of([each]))
        for part, entries in zip(parts, self.entries, strict=True):
            for currency, totals in _payments(entries).items():
                _add(part, currency, totals)
        return parts

    @cached_property
    def needed(self) -> Sequence[tuple[int, str]]:
        """The parts and currencies that have any money."""
        return [
            (number, currency)
            for number, part in enumerate(self.money)
            for currency, totals in part.items()
            if totals.has_money
        ]

    @cached_property
    def missing(self) -> Sequence[tuple[str, date]]:
        """The currencies and days for which a rate is needed and none is known."""
        found = {(currency, self.days[number]) for number, currency in self.needed}
        return sorted(each for each in found if self.rates.factor(*each) is None)

    @cached_property
    def unknown(self) -> frozenset[int]:
        """The steps that need a rate that is not known."""
        lacking = set(self.missing)
        return frozenset(
            self.step_of[number] for number, currency in self.needed if (currency, self.days[number]) in lacking
        )

    @cached_property
    def used(self) -> list[Used]:
        """The rates that were used."""
        return self.rates.used((code, self.days[number]) for number, code in self.needed if code != self.rates.base)

    @cached_property
    def steps(self) -> Sequence[ByCurrency]:
        """The totals of each step, under the reporting currency."""
        sums = [NOTHING for _ in self.bounds[1:]]
        for number, part in enumerate(self.money):
            for currency, totals in part.items():
                sums[self.step_of[number]] += self.convert(number, currency, totals)
        return [
            {self.rates.base: replace(totals, players=self.who.steps.get(step, 0))} for step, totals in enumerate(sums)
        ]

    @cached_property
    def whole(self) -> ByCurrency:
        """The totals of all steps, under the reporting currency. A player counts once."""
        added = sum((step[self.rates.base] for step in self.steps), NOTHING)
        found = replace(added, players=self.who.players)
        return {self.rates.base: found} if found != NOTHING else {}

    @property
    def currencies(self) -> set[str]:
        """The currencies that have any figure."""
        return {currency for part in self.money for currency, totals in part.items() if totals != NOTHING}

    def convert(self, part: int, currency: str, totals: Totals) -> Totals:
        """Return totals in the reporting currency, at the rate of the day of *part*; without a rate, their counts."""
        return totals.times(self.rates.factor(currency, self.days[part]) or Fraction(0))

    def play(self, _currency: str) -> Iterator[tuple[int, Totals]]:
        """Yield the ids of table versions with parts of their totals."""
        for each in self.played:
            yield each.version_id, self.convert(each.period, each.currency, totals_of([each]))

    def countries(self, _currency: str) -> list[tuple[str, Totals]]:
        """Return the codes of jurisdictions with the totals of their players."""
        found = self._added(self.who.countries)
        return [(code, replace(totals, players=self.who.by_country[code])) for code, totals in found.items()]

    def players(self, _currency: str) -> list[tuple[int, Totals]]:
        """Return the ids of the players who won and lost most with their totals; those who won most come first."""
        return sorted(self._added(self.who.named).items(), key=lambda each: (each[1].ggr, each[0]))

    def _added(self, rows: Sequence[tuple[Key, int, PlayerTotals]]) -> dict[Key, Totals]:
        found: dict[Key, Totals] = {}
        for key, part, each in rows:
            found[key] = found.get(key, NOTHING) + self.convert(part, each.currency, _of_players(each))
        return found


def _of_players(totals: PlayerTotals) -> Totals:
    return Totals(turnover=totals.turnover, won=totals.revenue, rounds=totals.rounds, players=totals.players)


def totals_of(played: Iterable[Played]) -> Totals:
    """Return the totals of play in one currency."""
    return sum(
        (
            Totals(
                turnover=each.turnover,
                won=0 if each.is_between_players else each.revenue,
                rake=each.revenue if each.is_between_players else 0,
                between_players=each.between_players,
                rounds=each.valid_rounds,
            )
            for each in played
        ),
        NOTHING,
    )


def _payments(entries: Sequence[ledger_totals.Sum]) -> ByCurrency:
    deposits, withdrawals, given = (
        reconciliation.added(entries, journals)
        for journals in ({"deposit"}, {"withdraw_paid"}, {reconciliation.ADJUSTED, SHORTFALL})
    )
    released = reconciliation.added(entries, {"deposit_released"}, AccountKind.CASH)
    found = {}
    for currency in Currency.values:
        key = (currency, Mode.REAL.value)
        paid_in = deposits[key] + released[key]
        found[currency] = Totals(deposits=paid_in, withdrawals=-withdrawals[key], credits=given[key])
    return {currency: totals for currency, totals in found.items() if totals != NOTHING}


def _add(found: dict[str, Totals], currency: str, totals: Totals) -> None:
    found[currency] = found.get(currency, NOTHING) + totals
