"""Draw roads as SVG, coloured by `static/css/roads.css`; identical for all readers of one language.

No information is given by colour alone. Beads and circles have the first letter of their side.
Pairs are in the corners: Player's lower right, Banker's upper left. Red marks of a derived road are
round or lean right; blue ones are square or lean left.

Titles and names are the caller's, in the reader's language.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain, groupby
from typing import Final

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from games.engine.coup import Outcome
from games.engine.roads import ROWS, Bead, Regularity, RoadEntry, Win, last_columns

CELL: Final = 24
SMALL_CELL: Final = 12
"""A mark of a derived road takes a quarter of a big one's room."""


class Shape(Enum):
    """Shape of the marks of a derived road."""

    RINGS = "rings"
    DOTS = "dots"
    SLASHES = "slashes"


def bead_plate(
    road: Sequence[RoadEntry[Bead]], *, columns: int, title: str, names: Mapping[Outcome, str]
) -> SafeString:
    """Draw the end of a bead plate of *columns* columns. Its description says how often each side won."""
    shown = last_columns(road, columns)
    counted = Counter(entry.what.outcome for entry in shown)
    said = _said((names[outcome], counted[outcome]) for outcome in Outcome)
    discs = "".join(
        _path(
            f"road__bead--{outcome}", (f"M{_at(entry, 12, 12)}h0" for entry in shown if entry.what.outcome is outcome)
        )
        for outcome in Outcome
    )
    letters = _letters("road__letter", ((entry, entry.what) for entry in shown), names)
    drawing = discs + letters + _pairs((entry, entry.what) for entry in shown)
    return _board("beads", columns, CELL, drawing, title, said)


def big_road(road: Sequence[RoadEntry[Win]], *, columns: int, title: str, names: Mapping[Outcome, str]) -> SafeString:
    """Draw the end of a big road of *columns* columns. Its description lists the streaks."""
    shown = last_columns(road, columns)
    wins = [(entry, entry.what.bead) for entry in shown if entry.what.bead]
    said = _said((names[outcome], len(list(streak))) for outcome, streak in groupby(bead.outcome for _, bead in wins))
    rings = "".join(
        _path(f"road__ring--{side}", (f"M{_at(entry, 3, 12)}{RING}" for entry, bead in wins if bead.outcome is side))
        for side in (Outcome.PLAYER, Outcome.BANKER)
    )
    ties = _path("road__tie", (f"M{_at(entry, 2, 22)}l20-20" for entry in shown if entry.what.ties))
    counts = "".join(
        '<text class="road__ties" x="{}" y="{}">{}</text>'.format(*_at(entry, 23, 9).split(), entry.what.ties)
        for entry in shown
        if entry.what.ties > 1
    )
    drawing = rings + ties + _letters("road__side", wins, names) + _pairs(wins) + counts
    return _board("big", columns, CELL, drawing, title, said)


def derived_road(
    road: Sequence[RoadEntry[Regularity]], *, columns: int, title: str, names: Mapping[Regularity, str], shape: Shape
) -> SafeString:
    """Draw the end of a derived road of *columns* columns. Its description lists the runs."""
    shown = last_columns(road, columns)
    said = _said((names[what], len(list(run))) for what, run in groupby(entry.what for entry in shown))
    drawing = "".join(
        _path(f"road__{what}", (f"M{_at(entry, x, y)}{drawn}" for entry in shown if entry.what is what))
        for (of, what), (x, y, drawn) in _DERIVED.items()
        if of is shape
    )
    return _board(shape.value, columns, SMALL_CELL, drawing, title, said)


def sign(what: Regularity, shape: Shape) -> SafeString:
    """Draw one sign of a derived road, without a board. The caller describes it in words."""
    x, y, drawn = _DERIVED[shape, what]
    return mark_safe(  # noqa: S308  numbers and our own markup
        f'<svg class="road road--{shape.value} road__sign" viewBox="0 0 {SMALL_CELL} {SMALL_CELL}" aria-hidden="true">'
        f'<path class="road__{what}" d="M{x:g} {y:g}{drawn}"/></svg>'
    )


RING: Final = "a9 9 0 1018 0a9 9 0 10-18 0"
_ROUND: Final = (2.0, 6.0, "a4 4 0 108 0a4 4 0 10-8 0")
_SQUARE: Final = (2.0, 2.0, "h8v8h-8z")
_DERIVED: Final = {
    (Shape.RINGS, Regularity.RED): _ROUND,
    (Shape.RINGS, Regularity.BLUE): _SQUARE,
    (Shape.DOTS, Regularity.RED): _ROUND,
    (Shape.DOTS, Regularity.BLUE): _SQUARE,
    (Shape.SLASHES, Regularity.RED): (2.0, 10.0, "l8-8"),
    (Shape.SLASHES, Regularity.BLUE): (2.0, 2.0, "l8 8"),
}
"""Starting point of a mark in its cell, and the rest of its path."""

AnyRoadEntry = RoadEntry[Bead] | RoadEntry[Win] | RoadEntry[Regularity]


def _letters(kind: str, beads: Iterable[tuple[AnyRoadEntry, Bead]], names: Mapping[Outcome, str]) -> str:
    """Return the first letters of the sides as one text, in which each letter has the position of its cell."""
    placed = [(*_at(entry, 12, 16).split(), _letter(bead, names)) for entry, bead in beads]
    if not placed:
        return ""
    x, y, letters = zip(*placed, strict=True)
    return f'<text class="{kind}" x="{" ".join(x)}" y="{" ".join(y)}">{"".join(letters)}</text>'


def _pairs(beads: Iterable[tuple[AnyRoadEntry, Bead]]) -> str:
    """Draw dots in two corners, each on a rim that separates it from the bead under it."""
    known = list(beads)
    corners = {
        "player": [f"M{_at(entry, 20, 20)}h0" for entry, bead in known if bead.player_pair],
        "banker": [f"M{_at(entry, 4, 4)}h0" for entry, bead in known if bead.banker_pair],
    }
    rims = _path("road__rim", chain.from_iterable(corners.values()))
    return rims + "".join(_path(f"road__pair--{side}", dots) for side, dots in corners.items())


def _path(kind: str, drawn: Iterable[str]) -> str:
    """Return an outline of all parts that look alike: every viewer of the table gets the roads of a shoe."""
    outline = "".join(drawn)
    return f'<path class="{kind}" d="{outline}"/>' if outline else ""


def _letter(bead: Bead, names: Mapping[Outcome, str]) -> str:
    return escape(names[bead.outcome][0].upper())


def _at(entry: AnyRoadEntry, x: float, y: float) -> str:
    cell = SMALL_CELL if isinstance(entry.what, Regularity) else CELL
    return f"{entry.column * cell + x:g} {entry.row * cell + y:g}"


def _said(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)


def _board(kind: str, columns: int, cell: int, drawing: str, title: str, said: str) -> SafeString:
    wide, high = columns * cell, ROWS * cell
    across = "".join(f"M0 {y}H{wide}" for y in range(0, high + 1, CELL))
    down = "".join(f"M{x} 0V{high}" for x in (*range(0, wide, CELL), wide))
    return mark_safe(  # noqa: S308  names and titles are escaped; all else is numbers and our own markup
        f'<svg class="road road--{kind}" viewBox="-1 -1 {wide + 2} {high + 2}" width="{wide}" height="{high}" '
        f'role="img"><title>{escape(title)}</title><desc>{escape(said)}</desc>'
        f'<path class="road__grid" d="{across}{down}"/>{drawing}</svg>'
    )
