"""Revenue, play and payments on the dashboard.

The definitions, also on the page (`DEFINITIONS`):

- Turnover: real stakes against the house, in rounds that were not voided, at the time of the round
  (`games.fairness.hourly_totals.Played.turnover`). Stakes between players are shown apart.
- GGR: turnover less payouts, plus the rake of play between players. The report on revenue has the same figures.
- NGR: GGR less credits to players, which are balance adjustments and the shortfall of voided rounds. Taxes, and fees
  of payment providers, are not in the ledger and not deducted.
- Hold: GGR from play against the house, as a share of turnover.
- Active players: players with at least one round for real money that was not voided.
- Net deposits: deposits credited less withdrawals paid, at the time of posting.

Everything is read from hourly totals; only the ends of a period that are not summed up yet are read from rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from fractions import Fraction
from functools import cached_property
from itertools import zip_longest
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils.translation import get_language, gettext, gettext_lazy

from audit.models import Report, ReportState
from audit.reports.intervals import Period
from audit.reports.kinds import Kind
from backoffice.dashboard.period import Span
from backoffice.templatetags.charts import Point, Series, series
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played, PlayersPlayed
from games.reports import performance, reconciliation
from wallet import reports as payments
from wallet.ledger import hourly_totals as ledger_totals
from wallet.ledger.round_reversal import SHORTFALL
from wallet.models import AccountKind, Currency, Mode
from wallet.money import format_figure, format_money

SEE: Final = "audit.view_report"
UTC: Final = ZoneInfo("UTC")
LISTED: Final = "%Y-%m-%dT%H:%M"  # format of a moment in forms
MOST_PLAYERS: Final = 5  # named as winners, and as losers
PERCENT: Final = 100

DEFINITIONS: Final = (
    (
        gettext_lazy("Turnover"),
        gettext_lazy(
            "Real stakes against the house, in rounds that were not voided, at the time of the round. Stakes between "
            "players at Chemin de Fer are shown apart."
        ),
    ),
    (gettext_lazy("GGR"), gettext_lazy("Turnover less payouts, plus the rake of play between players.")),
    (
        gettext_lazy("NGR"),
        gettext_lazy(
            "GGR less balance adjustments in favour of players and less the shortfall of voided rounds. Taxes and "
            "fees of payment providers are not deducted."
        ),
    ),
    (gettext_lazy("Hold"), gettext_lazy("GGR from play against the house, as a share of turnover.")),
    (
        gettext_lazy("Active players"),
        gettext_lazy("Players with at least one round for real money that was not voided."),
    ),
    (
        gettext_lazy("Net deposits"),
        gettext_lazy("Deposits credited less withdrawals paid, at the time of posting."),
    ),
)


class Behind(NamedTuple):
    """An address and a description of the page there."""

    address: str
    leads_to: str


@dataclass(frozen=True)
class Reports:
    """Reports of a span, newest first, without those that failed."""

    span: Span
    made: Sequence[Report]

    @classmethod
    def of(cls, span: Span, kinds: Sequence[Kind]) -> Self:
        """Read the reports of *kinds* for *span*."""
        found = Report.objects.filter(
            kind__in=[kind.name for kind in kinds],
            since=span.interval.since,
            until=span.interval.until,
            choices__zone=span.zone,
        )
        return cls(span, list(found.exclude(state=ReportState.FAILED).order_by("-pk").defer("head")))

    def behind(self, kind: Kind, /, **choices: str) -> Behind:
        """Return the report of these choices, else a broader one, else the form to request one."""
        wanted = {choice.name: choices.get(choice.name, "") for choice in kind.choices}
        of_kind = [report for report in self.made if report.kind == kind.name]
        for has_more in (False, True):
            for report in of_kind:
                if all(_fits(report.choices.get(name, ""), value, has_more) for name, value in wanted.items()):
                    text = gettext("report %(number)s, “%(title)s”") % {
                        "number": report.pk,
                        "title": gettext(kind.title),
                    }
                    return Behind(reverse("staff_report", args=[report.pk]), text)
        text = gettext("form to request the report “%(title)s”") % {"title": gettext(kind.title)}
        return Behind(self._form(kind, choices), text)

    def _form(self, kind: Kind, choices: dict[str, str]) -> str:
        asked = {"period": str(Period.OWN), **_moments(self.span, ZoneInfo(self.span.zone)), "zone": self.span.zone}
        return f"{reverse('staff_report_ask', args=[kind.name])}?{urlencode(asked | choices)}"


def _fits(linked_value: str, wanted: str, has_more: bool) -> bool:
    return linked_value == wanted or (has_more and not linked_value)


def _moments(span: Span, zone: ZoneInfo) -> dict[str, str]:
    since, until = span.interval.since.astimezone(zone), span.interval.until.astimezone(zone)
    return {"since": f"{since:{LISTED}}", "until": f"{until:{LISTED}}"}


@dataclass(frozen=True)
class Totals:
    """Totals of one currency: money in minor units, and numbers of rounds and players."""

    turnover: int = 0
    won: int = 0  # by the house, in play against it
    rake: int = 0
    between_players: int = 0  # stakes of players against each other
    rounds: int = 0
    players: int = 0
    deposits: int = 0
    withdrawals: int = 0
    credits: int = 0  # to players: adjustments, and the shortfall of voided rounds

    def __add__(self, other: "Totals") -> "Totals":
        sums = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)}
        return replace(self, **sums)

    @property
    def ggr(self) -> int:
        """Gross gaming revenue."""
        return self.won + self.rake

    @property
    def ngr(self) -> int:
        """Net gaming revenue: GGR less credits to players."""
        return self.ggr - self.credits

    @property
    def hold(self) -> Fraction | None:
        """What the house won as a share of turnover; None without turnover."""
        return Fraction(self.won, self.turnover) if self.turnover else None

    @property
    def net(self) -> int:
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


@dataclass(frozen=True)
class Figure:
    """One figure: its value, its change in words, a line over time, and a link to the rows behind it."""

    name: str
    text: str
    change: str  # in per cent or points, "" if there is nothing to compare with
    before: str  # value of the period before
    line: Sequence[float]
    address: str
    leads_to: str


@dataclass(frozen=True)
class Board:
    """The figures and charts of one currency, in a span and in the period before."""

    span: Span
    currency: str
    now: Figures
    then: Figures | None  # None if the period before is empty

    @property
    def totals(self) -> Totals:
        """The totals of the span."""
        return self.now.whole.get(self.currency, NOTHING)

    @property
    def totals_before(self) -> Totals:
        """The totals of the period before."""
        return self.then.whole.get(self.currency, NOTHING) if self.then else NOTHING

    def figures(self) -> list[Figure]:
        """Return the main figures, with links to what they count."""
        reports, code = Reports.of(self.span, (performance.REVENUE, payments.PAYMENTS)), self.currency
        of_play = reports.behind(performance.REVENUE, currency=code)
        of_money = reports.behind(payments.PAYMENTS, currency=code)
        credits_given = Behind(_list("staff_list_wallet_adjustment", self.span), gettext("list of adjustments"))
        rounds = Behind(rounds_address(self.span, code), gettext("list of rounds"))
        return [
            self._money(gettext("GGR"), lambda totals: totals.ggr, of_play),
            self._money(gettext("NGR"), lambda totals: totals.ngr, credits_given),
            self._money(gettext("Turnover"), lambda totals: totals.turnover, of_play),
            self._hold(of_play),
            self._players(rounds),
            self._money(gettext("Net deposits"), lambda totals: totals.net, of_money),
        ]

    def charts(self) -> list[Series]:
        """Return the charts over time."""
        return [
            self._series(gettext("GGR by %(step)s, %(currency)s"), lambda totals: totals.ggr),
            self._series(gettext("Turnover by %(step)s, %(currency)s"), lambda totals: totals.turnover),
        ]

    def _money(self, name: str, value_of: Callable[[Totals], int], behind: Behind) -> Figure:
        now, before = value_of(self.totals), value_of(self.totals_before)
        return Figure(
            name,
            money(now, self.currency),
            _change(now, before),
            money(before, self.currency),
            self._line(value_of),
            *behind,
        )

    def _hold(self, behind: Behind) -> Figure:
        now, before = self.totals.hold, self.totals_before.hold
        change = ""
        if now is not None and before is not None:
            change = gettext("%(change)s points") % {"change": f"{float(now - before) * PERCENT:+.2f}"}
        line = self._line(lambda totals: float(totals.hold or 0))
        return Figure(gettext("Hold"), percent(now), change, percent(before), line, *behind)

    def _players(self, behind: Behind) -> Figure:
        now, before = self.totals.players, self.totals_before.players
        line = self._line(lambda totals: totals.players)
        return Figure(gettext("Active players"), f"{now:,}", _change(now, before), f"{before:,}", line, *behind)

    def _line(self, value_of: Callable[[Totals], float]) -> list[float]:
        return [float(value_of(step.get(self.currency, NOTHING))) for step in self.now.steps]

    def _series(self, title: str, value_of: Callable[[Totals], int]) -> Series:
        then = self.then or Figures([], [], [], PlayersPlayed([], [], []))
        steps = zip_longest(self.now.bounds[:-1], self.now.steps, then.bounds[:-1], then.steps)
        points = [self._point(value_of, *step) for step in steps]
        name = gettext("this period")
        names = {"hour": gettext("hour"), "day": gettext("day"), "week": gettext("week")}
        values = {"step": names[self.span.step], "currency": self.currency}
        before = self.span.before_label if then.steps else ""
        return series(title % values, points, lambda value: format_figure(round(value), _language()), name, before)

    def _point(
        self,
        value_of: Callable[[Totals], int],
        begins: datetime | None,
        step: ByCurrency | None,
        begins_before: datetime | None,
        step_before: ByCurrency | None,
    ) -> Point:
        now = None if step is None else value_of(step.get(self.currency, NOTHING))
        before = None if step_before is None else value_of(step_before.get(self.currency, NOTHING))
        label = self.span.label(begins or begins_before or self.span.interval.since)
        return Point(label, now, _or_none(now, self.currency), before, _or_none(before, self.currency))


def read_board(span: Span, currency: str) -> Board | None:
    """Return the figures of *span* in *currency*, or in the one with most turnover if that has none.

    None if there are no figures at all.
    """
    if span.is_empty:
        return None
    now = Figures.read(span.bounds(), MOST_PLAYERS)
    bounds = span.bounds_before()
    then = Figures.read(bounds) if len(bounds) > 1 else None
    board = Board(span, currency, now, then)
    there = currencies(board)
    if not there:
        return None
    if currency not in there:
        board = replace(board, currency=max(there, key=lambda code: now.whole.get(code, NOTHING).turnover))
    return board


def currencies(board: Board) -> list[str]:
    """Return the currencies that have any figure in the span or before it."""
    return [code for code in Currency.values if code in board.now.whole or (board.then and code in board.then.whole)]


def money(value: int, currency: str) -> str:
    """Format an amount in minor units in the reader's language."""
    return format_money(value, currency, _language())


def amount(value: int) -> str:
    """Format an amount in minor units without its currency, in the reader's language."""
    return format_figure(value, _language())


def _or_none(value: int | None, currency: str) -> str:
    return "" if value is None else money(value, currency)


def percent(share: Fraction | None) -> str:
    """Format a share in per cent; a dash if there is none."""
    return "–" if share is None else f"{float(share) * PERCENT:.2f} %"


def _change(now: int, before: int) -> str:
    """Return the change in per cent of the value before; "" if that is zero or negative."""
    return f"{(now - before) / before * PERCENT:+.1f} %" if before > 0 else ""


def _language() -> str:
    return get_language() or "en"


def _list(name: str, span: Span, **choices: str) -> str:
    return f"{reverse(name)}?{urlencode(_moments(span, UTC) | choices)}"


def rounds_address(span: Span, currency: str) -> str:
    """Return the address of the list of rounds for real money in *currency* during the span."""
    return _list("staff_rounds", span, mode=Mode.REAL.value, currency=currency)
