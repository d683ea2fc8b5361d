"""The statement as a CSV file: every movement, including each round, with the balance after it."""

import csv
from collections.abc import Iterator
from typing import NamedTuple
from zoneinfo import ZoneInfo

from babel.numbers import get_decimal_symbol
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.history.csv_export import BYTE_ORDER_MARK, Echo, amount, safe
from games.history.statement.figures import game_names
from games.history.statement.movements import Movement, running
from games.history.statement.period import Period
from players.models import Player
from wallet.ledger.statements import NAMES, OTHER
from wallet.models import Mode


class StatementLabels(NamedTuple):
    """All texts of the file, in the reader's language."""

    headings: list[str]
    opening: str
    closing: str
    names: dict[str, str]  # by kind of movement
    other: str
    games: dict[str, str]


def lines(player: Player, mode: Mode, period: Period, language: str) -> Iterator[str]:
    """Return the file line by line, in the language that is active at the call."""
    labels = StatementLabels(
        headings=_headings(period.zone),
        opening=_("Opening balance"),
        closing=_("Closing balance"),
        names={kind: str(name) for kind, name in NAMES.items()},
        other=str(OTHER),
        games=game_names(language),
    )
    return _lines(player, mode, period, get_decimal_symbol(language), labels)


def _headings(zone: ZoneInfo) -> list[str]:
    return [
        _("Time (%(zone)s)") % {"zone": zone.key},
        pgettext("number of a journal", "No."),
        pgettext("table heading", "Description"),
        pgettext("table heading", "Game"),
        _("Round code"),
        _("Amount"),
        _("Transferred between your own balances"),
        _("Balance after"),
        pgettext("table heading", "Currency"),
    ]


def _lines(player: Player, mode: Mode, period: Period, decimal: str, labels: StatementLabels) -> Iterator[str]:
    writer = csv.writer(Echo(), delimiter=";" if decimal == "," else ",")
    yield BYTE_ORDER_MARK + writer.writerow(labels.headings)
    owned = 0
    for movement, owned in running(player, mode, period):
        row = _row(movement, labels, period.zone, decimal) if movement else _end(labels.opening)
        yield writer.writerow([*row, amount(owned, decimal), player.currency])
    yield writer.writerow([*_end(labels.closing), amount(owned, decimal), player.currency])


def _end(name: str) -> list[str]:
    return ["", "", name, "", "", "", ""]


def _row(movement: Movement, labels: StatementLabels, zone: ZoneInfo, decimal: str) -> list[str]:
    return [
        f"{movement.at.astimezone(zone):%Y-%m-%d %H:%M:%S}",
        str(movement.journal_id),
        safe(labels.names.get(movement.kind, labels.other)),
        safe(labels.games.get(movement.variant or "", "")),
        movement.code or "",
        amount(movement.amount, decimal),
        amount(movement.within, decimal) if movement.within else "",
    ]
