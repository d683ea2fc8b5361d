"""Cell values of a list, formatted for files and for the screen."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import Model
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit.reports.files import MINOR_UNITS
from audit.reports.kinds import FIGURES, Cell, Column, Form
from players.models import User

PATH: Final = "__"
ITSELF: Final = "self"  # path of the row's name in events
PLAYER: Final = re.compile(r"player:([1-9][0-9]{0,18})")
NOTHING: Final = "–"
LONG: Final = 30  # longest text, in characters, that is not broken into lines
SEES_PLAYERS: Final = "players.view_player"

Links = Mapping[str, tuple[str, str, str]]
"""Column -> the name of a URL, its argument, and the path of the argument's value in the row."""


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


def shown(value: Cell, column: Column) -> str | SafeString:
    """Return a cell as HTML for the screen."""
    if value is None or value == "":
        return NOTHING
    if column.form is Form.TIME:
        return format_html('<time datetime="{}">{}</time>', value, str(value)[:19].replace("T", " "))
    if column.form is Form.MONEY:
        return format_html('<span class="figure">{}</span>', f"{Decimal(int(value)) / MINOR_UNITS:,.2f}")
    if column.form in FIGURES:
        return format_html('<span class="figure">{}</span>', value)
    text = str(value)
    return format_html('<span class="lists__long">{}</span>', text) if len(text) > LONG else text


def heading(column: Column) -> str:
    """Return the heading of a column on the screen. Times name their time zone."""
    return f"{column.heading} (UTC)" if column.form is Form.TIME else column.heading


def linked(value: Cell, column: Column, row: Model, user: User | AnonymousUser, links: Links) -> str | SafeString:
    """Return a cell for the screen, linked to what it names if *user* may follow the link."""
    text = shown(value, column)
    if (who := PLAYER.fullmatch(text)) and user.has_perm(SEES_PLAYERS):
        return format_html('<a class="link" href="{}">{}</a>', reverse("staff_player", args=[int(who[1])]), text)
    if value is not None and column.name in links:
        address, argument, path = links[column.name]
        if (of := cell(row, path)) is not None:
            return format_html('<a class="link" href="{}">{}</a>', reverse(address, kwargs={argument: of}), text)
    return text


def named(rows: Sequence[Sequence[Cell]]) -> Iterator[int]:
    """Yield the numbers of the players named in the cells."""
    for row in rows:
        for value in row:
            if isinstance(value, str):
                yield from (int(number) for number in re.findall(rf"\b{PLAYER.pattern}\b", value))
