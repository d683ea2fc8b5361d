"""Roads as drawings: SVG made here, coloured by `static/css/roads.css`, the same for everybody who reads one language.

Nothing is told by colour alone. Beads and circles bear the first letter of their side; pairs have a corner each,
Player's below on the right, Banker's above on the left; what is red in a derived road is round or leans right, what is
blue is square or leans left.

Titles and names are the caller's, in the reader's language.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import groupby
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from games.engine.coup import Outcome
from games.engine.roads import ROWS, Bead, Mark, Regularity, Win, last_columns

CELL: Final = 24
SMALL_CELL: Final = 12
"""A mark of a derived road takes a quarter of a big one's room."""


class Shape(Enum):
    """What a derived road is drawn with."""

    RINGS = "rings"
    DOTS = "dots"
    SLASHES = "slashes"


def bead_plate(road: Sequence[Mark[Bead]], *, columns: int, title: str, names: Mapping[Outcome, str]) -> SafeString:
    """The end of a bead plate, on a board so wide. It is described by how often each side won."""
    shown = last_columns(road, columns)
    counted = Counter(mark.what.outcome for mark in shown)
    said = _said((names[outcome], counted[outcome]) for outcome in Outcome)
    marks = "".join(_at(mark, CELL, _bead(mark.what, names)) for mark in shown)
    return _board("beads", columns, CELL, marks, title, said)


def big_road(road: Sequence[Mark[Win]], *, columns: int, title: str, names: Mapping[Outcome, str]) -> SafeString:
    """The end of a big road, on a board so wide. It is described streak by streak."""
    shown = last_columns(road, columns)
    won = [mark.what.bead.outcome for mark in shown if mark.what.bead]
    said = _said((names[outcome], len(list(streak))) for outcome, streak in groupby(won))
    marks = "".join(_at(mark, CELL, _win(mark.what, names)) for mark in shown)
    return _board("big", columns, CELL, marks, title, said)


def derived_road(
    road: Sequence[Mark[Regularity]], *, columns: int, title: str, names: Mapping[Regularity, str], shape: Shape
) -> SafeString:
    """The end of a derived road, on a board so wide. It is described run by run."""
    shown = last_columns(road, columns)
    said = _said((names[what], len(list(run))) for what, run in groupby(mark.what for mark in shown))
    marks = "".join(_at(mark, SMALL_CELL, _DERIVED[shape, mark.what]) for mark in shown)
    return _board(shape.value, columns, SMALL_CELL, marks, title, said)


_DERIVED: Final = {
    (Shape.RINGS, Regularity.RED): '<circle class="road__red" cx="6" cy="6" r="4"/>',
    (Shape.RINGS, Regularity.BLUE): '<rect class="road__blue" x="2.5" y="2.5" width="7" height="7"/>',
    (Shape.DOTS, Regularity.RED): '<circle class="road__red" cx="6" cy="6" r="4"/>',
    (Shape.DOTS, Regularity.BLUE): '<rect class="road__blue" x="2.5" y="2.5" width="7" height="7"/>',
    (Shape.SLASHES, Regularity.RED): '<path class="road__red" d="M2 10 10 2"/>',
    (Shape.SLASHES, Regularity.BLUE): '<path class="road__blue" d="M2 2 10 10"/>',
}


def _bead(bead: Bead, names: Mapping[Outcome, str]) -> str:
    side = bead.outcome.value
    disc = f'<circle class="road__bead road__bead--{side}" cx="12" cy="12" r="10"/>'
    return f'{disc}<text class="road__letter" x="12" y="16">{_letter(bead, names)}</text>{_pairs(bead)}'


def _win(win: Win, names: Mapping[Outcome, str]) -> str:
    tie = '<path class="road__tie" d="M2 22 22 2"/>' if win.ties else ""
    ties = f'<text class="road__ties" x="23" y="9">{win.ties}</text>' if win.ties > 1 else ""
    if win.bead is None:
        return tie + ties
    ring = f'<circle class="road__ring road__ring--{win.bead.outcome.value}" cx="12" cy="12" r="9"/>'
    letter = f'<text class="road__side" x="12" y="16">{_letter(win.bead, names)}</text>'
    return ring + tie + letter + _pairs(win.bead) + ties


def _pairs(bead: Bead) -> str:
    player = '<circle class="road__pair road__pair--player" cx="20" cy="20" r="3"/>' if bead.player_pair else ""
    banker = '<circle class="road__pair road__pair--banker" cx="4" cy="4" r="3"/>' if bead.banker_pair else ""
    return player + banker


def _letter(bead: Bead, names: Mapping[Outcome, str]) -> str:
    return escape(names[bead.outcome][0].upper())


def _at(mark: Mark[Bead] | Mark[Win] | Mark[Regularity], cell: int, drawn: str) -> str:
    return f'<g transform="translate({mark.column * cell} {mark.row * cell})">{drawn}</g>'


def _said(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)


def _board(kind: str, columns: int, cell: int, marks: str, title: str, said: str) -> SafeString:
    wide, high = columns * cell, ROWS * cell
    across = "".join(f"M0 {row * cell}H{wide}" for row in range(ROWS + 1))
    down = "".join(f"M{column * cell} 0V{high}" for column in range(columns + 1))
    return mark_safe(  # noqa: S308  names and titles are escaped; all else is numbers and our own markup
        f'<svg class="road road--{kind}" viewBox="-1 -1 {wide + 2} {high + 2}" width="{wide}" height="{high}" '
        f'role="img"><title>{escape(title)}</title><desc>{escape(said)}</desc>'
        f'<path class="road__grid" d="{across}{down}"/>{marks}</svg>'
    )
