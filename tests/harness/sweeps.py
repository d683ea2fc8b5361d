"""Sweeps: the same tests with more parameters, run by ``make test-all``.

`sweep` marks parameters that only the sweep runs, and ``@pytest.mark.sweep`` marks a whole test.
``pytest --sweep`` runs everything; without the option, sweep parameters and sweep tests are not even
collected. A run of some files counts its sweep tests as "deselected", not as skipped.

``make test`` shows pages in German and in one other language, `SECOND_LANGUAGE`, which the day
decides. The header of a run prints both; ``SABOT_TEST_DAY=2026-11-27 make test`` repeats the choice
of that day.

``@pytest.mark.turns(3)`` is for details that are dear to look at: a whole run of ``make test`` sees each of these tests
on one day in three, some every day. ``--sweep``, and a run of named files or tests, has all of them.
"""

import os
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import pytest
from _pytest.mark.structures import ParameterSet
from hypothesis import settings

IS_SWEEP = False  # set before test modules are imported
# The workers of xdist inherit the variable, so they collect the same cases, even around midnight.
DAY = os.environ.setdefault("SABOT_TEST_DAY", datetime.now(UTC).date().isoformat())
TURN = date.fromisoformat(DAY).toordinal()  # grows by one each day

T = TypeVar("T")

LONGEST_LANGUAGE = "de"  # long words show layouts that are too narrow
LANGUAGES = ("en", "sv", "da", "ro", LONGEST_LANGUAGE)
SECOND_LANGUAGE = LANGUAGES[TURN % (len(LANGUAGES) - 1)]
SHOWN_LANGUAGES = (LONGEST_LANGUAGE, SECOND_LANGUAGE)


def sweep(cases: Iterable[Any], always: Collection[Any] | Callable[[Any], bool]) -> list[Any]:
    """Return *cases* for parametrize, marked as sweep cases except those in *always*.

    For `pytest.mark.parametrize`. *always* holds the cases of ``make test``, or is a function that
    says whether a case is one of them. Raises ValueError if no case is left for ``make test``, or
    if *always* names a case that does not exist.
    """
    listed = list(cases)
    chosen = [case for case in listed if (always(case) if callable(always) else case in always)]
    if not chosen:
        raise ValueError("no case is left for `make test`")
    if not callable(always) and len(chosen) < len(always):
        raise ValueError(f"not among the cases: {[case for case in always if case not in listed]}")
    return [case if case in chosen else _only_swept(case) for case in listed]


def sample(cases: Iterable[Any], number: int) -> list[Any]:
    """Return *cases* as `sweep` does; ``make test`` runs *number* of them, different ones each day.

    For cases that differ only in their input, such as hostile values of one field.
    """
    listed = list(cases)
    chosen = drawn(range(len(listed)), number)
    return [case if place in chosen else _only_swept(case) for place, case in enumerate(listed)]


def drawn(cases: Sequence[T], number: int) -> list[T]:
    """Return *number* of the *cases*, spread over the list, different ones each day.

    Raises ValueError if there are not more cases than that.
    """
    if not 0 < number < len(cases):
        raise ValueError(f"{number} of {len(cases)} cases is no sample")
    return [cases[(TURN + place * len(cases) // number) % len(cases)] for place in range(number)]


def sweep_languages(codes: Iterable[str]) -> list[Any]:
    """Return language codes as `sweep` does.

    ``make test`` runs those of `SHOWN_LANGUAGES`, plus another one if the day's is not among
    *codes*.
    """
    listed = list(codes)
    others = [code for code in listed if code != LONGEST_LANGUAGE]
    second = SECOND_LANGUAGE if SECOND_LANGUAGE in others else others[TURN % len(others)]
    return sweep(listed, {LONGEST_LANGUAGE, second})


def in_turn(values: Collection[T], number: int, is_sweep: bool) -> list[T]:
    """Return all *values* in a sweep, otherwise the next one for each *number*."""
    return list(values) if is_sweep else [list(values)[number % len(values)]]


def share(values: Iterable[T], parts: int) -> list[T]:
    """Return all *values* in a sweep, otherwise one in *parts*, different ones each day."""
    return list(values) if IS_SWEEP else list(values)[TURN % parts :: parts]


def examples(short: int, full: int) -> int:
    """Return the number of Hypothesis examples: *short* in ``make test``, *full* in the sweep."""
    return full if IS_SWEEP else short


def pytest_configure(config: pytest.Config) -> None:
    """Set IS_SWEEP from the command line."""
    global IS_SWEEP  # noqa: PLW0603  (test modules read it on import)
    IS_SWEEP = config.getoption("sweep")
    settings.load_profile("sweep" if IS_SWEEP else "house")


def is_of_today(name: str, parts: int) -> bool:
    """Return whether a test with this name has its turn today, as each has within *parts* days. A test that is added or
    removed changes no other's turn.
    """
    return zlib.crc32(name.encode()) % parts == TURN % parts


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests marked with `turns` on other days than theirs, when everything runs."""
    if IS_SWEEP or config.args != config.getini("testpaths"):
        return
    marked = ((item, item.get_closest_marker("turns")) for item in items)
    others = {item for item, marker in marked if marker and not is_of_today(item.nodeid, *marker.args)}
    config.hook.pytest_deselected(items=list(others))
    items[:] = [item for item in items if item not in others]


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[Any] | None:
    """Skip sweep tests and classes when all tests are collected. Otherwise they are collected and deselected, so that
    pytest says why a test that was named does not run.
    """
    config = collector.config
    if IS_SWEEP or config.args != config.getini("testpaths") or not name.casefold().startswith("test"):
        return None
    marks = getattr(obj, "pytestmark", ())
    return [] if isinstance(marks, list) and any(key.name == "sweep" for key in marks) else None


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Generator[None]:
    """Drop sweep parameters unless they will run: each worker would take seconds to collect them.

    At least one case stays, because pytest takes a test without cases for one without parameters.
    """
    yield
    if IS_SWEEP:
        return
    calls = metafunc._calls
    if metafunc.definition.get_closest_marker("sweep"):
        del calls[1:]
    else:
        calls[:] = [call for call in calls if all(key.name != "sweep" for key in call.marks)] or calls[:1]


@pytest.fixture(scope="session")
def is_sweep() -> bool:
    """Return True if a test should run all steps instead of some."""
    return IS_SWEEP


@pytest.fixture(scope="session")
def languages(is_sweep: bool) -> tuple[str, ...]:
    """Return the languages in which pages are checked."""
    return LANGUAGES if is_sweep else SHOWN_LANGUAGES


def pytest_report_header() -> str:
    """Print the languages of this run and how to repeat it."""
    return f"languages of pages: {', '.join(SHOWN_LANGUAGES)} (SABOT_TEST_DAY={DAY})"


def _only_swept(case: Any) -> Any:
    """Mark a case for the sweep only; a tuple is several arguments of the test."""
    if isinstance(case, ParameterSet):
        return pytest.param(*case.values, marks=(*case.marks, pytest.mark.sweep), id=case.id)
    return pytest.param(*(case if type(case) is tuple else (case,)), marks=pytest.mark.sweep)
