"""The tests, as plain mathematics: how likely chance alone is to be as far from what it gives on average, and whether
tests that belong together pass together. Everything is two-sided: too even would be as wrong as too uneven.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erfc, sqrt
from typing import Final

LEVEL: Final = 0.01
"""A test at 99 % confidence fails where its p-value is below this (GLI-19 v3.0, 3.2–3.3)."""

LEAST_EXPECTED: Final = 5
"""The usual rule for chi-square: with fewer expected in a cell, its distribution is not known well enough."""


@dataclass(frozen=True)
class Test:
    """One test. *statistic*, *freedom* and *p* are None where there was too little to test; *freedom* too where the
    statistic is normal. *sample* counts *of*.
    """

    name: str
    of: str
    sample: int
    statistic: float | None = None
    freedom: int | None = None
    p: float | None = None

    @property
    def fails(self) -> bool:
        """Whether it fails at 99 %, taken by itself."""
        return self.p is not None and self.p < LEVEL


def too_few(name: str, of: str, sample: int) -> Test:
    """A test that cannot be made yet."""
    return Test(name, of, sample)


def of_counts(
    name: str,
    of: str,
    sample: int,
    *,
    observed: Sequence[int],
    expected: Sequence[float],
    freedom: int | None = None,
    spread: float = 1.0,
) -> Test:
    """Chi-square of counts. *freedom* is one less than there are cells unless said. *spread* is how wide the counts lie
    about what is expected, of what independent draws would: cards drawn together without putting them back lie closer.
    """
    if min(expected) < LEAST_EXPECTED or spread <= 0:
        return too_few(name, of, sample)
    statistic = sum((seen - due) ** 2 / due for seen, due in zip(observed, expected, strict=True)) / spread
    freedom = len(observed) - 1 if freedom is None else freedom
    return Test(name, of, sample, statistic, freedom, chi_square_p(statistic, freedom))


def of_sum(name: str, of: str, sample: int, *, observed: float, expected: float, variance: float) -> Test:
    """How many standard deviations a sum of many small parts lies from what is expected of it."""
    if variance <= 0:
        return too_few(name, of, sample)
    statistic = (observed - expected) / sqrt(variance)
    return Test(name, of, sample, statistic, None, normal_p(statistic))


def chi_square_p(statistic: float, freedom: int) -> float:
    """How likely chi-square with so many degrees of freedom is to lie as far out, on either side."""
    from mpmath import gammainc, inf  # it takes long to load, and every process of the house loads this module

    beyond = gammainc(freedom / 2, statistic / 2, inf, regularized=True)
    below = gammainc(freedom / 2, 0, statistic / 2, regularized=True)
    return float(min(2 * beyond, 2 * below, 1))


def normal_p(statistic: float) -> float:
    """How likely a normal deviate is to lie as far out, on either side."""
    return erfc(abs(statistic) / sqrt(2))


@dataclass(frozen=True)
class Runs:
    """A row of things of two kinds: how many there are of each, and in how many runs of one kind they came."""

    ones: int
    others: int
    runs: int

    @property
    def expected(self) -> float:
        """How many runs chance gives on average (Wald and Wolfowitz)."""
        both = self.ones + self.others
        return 1 + 2 * self.ones * self.others / both if both else 0.0

    @property
    def variance(self) -> float:
        """The variance of their number."""
        both, product = self.ones + self.others, 2 * self.ones * self.others
        return product * (product - both) / (both**2 * (both - 1)) if both > 1 else 0.0


def count_runs(row: Sequence[bool]) -> Runs:
    """Count the runs of a row."""
    changes = sum(before is not after for before, after in pairwise(row))
    return Runs(sum(row), len(row) - sum(row), changes + 1 if row else 0)


LEAST_VARIANCE: Final = 10.0
"""Of a number of runs, from which on it is as good as normal."""


def of_runs(name: str, of: str, rows: Sequence[Runs]) -> Test:
    """The runs of many rows together, so that no row has to be stitched to the next."""
    sample = sum(row.ones + row.others for row in rows)
    variance = sum(row.variance for row in rows)
    if variance < LEAST_VARIANCE:
        return too_few(name, of, sample)
    observed, expected = sum(row.runs for row in rows), sum(row.expected for row in rows)
    return of_sum(name, of, sample, observed=observed, expected=expected, variance=variance)


def failing_together(tests: Sequence[Test], level: float = LEVEL) -> tuple[Test, ...]:
    """Return the tests that fail though there are so many of them (Holm): where all is as it should be, any does in at
    most *level* of all cases, however the tests hang together.
    """
    made = sorted((test for test in tests if test.p is not None), key=lambda test: test.p or 0.0)
    failing = []
    for place, test in enumerate(made):
        if test.p is None or test.p >= level / (len(made) - place):
            break
        failing.append(test)
    return tuple(failing)
