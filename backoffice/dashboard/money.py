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

One currency is shown, or all of them in the reporting currency (`backoffice.dashboard.figures`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from itertools import zip_longest
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext, gettext_lazy

from audit.models import Report, ReportState
from audit.reports.kinds import Kind, Period
from backoffice.dashboard.figures import NOTHING, Amount, Converted, Figures, Totals
from backoffice.dashboard.period import Span
from backoffice.templatetags.charts import Point, Series, series
from games.fairness.hourly_totals import PlayersPlayed
from games.reports import performance
from wallet import reports as payments
from wallet.exchange_rates import Rates
from wallet.models import Currency, Mode
from wallet.money import format_figure, format_money

SEE: Final = "audit.view_report"
UTC: Final = ZoneInfo("UTC")
LISTED: Final = "%Y-%m-%dT%H:%M"  # format of a moment in forms
MOST_PLAYERS: Final = 5  # named as winners, and as losers
PERCENT: Final = 100
TOGETHER: Final = "all"  # asked for in place of a currency: all of them in the reporting currency

DEFINITIONS: Final = (
    (
        gettext_lazy("Turnover"),
        gettext_lazy(
            "Real-money stakes against the house, in rounds that were not voided, at the time of the round. Stakes "
            "between players at Chemin de Fer are shown separately."
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
    currency: str  # the reporting currency if all are converted
    now: Figures | Converted
    then: Figures | Converted | None  # None if the period before is empty

    @property
    def is_together(self) -> bool:
        """True if all currencies are converted."""
        return isinstance(self.now, Converted)

    @property
    def filter(self) -> str:
        """The currency to filter lists and reports by, "" for all."""
        return "" if self.is_together else self.currency

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
        of_revenue, code = performance.REVENUE_TOGETHER if self.is_together else performance.REVENUE, self.filter
        reports = Reports.of(self.span, (of_revenue, payments.PAYMENTS))
        of_play = reports.behind(of_revenue, **({} if self.is_together else {"currency": code}))
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

    def _money(self, name: str, value_of: Callable[[Totals], Amount], behind: Behind) -> Figure:
        now, before = value_of(self.totals), value_of(self.totals_before)
        return Figure(
            name,
            gettext("no rate") if self.now.missing else money(now, self.currency),
            self._change(now, before),
            gettext("no rate") if self.then and self.then.missing else money(before, self.currency),
            self._line(value_of),
            *behind,
        )

    def _hold(self, behind: Behind) -> Figure:
        now, before = self.totals.hold, self.totals_before.hold
        change = ""
        if now is not None and before is not None and self._is_comparable:
            change = gettext("%(change)s points") % {"change": number_format(f"{float(now - before) * PERCENT:+.2f}")}
        line = self._line(lambda totals: totals.hold or 0)
        text = gettext("no rate") if self.now.missing else percent(now)
        text_before = gettext("no rate") if self.then and self.then.missing else percent(before)
        return Figure(gettext("Hold"), text, change, text_before, line, *behind)

    def _players(self, behind: Behind) -> Figure:
        now, before = self.totals.players, self.totals_before.players
        line = self._line(lambda totals: totals.players)
        return Figure(gettext("Active players"), f"{now:,}", _change(now, before), f"{before:,}", line, *behind)

    @property
    def _is_comparable(self) -> bool:
        return not self.now.missing and not (self.then and self.then.missing)

    def _change(self, now: Amount, before: Amount) -> str:
        return _change(now, before) if self._is_comparable else ""

    def _line(self, value_of: Callable[[Totals], Amount]) -> list[float]:
        if self.now.missing:
            return []
        return [float(value_of(step.get(self.currency, NOTHING))) for step in self.now.steps]

    def _series(self, title: str, value_of: Callable[[Totals], Amount]) -> Series:
        then = self.then or Figures([], [], [], PlayersPlayed([], [], []))
        steps = zip_longest(
            self.now.bounds[:-1], self._values(self.now, value_of), then.bounds[:-1], self._values(then, value_of)
        )
        points = [self._point(*step) for step in steps]
        name = gettext("this period")
        names = {"hour": gettext("hour"), "day": gettext("day"), "week": gettext("week")}
        values = {"step": names[self.span.step], "currency": self.currency}
        before = self.span.before_label if then.steps else ""
        return series(title % values, points, lambda value: format_figure(round(value), _language()), name, before)

    def _values(self, figures: Figures | Converted, value_of: Callable[[Totals], Amount]) -> list[Amount | None]:
        """Return the value of each step, None where a rate is missing."""
        return [
            None if number in figures.unknown else value_of(step.get(self.currency, NOTHING))
            for number, step in enumerate(figures.steps)
        ]

    def _point(
        self, begins: datetime | None, now: Amount | None, begins_before: datetime | None, before: Amount | None
    ) -> Point:
        label = self.span.label(begins or begins_before or self.span.interval.since)
        texts = _or_none(now, self.currency), _or_none(before, self.currency)
        drawn = [None if value is None else float(value) for value in (now, before)]
        return Point(label, drawn[0], texts[0], drawn[1], texts[1])


def read_board(span: Span, currency: str) -> Board | None:
    """Return the figures of *span* in *currency*, or in the one with most turnover if that has none.

    `TOGETHER` asks for all currencies in the reporting currency. None if there are no figures at all.
    """
    if span.is_empty:
        return None
    bounds, bounds_before = span.bounds(), span.bounds_before()
    then: Figures | Converted | None = None
    if currency == TOGETHER:
        rates = Rates.read(min(span.first, span.first_before), span.last)
        then = Converted.read(span, bounds_before, rates) if len(bounds_before) > 1 else None
        board = Board(span, rates.base, Converted.read(span, bounds, rates, MOST_PLAYERS), then)
        return board if currencies(board) else None
    now = Figures.read(bounds, MOST_PLAYERS)
    then = Figures.read(bounds_before) if len(bounds_before) > 1 else None
    board = Board(span, currency, now, then)
    there = currencies(board)
    if not there:
        return None
    if currency not in there:
        board = replace(board, currency=max(there, key=lambda code: now.whole.get(code, NOTHING).turnover))
    return board


def currencies(board: Board) -> list[str]:
    """Return the currencies that have any figure in the span or before it."""
    found = board.now.currencies | (board.then.currencies if board.then else set())
    return [code for code in Currency.values if code in found]


def money(value: Amount, currency: str) -> str:
    """Format an amount in minor units in the reader's language."""
    return format_money(round(value), currency, _language())


def amount(value: Amount) -> str:
    """Format an amount in minor units without its currency, in the reader's language."""
    return format_figure(round(value), _language())


def _or_none(value: Amount | None, currency: str) -> str:
    return "" if value is None else money(value, currency)


def percent(share: Fraction | None) -> str:
    """Format a share in per cent; a dash if there is none."""
    return "–" if share is None else f"{_signed(float(share) * PERCENT, '.2f')} %"


def _change(now: Amount, before: Amount) -> str:
    """Return the change in per cent of the value before; "" if that is zero or negative."""
    return _signed(float((now - before) / before) * PERCENT, "+.1f") + " %" if before > 0 else ""


def _signed(value: float, form: str) -> str:
    """Return a rounded number in the reader's language, with the minus sign of amounts."""
    return number_format(f"{value:{form}}").replace("-", "−")


def _language() -> str:
    return get_language() or "en"


def _list(name: str, span: Span, **choices: str) -> str:
    return f"{reverse(name)}?{urlencode(_moments(span, UTC) | choices)}"


def rounds_address(span: Span, currency: str) -> str:
    """Return the address of the list of rounds for real money in *currency* during the span."""
    return _list("staff_rounds", span, mode=Mode.REAL.value, currency=currency)
