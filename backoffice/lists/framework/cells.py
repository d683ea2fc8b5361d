"""What stands in the cells of a list: as files have it, and as the screen does."""

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
ITSELF: Final = "self"  # the path of the row: what events call it
PLAYER: Final = re.compile(r"player:([1-9][0-9]{0,18})")
NOTHING: Final = "–"
LONG: Final = 30  # characters, from which on a cell is broken into lines
SEES_PLAYERS: Final = "players.view_player"

Links = Mapping[str, tuple[str, str, str]]
"""Column -> the name of an address, its argument, and where in the row that stands."""


def cell(row: Model, path: str) -> Cell:
    """Return what stands in *row* at *path*, a field or one of what a field leads to (``table__name``); a choice as it
    reads. Raises TypeError for what no list may show: bytes.
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
    """Return a value as a file has it. Raises TypeError for bytes."""
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
    """Return a cell as the screen shows it."""
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
    """Return what stands over a column on the screen: of times, in which zone they are."""
    return f"{column.heading} (UTC)" if column.form is Form.TIME else column.heading


def linked(value: Cell, column: Column, row: Model, user: User | AnonymousUser, links: Links) -> str | SafeString:
    """Return a cell as the screen shows it to *user*: whom and what it names is a link where they may follow it."""
    text = shown(value, column)
    if (who := PLAYER.fullmatch(text)) and user.has_perm(SEES_PLAYERS):
        return format_html('<a class="link" href="{}">{}</a>', reverse("staff_player", args=[int(who[1])]), text)
    if value is not None and column.name in links:
        address, argument, path = links[column.name]
        if (of := cell(row, path)) is not None:
            return format_html('<a class="link" href="{}">{}</a>', reverse(address, kwargs={argument: of}), text)
    return text


def named(rows: Sequence[Sequence[Cell]]) -> Iterator[int]:
    """Yield the numbers of the players whom cells name."""
    for row in rows:
        for value in row:
            if isinstance(value, str):
                yield from (int(number) for number in re.findall(rf"\b{PLAYER.pattern}\b", value))
