"""Cell values of a list, formatted for files and for the screen."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html

from audit.reports.files import MINOR_UNITS
from audit.reports.kinds import FIGURES, Cell, Column, Form, Row
from players.models import User
from players.staff.access_log import NAMED

PATH: Final = "__"
ITSELF: Final = "self"  # path of the row's name in events
NOTHING: Final = "–"
LONG: Final = 30  # longest text, in characters, that is not broken into lines
SEES_PLAYERS: Final = "players.view_player"

Links = Mapping[str, tuple[str, str, str]]
"""Column -> the name of a URL, its argument, and the path of the argument's value in the row."""


@dataclass(frozen=True)
class Shown:
    """A cell on the screen: the heading of its column, its HTML and its CSS class."""

    heading: str
    html: str
    style: str


def cell(row: Model, path: str) -> Cell:
    """Return the value of *row* at *path*, which may follow relations (``table__name``).

    A choice is returned as its label. Raises TypeError for bytes, which no list may show.
    """
    if path == ITSELF:
        return str(row)
    holder: Any = None
    value: Any = row
    name = ""
    for name in path.split(PATH):
        holder, value = value, getattr(value, name)
        if value is None:
            return None
    if shown := getattr(holder, f"get_{name}_display", None):
        return str(shown())
    return plain(value() if callable(value) else value)


def plain(value: Any) -> Cell:
    """Return a value as it appears in a file. Raises TypeError for bytes."""
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case int():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat()
        case dict() | list():
            return json.dumps(value, ensure_ascii=False)
        case bytes() | memoryview():
            raise TypeError("bytes are never shown")
        case str() | UUID() | Decimal() | Model():
            return str(value)
    return str(value)


def heading(column: Column) -> str:
    """Return the heading of a column on the screen. Times name their time zone."""
    return f"{column.heading} (UTC)" if column.form is Form.TIME else column.heading


def style(column: Column) -> str:
    """Return the CSS class of a column."""
    return "num" if column.form in FIGURES else ""


def shown(columns: Sequence[Column], values: Row, urls: Mapping[str, str], user: User) -> list[Shown]:
    """Return the cells of a row for the screen.

    *urls* are the addresses of what columns name. A player's name leads to the player, if *user*
    may follow it.
    """
    return [
        Shown(heading(column), _linked(column, value, urls.get(column.name, ""), user), style(column))
        for column, value in zip(columns, values, strict=True)
    ]


def urls(row: Model, links: Links) -> dict[str, str]:
    """Return the addresses of what the columns of *row* name."""
    found = ((name, address, argument, cell(row, path)) for name, (address, argument, path) in links.items())
    return {name: reverse(address, kwargs={argument: of}) for name, address, argument, of in found if of is not None}


def _linked(column: Column, value: Cell, url: str, user: User) -> str:
    text = _text(column, value)
    if not url and (who := NAMED.fullmatch(str(value))) and user.has_perm(SEES_PLAYERS):
        url = reverse("staff_player", args=[int(who[1])])
    return format_html('<a class="link" href="{}">{}</a>', url, text) if url else text


def _text(column: Column, value: Cell) -> str:
    if value is None or value == "":
        return NOTHING
    match column.form:
        case Form.TIME:
            return format_html('<time class="num" datetime="{}">{}</time>', value, str(value)[:19].replace("T", " "))
        case Form.MONEY:
            return f"{Decimal(int(value)) / MINOR_UNITS:,.2f}"
    text = str(value)
    return format_html('<span class="breaks">{}</span>', text) if len(text) > LONG else text
