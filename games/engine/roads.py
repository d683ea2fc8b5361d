"""Roads: the results of a shoe so far, drawn as the trade draws them on a board six rows high.

They are a record and nothing more: each coup is dealt from the cards that are left, whatever any road looks like.

The *bead plate* has a bead for every coup. The *big road* has a circle for every win: a streak goes down its column,
and the other side's begins the next. Ties stand on the win before them. The three *derived roads* say how regular the
big road is, red for regular and blue for not, and look so many of its columns back: *big eye boy* one, *small road*
two, *cockroach pig* three.

Boards grow to the right without end; `last_columns` is what a narrow one shows.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Final, Generic, NamedTuple, TypeVar

from games.engine.coup import Coup, Outcome, Pairing

ROWS: Final = 6

BIG_EYE_BOY: Final = 1
SMALL_ROAD: Final = 2
COCKROACH_PIG: Final = 3

T = TypeVar("T")


class Bead(NamedTuple):
    """What a road remembers of a coup."""

    outcome: Outcome
    player_pair: bool = False
    banker_pair: bool = False

    @classmethod
    def of(cls, coup: Coup) -> Bead:
        """The bead of a coup."""
        return cls(coup.outcome, coup.player_pair is not Pairing.NONE, coup.banker_pair is not Pairing.NONE)


class Win(NamedTuple):
    """A circle of the big road."""

    bead: Bead | None
    """None where there have been only ties so far: they wait for the first win in its place."""
    ties: int
    """How many coups in a row were tied after it; at the first win, those before it count too."""


class Regularity(StrEnum):
    """What a derived road says of a win: the colours mean no side."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Mark(Generic[T]):
    """Something drawn on a board, both ways counted from 0."""

    column: int
    row: int
    what: T


class Roads(NamedTuple):
    """All five, each in the order its marks were drawn."""

    bead_plate: tuple[Mark[Bead], ...]
    big_road: tuple[Mark[Win], ...]
    big_eye_boy: tuple[Mark[Regularity], ...]
    small_road: tuple[Mark[Regularity], ...]
    cockroach_pig: tuple[Mark[Regularity], ...]

    @classmethod
    def of(cls, beads: Sequence[Bead]) -> Roads:
        """The roads of coups in the order they were dealt."""
        return cls(
            bead_plate(beads),
            big_road(beads),
            derived_road(beads, BIG_EYE_BOY),
            derived_road(beads, SMALL_ROAD),
            derived_road(beads, COCKROACH_PIG),
        )


def bead_plate(beads: Sequence[Bead]) -> tuple[Mark[Bead], ...]:
    """Every coup, column after column from the top."""
    return tuple(Mark(*divmod(number, ROWS), bead) for number, bead in enumerate(beads))


def big_road(beads: Sequence[Bead]) -> tuple[Mark[Win], ...]:
    """Every win, streak beside streak, each with the ties that stand on it."""
    wins: list[Win] = []
    for bead in beads:
        if bead.outcome is Outcome.TIE:
            last = wins.pop() if wins else Win(None, 0)
            wins.append(last._replace(ties=last.ties + 1))
        elif wins and wins[-1].bead is None:
            wins[-1] = wins[-1]._replace(bead=bead)
        else:
            wins.append(Win(bead, 0))
    places = _places(win.bead.outcome if win.bead else None for win in wins)
    return tuple(Mark(*place, win) for place, win in zip(places, wins, strict=True))


def derived_road(beads: Sequence[Bead], back: int) -> tuple[Mark[Regularity], ...]:
    """How regular each win was, beside what stands so many columns back."""
    said = list(_regularities(streaks(beads), back))
    return tuple(Mark(*place, what) for place, what in zip(_places(said), said, strict=True))


def streaks(beads: Iterable[Bead]) -> tuple[int, ...]:
    """How many times in a row either side won: the columns of the big road, as deep as they would be without a bottom.
    Ties break no streak.
    """
    wins = (bead.outcome for bead in beads if bead.outcome is not Outcome.TIE)
    return tuple(len(list(streak)) for _, streak in groupby(wins))


def last_columns(road: Sequence[Mark[T]], columns: int) -> tuple[Mark[T], ...]:
    """As much of a road as a board of so many columns shows: its end, whole columns at a time."""
    hidden = max((mark.column + 1 for mark in road), default=0) - columns
    if hidden <= 0:
        return tuple(road)
    return tuple(Mark(mark.column - hidden, mark.row, mark.what) for mark in road if mark.column >= hidden)


def _regularities(lengths: Sequence[int], back: int) -> Iterator[Regularity]:
    """Down a column: blue where the mark is the first one deeper than the column so far back, red anywhere else. At the
    head of a column: red where the two columns before it that lie so far apart are equally deep. Nothing is said before
    there is a column to look at.
    """
    for column, length in enumerate(lengths):
        if column > back:
            yield _red_if(lengths[column - 1] == lengths[column - 1 - back])
        if column >= back:
            for row in range(1, length):
                yield _red_if(row != lengths[column - back])


def _red_if(regular: bool) -> Regularity:
    return Regularity.RED if regular else Regularity.BLUE


def _places(marks: Iterable[Hashable]) -> Iterator[tuple[int, int]]:
    """Column and row of each mark: equal ones go down, another begins the next column.

    At the bottom of the board, or above what already stands there, a streak turns right and keeps to that row: a
    dragon's tail. Where tails have taken the head of a column, the next free one is begun.
    """
    taken: set[tuple[int, int]] = set()
    head = column = row = -1
    turned = False
    before: Hashable = object()
    for mark in marks:
        if mark != before:
            head += 1
            while (head, 0) in taken:
                head += 1
            column, row, turned = head, 0, False
        else:
            turned = turned or row + 1 == ROWS or (column, row + 1) in taken
            column, row = (column + 1, row) if turned else (column, row + 1)
        taken.add((column, row))
        before = mark
        yield column, row
