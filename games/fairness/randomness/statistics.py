"""Statistical tests: p-values of counts, sums and runs, and the joint result of several tests.

All tests are two-sided: counts that are too even are as wrong as counts that are too uneven.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erfc, sqrt
from typing import Final

LEVEL: Final = 0.01
"""A test at 99 % confidence fails if its p-value is below this (GLI-19 v3.0, 3.2–3.3)."""

LEAST_EXPECTED: Final = 5
"""The usual rule for chi-square: with a lower expected count, the distribution is not approximated
well enough.
"""


@dataclass(frozen=True)
class Test:
    """One test. *sample* is the number of *of*, such as cards or rounds.

    *statistic*, *freedom* and *p* are None if the sample is too small. *freedom* is None for a
    normal statistic.
    """

    name: str
    of: str
    sample: int
    statistic: float | None = None
    freedom: int | None = None
    p: float | None = None

    @property
    def fails(self) -> bool:
        """True if the test alone fails at 99 %."""
        return self.p is not None and self.p < LEVEL


def too_few(name: str, of: str, sample: int) -> Test:
    """Return a test without a result because the sample is too small."""
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
    """Return the chi-square test of counts.

    *freedom* defaults to the number of cells less one. *spread* is the variance relative to
    independent draws; draws without replacement have less.
    """
    if min(expected) < LEAST_EXPECTED or spread <= 0:
        return too_few(name, of, sample)
    statistic = sum((seen - due) ** 2 / due for seen, due in zip(observed, expected, strict=True)) / spread
    freedom = len(observed) - 1 if freedom is None else freedom
    return Test(name, of, sample, statistic, freedom, chi_square_p(statistic, freedom))


def of_sum(name: str, of: str, sample: int, *, observed: float, expected: float, variance: float) -> Test:
    """Return the test of a sum of many small parts: its distance from the expected sum in standard
    deviations.
    """
    if variance <= 0:
        return too_few(name, of, sample)
    statistic = (observed - expected) / sqrt(variance)
    return Test(name, of, sample, statistic, None, normal_p(statistic))


def chi_square_p(statistic: float, freedom: int) -> float:
    """Return the two-sided p-value of chi-square with this number of degrees of freedom."""
    from mpmath import gammainc, inf  # slow to import, and every process imports this module

    beyond = gammainc(freedom / 2, statistic / 2, inf, regularized=True)
    below = gammainc(freedom / 2, 0, statistic / 2, regularized=True)
    return float(min(2 * beyond, 2 * below, 1))


def normal_p(statistic: float) -> float:
    """Return the two-sided p-value of a normal deviate."""
    return erfc(abs(statistic) / sqrt(2))


@dataclass(frozen=True)
class Runs:
    """A sequence of two kinds of items: the number of each kind, and the number of runs."""

    ones: int
    others: int
    runs: int

    @property
    def expected(self) -> float:
        """The expected number of runs (Wald and Wolfowitz)."""
        both = self.ones + self.others
        return 1 + 2 * self.ones * self.others / both if both else 0.0

    @property
    def variance(self) -> float:
        """The variance of the number of runs."""
        both, product = self.ones + self.others, 2 * self.ones * self.others
        return product * (product - both) / (both**2 * (both - 1)) if both > 1 else 0.0


def count_runs(row: Sequence[bool]) -> Runs:
    """Count the runs of a sequence."""
    changes = sum(before is not after for before, after in pairwise(row))
    return Runs(sum(row), len(row) - sum(row), changes + 1 if row else 0)


LEAST_VARIANCE: Final = 10.0
"""The variance of the number of runs from which on the normal approximation is good enough."""


def of_runs(name: str, of: str, rows: Sequence[Runs]) -> Test:
    """Return the test of the runs of several sequences together, without joining the sequences."""
    sample = sum(row.ones + row.others for row in rows)
    variance = sum(row.variance for row in rows)
    if variance < LEAST_VARIANCE:
        return too_few(name, of, sample)
    observed, expected = sum(row.runs for row in rows), sum(row.expected for row in rows)
    return of_sum(name, of, sample, observed=observed, expected=expected, variance=variance)


def failing_together(tests: Sequence[Test], level: float = LEVEL) -> tuple[Test, ...]:
    """Return the tests that fail jointly (Holm's method).

    If all hypotheses are true, the probability of any failure is at most *level*, whatever the
    dependence between tests.
    """
    made = sorted((test for test in tests if test.p is not None), key=lambda test: test.p or 0.0)
    failing = []
    for place, test in enumerate(made):
        if test.p is None or test.p >= level / (len(made) - place):
            break
        failing.append(test)
    return tuple(failing)
