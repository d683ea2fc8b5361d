"""The actions that move money, each with its set-up, its possible partial effects, and its repetition."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.concurrency.books import Counts
from tests.harness.killed import Act

NOTHING: Counts = {}


def _nothing() -> None:
    """There is nothing left to do."""


@dataclass(frozen=True)
class Action:
    """Something that can be done now. Done again, it does nothing more: as a form sent twice, a message told twice, a
    job run once more.

    It passes through *stages*, differences of `books.counts`: the first is nothing, the last is all of it; each is one
    transaction further. *finish* clears away what would be in the way of the next one.
    """

    do: Act
    stages: tuple[Counts, ...]
    finish: Act = _nothing


def in_one(do: Act, effect: Counts, finish: Act = _nothing) -> Action:
    """Return an action of one transaction."""
    return Action(do, (NOTHING, effect), finish)


Scene = Callable[[], Callable[[], Action]]  # makes the people once; what it returns sets up one action after the other


def unless(already: type[Exception] | tuple[type[Exception], ...], do: Act) -> Act:
    """Do something that is refused with these errors once it has been done."""
    return partial(_try, already, do)


def _try(already: type[Exception] | tuple[type[Exception], ...], do: Act) -> None:
    try:
        do()
    except already:
        return
