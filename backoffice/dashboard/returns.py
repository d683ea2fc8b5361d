"""Actual and expected returns of bets on the dashboard, for the same days as the page of returns.

The days are UTC days, because returns are summed up by UTC day.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from backoffice.dashboard.period import Span
from backoffice.fairness import returns
from games.fairness.returns.figures import Group, Line, groups

SEE: Final = returns.SEE
MIDDLE: Final = 50.0  # position of the exact return, of 100
BAND: Final = 30.0  # distance from the exact return to the edge of the band
EDGE: Final = 1.0


@dataclass(frozen=True)
class Drawn:
    """A bet and the position of its actual return from 0 to 100. The band reaches from 20 to 80.

    The position is None if there is nothing to compare with.
    """

    line: Line
    at: float | None


@dataclass(frozen=True)
class OfGame:
    """Bets of a game in one currency under one version of its rules."""

    name: str
    currency: str
    rules_version: str
    bets: Sequence[Drawn]
    address: str

    @property
    def odd(self) -> int:
        """Number of bets that need a review."""
        return sum(each.line.is_odd for each in self.bets)


def figures_by_game(span: Span) -> list[OfGame]:
    """Return every game played for real money on the days of *span*, by currency."""
    form = returns.ReturnsForm(_asked(span))
    return [of_game for group in groups(form.scope()) for of_game in _of_group(group, span)]


def _of_group(group: Group, span: Span) -> list[OfGame]:
    by_currency = sorted(group.lines, key=lambda line: line.currency)  # the sort is stable: bets keep their order
    return [
        OfGame(
            returns.NAMES[group.variant],
            currency,
            group.rules_version,
            [Drawn(line, _place(line.lies)) for line in lines],
            address(span, game=group.variant, currency=currency),
        )
        for currency, lines in groupby(by_currency, key=lambda line: line.currency)
    ]


def _place(lies: float | None) -> float | None:
    return None if lies is None else round(min(max(MIDDLE + BAND * lies, EDGE), 100 - EDGE), 2)


def address(span: Span, **choices: str) -> str:
    """Return the address of the page of returns for the same days."""
    return f"{reverse('staff_returns')}?{urlencode(_asked(span) | choices)}"


def _asked(span: Span) -> dict[str, str]:
    return {"since": span.first.isoformat(), "until": span.last.isoformat()}
