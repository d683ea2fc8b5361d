"""Output of a simulation: a text table, or fractions as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from games.engine.bets import Shape, Variant
from games.engine.dealing import CUT_CARD
from games.engine.odds import percent
from games.simulation.tally import Comparison

COLUMNS = ("bet", "actual %", "exact %", "99 % from", "to", "")


@dataclass(frozen=True)
class Run:
    """A finished simulation."""

    variant: Variant
    coups: int
    seconds: float
    fast: bool
    bets: tuple[Comparison, ...]

    @property
    def per_second(self) -> int:
        """Coups per second."""
        return round(self.coups / self.seconds)


def as_json(run: Run) -> dict[str, Any]:
    """Return each return as "numerator/denominator", and in percent rounded to four places.

    `cut_card` is null if every coup comes from a fresh shuffle.
    """
    return {
        "variant": run.variant.slug,
        "decks": run.variant.decks,
        "cut_card": _cut_card(run.variant),
        "dealt_by": "arrays" if run.fast else "engine",
        "coups": run.coups,
        "coups_per_second": run.per_second,
        "bets": {each.bet: _bet(each) for each in run.bets},
    }


def as_table(run: Run) -> Iterator[str]:
    """Yield lines of text, with returns in percent."""
    yield f"{run.variant.slug}, rules {run.variant.version}: {run.coups:,} coups, {run.per_second:,} a second"
    yield f"Cards: {_shoes(run.variant)}, {_dealt(fast=run.fast)}."
    yield _row(COLUMNS)
    for each in run.bets:
        yield _row((each.bet, *_shares(each), "within" if each.within else "OUTSIDE"))
    yield "One bet in a hundred lies outside its band by chance alone."


def _bet(each: Comparison) -> dict[str, Any]:
    actual, exact, low, high = _shares(each)
    return {
        "actual": f"{each.actual.numerator}/{each.actual.denominator}",
        "exact": f"{each.exact.numerator}/{each.exact.denominator}",
        "actual_percent": actual,
        "exact_percent": exact,
        "low_percent": low,
        "high_percent": high,
        "within": each.within,
    }


def _shares(each: Comparison) -> tuple[str, ...]:
    return tuple(percent(share, 4) for share in (each.actual, each.exact, each.low, each.high))


def _shoes(variant: Variant) -> str:
    decks = "one deck" if variant.decks == 1 else f"{variant.decks} decks"
    cut = _cut_card(variant)
    return (
        f"{decks}, shuffled before every coup"
        if cut is None
        else f"{decks}, dealt through to one coup after the cut card, {cut} before the end"
    )


def _cut_card(variant: Variant) -> int | None:
    return None if variant.shape is Shape.SOLO else CUT_CARD


def _dealt(*, fast: bool) -> str:
    if fast:
        return "dealt with NumPy arrays instead of the engine's shuffle and dealing"
    return "dealt by the engine through the shuffle of real rounds"


def _row(cells: tuple[str, ...]) -> str:
    bet, *figures = cells
    return (f"{bet:<14}" + "".join(f"{figure:>12}" for figure in figures)).rstrip()
