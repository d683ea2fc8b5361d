"""The style sheet with the felt layouts of all variants, generated from their declarations.

It only defines custom properties and areas. `static/css/felt.css` and `static/css/live.css` use
them.
"""

import hashlib
from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from games.engine.bets import Variant
from games.engine.felt import Felt, Height, Layout, Row, grid
from games.variants import VARIANTS

A_YEAR = 31_536_000  # seconds


def felt_url() -> str:
    """Return the address of the style sheet, which changes with its text."""
    return reverse("felt_sheet", kwargs={"digest": _digest(_sheet())})


@require_safe
def felt_sheet(request: HttpRequest, digest: str) -> HttpResponse:
    """Return the style sheet. Browsers keep it for a year if it is the one that they asked for."""
    text = _sheet()
    response = HttpResponse(text, content_type="text/css; charset=utf-8")
    if digest == _digest(text):
        response["Cache-Control"] = f"public, max-age={A_YEAR}, immutable"
    return response


def _sheet() -> str:
    return "\n".join(line for variant in VARIANTS.values() for line in _rules(variant))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _rules(variant: Variant) -> Iterator[str]:
    felt, scope = variant.felt, f'[data-felt="{variant.slug}"]'
    layouts = {"wide": felt.wide, "narrow": felt.narrow, "low": felt.low}
    properties = (line for name, layout in layouts.items() for line in _properties(name, layout, felt))
    yield f"{scope} {{ {' '.join(properties)} }}"
    for bet in variant.bets:
        yield f'{scope} [data-bet="{bet.code}"] {{ grid-area: {bet.code}; }}'


def _properties(name: str, layout: Layout, felt: Felt) -> Iterator[str]:
    rows, columns = grid(layout)
    yield f"--{name}-areas: {' '.join(map(_quoted, rows))};"
    yield f"--{name}-columns: {' '.join(f'minmax(0, {width}fr)' for width in columns)};"
    yield f"--{name}-rows: {' '.join(_height(row, felt) for row in layout)};"


def _quoted(text: str) -> str:
    return f'"{text}"'


def _height(row: Row, felt: Felt) -> str:
    is_of_side_bets = row.height is Height.SLIM and all(felt.is_side(code) for code, _ in row.bets)
    return f"var(--row-{row.height}{'-side' if is_of_side_bets else ''})"
