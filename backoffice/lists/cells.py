"""Cell values of a list, formatted for files and for the screen, and references to what events name.

What events name (``player:12``, ``round:…``, ``withdrawal:7``) is written the same way on every page
of the back office, and is a link for those whose role opens its page. The page itself is asked who
that is (`players.access.may_open`).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.db.models import Model
from django.urls import NoReverseMatch, reverse
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext

from audit.reports.files import MINOR_UNITS
from audit.reports.kinds import FIGURES, Cell, Column, Form, Row
from games.models.rounds import round_code
from players.access import may_open
from players.models import User
from wallet.money import format_money

PATH: Final = "__"
SYSTEM: Final = "system"  # what the house did by itself, as events name it
ITSELF: Final = "self"  # path of the row's name in events
NOTHING: Final = "–"
PAGES: Final = {
    "account": "staff_ledger_account",
    "approval": "staff_approval",
    "case": "staff_case",
    "incident": "staff_incident",
    "journal": "staff_ledger_journal",
    "payment": "staff_deposit",
    "player": "staff_player",
    "round": "staff_round",
    "significant": "staff_significant_event",
    "staff": "staff_person",
    "table": "staff_game_table",
    "withdrawal": "staff_withdrawal",
}
PAGES_OF_ALL: Final = {  # kinds that have one page for all rows
    "partner": "staff_partners",
    "retention": "staff_retention",
    "rule": "staff_rules",
}
NAMED: Final = re.compile(rf"(?<![\w:/=])(?:{'|'.join([*PAGES, *PAGES_OF_ALL])}):[0-9A-Za-z](?:[\w:-]*[0-9A-Za-z])?")
NOBODY: Final[Mapping[str, str]] = {}
LONG: Final = 30  # longest text, in characters, that is not broken into lines

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
            return gettext("yes") if value else gettext("no")
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
    text = gettext(column.heading)
    return f"{text} (UTC)" if column.form is Form.TIME else text


def style(column: Column) -> str:
    """Return the CSS class of a column."""
    return "num" if column.form in FIGURES else ""


def shown(columns: Sequence[Column], values: Row, urls: Mapping[str, str], user: User) -> list[Shown]:
    """Return the cells of a row for the screen.

    *urls* are the addresses of what columns name. A player's name leads to the player, if *user*
    may follow it.
    """
    return [
        Shown(heading(column), html(column, value, urls.get(column.name, ""), user), style(column))
        for column, value in zip(columns, values, strict=True)
    ]


def urls(row: Model, links: Links, user: User) -> dict[str, str]:
    """Return the addresses of what the columns of *row* name, where *user* may open them."""
    found = ((name, address, argument, cell(row, path)) for name, (address, argument, path) in links.items())
    urls = ((name, reverse(address, kwargs={argument: of})) for name, address, argument, of in found if of is not None)
    return {name: url for name, url in urls if may_open(user, url)}


def html(column: Column, value: Cell, url: str, user: User, currency: str = "") -> str:
    """Return a cell as HTML, which leads to *url* or to what it names (`references`).

    *currency*: amounts are written with it.
    """
    text = _text(column, value, currency)
    if url := url or address_of(str(value), user):
        return link(url, text)
    return linked(text, user) if column.form is Form.TEXT and not isinstance(text, SafeString) else text


def address_of(name: str, user: User) -> str:
    """Return the URL of what *name* refers to, "" if it has no page or *user* may not open it."""
    kind, _, key = name.partition(":")
    if kind not in PAGES and kind not in PAGES_OF_ALL:
        return ""
    try:
        address = reverse(PAGES[kind], args=[key]) if kind in PAGES else reverse(PAGES_OF_ALL[kind])
    except NoReverseMatch:
        return ""
    return address if may_open(user, address) else ""


def label_of(name: str, names: Mapping[str, str] = NOBODY) -> str:
    """Return how *name* is written: a round by its code, others by *names* if they are there."""
    kind, _, key = name.partition(":")
    if name == SYSTEM:
        return gettext("System")
    if kind == "round":
        try:
            return round_code(UUID(key))
        except ValueError:
            return name
    return names.get(name, name)


def reference(name: str, user: User, names: Mapping[str, str] = NOBODY) -> SafeString | str:
    """Return what *name* refers to as HTML. *names* are the names of staff or others by their name in events."""
    address, label = address_of(name, user), label_of(name, names)
    style = "round-code" if name.startswith("round:") else ""
    return link(address, label, style) if address else label


def linked(text: str, user: User, names: Mapping[str, str] = NOBODY) -> SafeString | str:
    """Return *text* as HTML, with a reference in place of each name of a row in it, such as ``player:12``."""
    parts, end = [], 0
    for found in NAMED.finditer(text):
        parts += [text[end : found.start()], reference(found[0], user, names)]
        end = found.end()
    return format_html_join("", "{}", [(part,) for part in (*parts, text[end:])]) if parts else text


def link(url: str, text: object, style: str = "") -> SafeString:
    """Return a link."""
    return format_html('<a class="link{}" href="{}">{}</a>', f" {style}" if style else "", url, text)


def badge(text: object, kind: str = "") -> SafeString:
    """Return a badge. *kind*: ``on``, ``off``, ``brass`` or ``void``."""
    return format_html('<span class="badge{}">{}</span>', f" badge--{kind}" if kind else "", text)


def moment(at: datetime | None, none: str = NOTHING) -> str:
    """Return a time in UTC, or *none*."""
    if at is None:
        return none
    return format_html(
        '<time class="num" datetime="{}">{}</time>', at.isoformat(), f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"
    )


def breaking(text: str) -> str:
    """Return a text that is broken into lines where it is long."""
    return format_html('<span class="breaks">{}</span>', text) if len(text) > LONG else text


def joined(*parts: object, by: str = " ") -> SafeString:
    """Return the parts that are not empty, one after another."""
    return format_html_join(by, "{}", [(part,) for part in parts if part])


def _text(column: Column, value: Cell, currency: str) -> str:
    if value is None or value == "":
        return NOTHING
    match column.form:
        case Form.TIME:
            return format_html('<time class="num" datetime="{}">{}</time>', value, str(value)[:19].replace("T", " "))
        case Form.MONEY if currency:
            return format_money(int(str(value)), currency, get_language() or "en")
        case Form.MONEY:
            return number_format(Decimal(int(str(value))) / MINOR_UNITS, 2, force_grouping=True)
    return breaking(label_of(str(value)))
