"""Revenue, play and payments on the dashboard, for each currency. Currencies are never added up.

The figures agree with the reports. Revenue and rounds come from the data of the revenue report;
deposits and withdrawals come from the data by which the ledger is reconciled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.urls import reverse

from audit.models import Report, ReportState
from audit.reports.intervals import Period
from audit.reports.kinds import Interval, Kind
from backoffice.dashboard.period import Span
from games.fairness import hourly_totals
from games.reports import performance, reconciliation
from wallet import reports as payments
from wallet.ledger import hourly_totals as ledger_totals
from wallet.models import AccountKind, Currency, Mode
from wallet.money import format_money

LISTED: Final = "%Y-%m-%dT%H:%M"  # format of a moment in forms


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
                    address = reverse("staff_report", args=[report.pk])
                    return Behind(address, f"report {report.pk}, “{kind.title}”")
        return Behind(self._form(kind, choices), f"form to request the report “{kind.title}”")

    def _form(self, kind: Kind, choices: dict[str, str]) -> str:
        zone = ZoneInfo(self.span.zone)
        asked = {
            "period": str(Period.OWN),
            "since": f"{self.span.interval.since.astimezone(zone):{LISTED}}",
            "until": f"{self.span.interval.until.astimezone(zone):{LISTED}}",
            "zone": self.span.zone,
            **choices,
        }
        return f"{reverse('staff_report_ask', args=[kind.name])}?{urlencode(asked)}"


def _fits(linked_value: str, wanted: str, has_more: bool) -> bool:
    return linked_value == wanted or (has_more and not linked_value)


SEE: Final = "audit.view_report"
UTC: Final = ZoneInfo("UTC")

Drawn = tuple[str, int, str]  # label, value, text


@dataclass(frozen=True)
class DashboardTotals:
    """Totals of one currency: money in minor units, and the number of rounds."""

    revenue: int = 0
    staked: int = 0
    rounds: int = 0
    deposits: int = 0
    withdrawals: int = 0

    @property
    def net(self) -> int:
        """Deposits less withdrawals."""
        return self.deposits - self.withdrawals


@dataclass(frozen=True)
class Figure:
    """One figure: its value, its change in words, and a link to the rows behind it."""

    name: str
    text: str
    change: str
    address: str
    leads_to: str


@dataclass(frozen=True)
class Chart:
    """Chart of a figure that was not zero throughout."""

    title: str
    figures: Sequence[Drawn]


@dataclass(frozen=True)
class OfCurrency:
    """Figures and charts of one currency."""

    currency: str
    figures: Sequence[Figure]
    charts: Sequence[Chart]


def figures_by_currency(span: Span) -> list[OfCurrency]:
    """Return the figures of each currency that has any in the span or in the span before it."""
    if span.is_empty:
        return []
    bounds = span.bounds()
    pieces = between(bounds)
    now, before = between([span.interval.since, span.interval.until])[0], _whole(span.before)
    players = ledger_totals.players_who_staked(span.first, span.last)
    players_before = ledger_totals.players_who_staked(span.first_before, span.last_before)
    reports = Reports.of(span, (performance.REVENUE, payments.PAYMENTS))
    return [
        OfCurrency(
            currency,
            _figures(
                span,
                reports,
                currency,
                (now.get(currency, DashboardTotals()), players.get(currency, 0)),
                (before.get(currency, DashboardTotals()), players_before.get(currency, 0)),
            ),
            _charts(span, currency, bounds, pieces),
        )
        for currency in Currency.values
        if currency in {*now, *before, *players, *players_before}
    ]


def between(bounds: Sequence[datetime]) -> list[Mapping[str, DashboardTotals]]:
    """Return the totals between each two neighbouring *bounds*, by currency."""
    played: list[dict[str, list[hourly_totals.Played]]] = [{} for _ in bounds[1:]]
    for each in hourly_totals.played(bounds, Mode.REAL):
        played[each.period].setdefault(each.currency, []).append(each)
    return [
        _read_totals(of_play, ledger_totals.read_totals(Interval(since, until)))
        for of_play, (since, until) in zip(played, pairwise(bounds), strict=True)
    ]


def _read_totals(
    played: Mapping[str, list[hourly_totals.Played]], entries: Sequence[ledger_totals.Sum]
) -> Mapping[str, DashboardTotals]:
    deposits = reconciliation.added(entries, {"deposit", "deposit_released"}, AccountKind.CASH)
    withdrawals = reconciliation.added(entries, {"withdraw_paid"})
    found = {}
    for currency in Currency.values:
        rounds, staked, _paid, made, *_ = performance.figures(played.get(currency, ()))
        key = (currency, Mode.REAL.value)
        totals = DashboardTotals(made, staked, rounds, deposits[key], -withdrawals[key])
        if totals != DashboardTotals():
            found[currency] = totals
    return found


def _whole(interval: Interval) -> Mapping[str, DashboardTotals]:
    return between([interval.since, interval.until])[0] if interval.since < interval.until else {}


def _figures(
    span: Span, reports: Reports, currency: str, now: tuple[DashboardTotals, int], before: tuple[DashboardTotals, int]
) -> list[Figure]:
    (totals, players), (totals_before, players_before) = now, before
    of_play = reports.behind(performance.REVENUE, currency=currency)
    of_money = reports.behind(payments.PAYMENTS, currency=currency)
    paid_in = reports.behind(payments.PAYMENTS, currency=currency, kind=payments.DEPOSIT)
    paid_out = reports.behind(payments.PAYMENTS, currency=currency, kind=payments.WITHDRAWAL)

    def money(name: str, value: int, value_before: int, behind: Behind) -> Figure:
        change = _change(format_money(abs(value - value_before), currency, "en"), value - value_before, span)
        return Figure(name, format_money(value, currency, "en"), change, *behind)

    days = "that day" if span.first_before == span.last_before else "those days"
    whole = f"{players_before:,} on {days} before"
    return [
        money("Gross gaming revenue", totals.revenue, totals_before.revenue, of_play),
        money("Turnover", totals.staked, totals_before.staked, of_play),
        Figure(
            "Rounds",
            f"{totals.rounds:,}",
            _change(f"{abs(totals.rounds - totals_before.rounds):,}", totals.rounds - totals_before.rounds, span),
            *of_play,
        ),
        Figure("Active players", f"{players:,}", whole, rounds_address(span), "list of rounds"),
        money("Deposits", totals.deposits, totals_before.deposits, paid_in),
        money("Withdrawals paid", totals.withdrawals, totals_before.withdrawals, paid_out),
        money("Deposits less withdrawals", totals.net, totals_before.net, of_money),
    ]


def _change(by: str, difference: int, span: Span) -> str:
    if not difference:
        return f"same as {span.before_label}"
    return f"{by} {'more' if difference > 0 else 'less'} than {span.before_label}"


def _charts(
    span: Span, currency: str, bounds: Sequence[datetime], pieces: Sequence[Mapping[str, DashboardTotals]]
) -> list[Chart]:
    of_it = [
        (span.label(begins), piece.get(currency, DashboardTotals()))
        for begins, piece in zip(bounds, pieces, strict=False)
    ]
    drawn = {
        "Gross gaming revenue": [(label, totals.revenue) for label, totals in of_it],
        "Turnover": [(label, totals.staked) for label, totals in of_it],
        "Deposits": [(label, totals.deposits) for label, totals in of_it],
    }
    return [
        Chart(
            f"{title} by {span.step}, {currency}",
            [(label, value, format_money(value, currency, "en")) for label, value in values],
        )
        for title, values in drawn.items()
        if any(value for _label, value in values)
    ]


def rounds_address(span: Span) -> str:
    """Return the address of the list of players' parts in rounds during the span."""
    asked = {
        "since": f"{span.interval.since.astimezone(UTC):{LISTED}}",
        "until": f"{span.interval.until.astimezone(UTC):{LISTED}}",
    }
    return f"{reverse('staff_list_games_participation')}?{urlencode(asked)}"
