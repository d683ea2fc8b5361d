"""Sweeps: the same tests with more parameters, run by ``make test-all``.

`sweep` marks parameters that only the sweep runs, and ``@pytest.mark.sweep`` marks a whole test. ``pytest --sweep``
runs everything; without the option, sweep cases are not selected (they are counted as "deselected", not as skipped).
"""

import os
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest

# The workers of xdist inherit the environment: they collect the same cases, also around midnight.
DAY = int(os.environ.setdefault("SABOT_TEST_DAY", str(datetime.now(UTC).toordinal())))


def sweep(cases: Iterable[Any], always: Collection[Any] | Callable[[Any], bool]) -> list[Any]:
    """Return *cases* for `pytest.mark.parametrize`, each marked as a sweep case unless it belongs to *always*.

    *always* holds the cases of ``make test``, or is a function that says whether a case is one of them. Raises
    ValueError if no case is left for ``make test``, or if *always* names a case that does not exist.
    """
    listed = list(cases)
    chosen = [case for case in listed if (always(case) if callable(always) else case in always)]
    if not chosen:
        raise ValueError("no case is left for `make test`")
    if not callable(always) and len(chosen) < len(always):
        raise ValueError(f"not among the cases: {[case for case in always if case not in listed]}")
    return [case if case in chosen else pytest.param(*_as_values(case), marks=pytest.mark.sweep) for case in listed]


def sweep_languages(codes: Iterable[str]) -> list[Any]:
    """Return language codes as `sweep` does; ``make test`` runs German and one other, drawn by day."""
    listed = list(codes)
    others = sorted(code for code in listed if code != "de")
    return sweep(listed, {"de", others[DAY % len(others)]})


def examples(config: pytest.Config, short: int, full: int) -> int:
    """Return how many examples Hypothesis runs: *short* in ``make test``, *full* in the sweep."""
    return full if config.getoption("sweep") else short


def _as_values(case: Any) -> tuple[Any, ...]:
    """Return the values of one case; a tuple is several arguments, as in `pytest.mark.parametrize`."""
    return case if type(case) is tuple else (case,)
