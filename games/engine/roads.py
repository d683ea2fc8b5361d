"""Roads: the results of a shoe on boards of six rows, drawn as casinos draw them.

Roads are only a record. Each coup is dealt from the cards that are left in the shoe.

The *bead plate* has a bead for every coup. The *big road* has a circle for every win: a streak goes
down its column, and a win of the other side starts the next column. Ties are marked on the
preceding win. The three *derived roads* show how regular the big road is: red is regular, blue is
not. They compare with earlier columns: *big eye boy* one column back, *small road* two, *cockroach
pig* three. The *next-road ask* is the mark that each of them would get if Player or Banker won next.

A *good road* is a regular shape of the latest streaks for which players have a name. It describes
the past. It says nothing about the next coup.

Boards grow to the right without limit; `last_columns` returns the part that fits a narrow board.
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

LONG: Final = 4
"""Wins in a row that make a long Banker or a long Player."""

T = TypeVar("T")


class Bead(NamedTuple):
    """The data of a coup that roads use."""

    outcome: Outcome
    player_pair: bool = False
    banker_pair: bool = False

    @classmethod
    def of(cls, coup: Coup) -> Bead:
        """Return the bead of a coup."""
        return cls(coup.outcome, coup.player_pair is not Pairing.NONE, coup.banker_pair is not Pairing.NONE)


class Win(NamedTuple):
    """A circle of the big road."""

    bead: Bead | None
    """None if there were only ties so far. The first win then takes this place."""
    ties: int
    """The number of ties in a row after the win. The first win also has the ties before it."""


class Regularity(StrEnum):
    """The colour of a mark on a derived road. It does not stand for a side."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class RoadEntry(Generic[T]):
    """A mark on a board. Column and row are counted from 0."""

    column: int
    row: int
    what: T


class GoodRoad(StrEnum):
    """A regular shape of the latest streaks, the most striking first."""

    DRAGON_TAIL = "dragon_tail"
    """The streak is seven wins or longer, so that it turns right on an empty board."""
    LONG_BANKER = "long_banker"
    """Banker has won four to six times in a row."""
    LONG_PLAYER = "long_player"
    """Player has won four to six times in a row."""
    PING_PONG = "ping_pong"
    """At least four streaks of one win."""
    TWO_TWO = "two_two"
    """At least three streaks of two wins."""
    ONE_TWO = "one_two"
    """At least four streaks of one and two wins in turn."""
    PAIRS = "pairs"
    """At least four streaks of two or more wins."""


class NextMarks(NamedTuple):
    """The mark that a derived road would get; None where it would get none."""

    if_player: Regularity | None
    if_banker: Regularity | None


class Roads(NamedTuple):
    """All five roads. Each lists its marks in the order in which they are drawn."""

    bead_plate: tuple[RoadEntry[Bead], ...]
    big_road: tuple[RoadEntry[Win], ...]
    big_eye_boy: tuple[RoadEntry[Regularity], ...]
    small_road: tuple[RoadEntry[Regularity], ...]
    cockroach_pig: tuple[RoadEntry[Regularity], ...]

    @classmethod
    def of(cls, beads: Sequence[Bead]) -> Roads:
        """Return the roads of these coups, given in dealing order."""
        return cls(
            bead_plate(beads),
            big_road(beads),
            derived_road(beads, BIG_EYE_BOY),
            derived_road(beads, SMALL_ROAD),
            derived_road(beads, COCKROACH_PIG),
        )


def bead_plate(beads: Sequence[Bead]) -> tuple[RoadEntry[Bead], ...]:
    """Return every coup, column by column from the top."""
    return tuple(RoadEntry(*divmod(number, ROWS), bead) for number, bead in enumerate(beads))


def big_road(beads: Sequence[Bead]) -> tuple[RoadEntry[Win], ...]:
    """Return every win, streak by streak, with the ties marked on it."""
    wins: list[Win] = []
    for bead in beads:
        if bead.outcome is Outcome.TIE:
            last = wins.pop() if wins else Win(None, 0)
            wins.append(last._replace(ties=last.ties + 1))
        elif wins and wins[-1].bead is None:
            wins[-1] = wins[-1]._replace(bead=bead)
        else:
            wins.append(Win(bead, 0))
    positions = _road_positions(win.bead.outcome if win.bead else None for win in wins)
    return tuple(RoadEntry(*position, win) for position, win in zip(positions, wins, strict=True))


def derived_road(beads: Sequence[Bead], back: int) -> tuple[RoadEntry[Regularity], ...]:
    """Return how regular each win is, compared with the column *back* columns before."""
    said = list(_regularities(streaks(beads), back))
    return tuple(RoadEntry(*place, what) for place, what in zip(_road_positions(said), said, strict=True))


def streaks(beads: Iterable[Bead]) -> tuple[int, ...]:
    """Return the length of each streak of one side: the columns of the big road without a bottom.

    Ties do not end a streak.
    """
    wins = (bead.outcome for bead in beads if bead.outcome is not Outcome.TIE)
    return tuple(len(list(streak)) for _, streak in groupby(wins))


def next_marks(beads: Sequence[Bead], back: int) -> NextMarks:
    """Return the mark of the derived road for each winner of the next coup. A tie adds none."""
    lengths, last = streaks(beads), _last_winner(beads)
    column = len(lengths)  # that a change of side would begin
    again = _red_if(lengths[-1] != lengths[column - 1 - back]) if column > back else None
    change = _red_if(lengths[-1] == lengths[-1 - back]) if column > back else None
    return NextMarks(*(again if side is last else change for side in (Outcome.PLAYER, Outcome.BANKER)))


def good_road(beads: Sequence[Bead]) -> GoodRoad | None:
    """Return the good road of the latest streaks; None if they have no such shape.

    A streak that may still grow into its shape does not break it.
    """
    lengths = streaks(beads)
    if not lengths:
        return None
    if lengths[-1] > ROWS:
        return GoodRoad.DRAGON_TAIL
    if lengths[-1] >= LONG:
        return GoodRoad.LONG_BANKER if _last_winner(beads) is Outcome.BANKER else GoodRoad.LONG_PLAYER
    for road, shape, at_least in _SHAPES:
        if _repeats(lengths, shape, at_least):
            return road
    paired = lengths[-5:] if lengths[-1] > 1 else lengths[-5:-1]
    return GoodRoad.PAIRS if len(paired) >= 4 and min(paired[-4:]) > 1 else None


_SHAPES: Final = (
    (GoodRoad.PING_PONG, (1,), 4),
    (GoodRoad.TWO_TWO, (2,), 3),
    (GoodRoad.ONE_TWO, (1, 2), 4),
    (GoodRoad.ONE_TWO, (2, 1), 4),
)
"""The lengths that repeat, from the latest streak backwards, and how many streaks it takes."""


def _repeats(lengths: Sequence[int], shape: Sequence[int], at_least: int) -> bool:
    latest = lengths[-1]
    wanted = [shape[number % len(shape)] for number in range(at_least + 1)]
    if latest < wanted[0]:  # it may still grow
        return len(lengths) > at_least and list(reversed(lengths[-at_least - 1 : -1])) == wanted[1:]
    return len(lengths) >= at_least and list(reversed(lengths[-at_least:])) == wanted[:-1]


def _last_winner(beads: Sequence[Bead]) -> Outcome | None:
    return next((bead.outcome for bead in reversed(beads) if bead.outcome is not Outcome.TIE), None)


def last_columns(road: Sequence[RoadEntry[T]], columns: int) -> tuple[RoadEntry[T], ...]:
    """Return the end of a road that fits a board with this number of columns."""
    hidden = max((entry.column + 1 for entry in road), default=0) - columns
    if hidden <= 0:
        return tuple(road)
    return tuple(RoadEntry(entry.column - hidden, entry.row, entry.what) for entry in road if entry.column >= hidden)


def _regularities(lengths: Sequence[int], back: int) -> Iterator[Regularity]:
    """Yield the colour of each mark of a derived road.

    Below the head of a column, a mark is blue if it is the first one deeper than the column *back*
    columns before, else red. At the head of a column, it is red if the preceding column and the
    column *back* columns before that are equally deep. There is no mark until the big road has
    enough columns.
    """
    for column, length in enumerate(lengths):
        if column > back:
            yield _red_if(lengths[column - 1] == lengths[column - 1 - back])
        if column >= back:
            for row in range(1, length):
                yield _red_if(row != lengths[column - back])


def _red_if(regular: bool) -> Regularity:
    return Regularity.RED if regular else Regularity.BLUE


def _road_positions(entries: Iterable[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield the column and row of each mark.

    Equal marks go down; a different mark starts the next column.

    At the bottom of the board, or above an occupied cell, a streak turns right and stays in that
    row (a dragon tail). If tails occupy the head of a column, the next free column is used.
    """
    taken: set[tuple[int, int]] = set()
    head = column = row = -1
    turned = False
    before: Hashable = object()
    for entry in entries:
        if entry != before:
            head += 1
            while (head, 0) in taken:
                head += 1
            column, row, turned = head, 0, False
        else:
            turned = turned or row + 1 == ROWS or (column, row + 1) in taken
            column, row = (column + 1, row) if turned else (column, row + 1)
        taken.add((column, row))
        before = entry
        yield column, row
