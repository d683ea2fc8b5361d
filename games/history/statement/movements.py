"""The movements of a period, one by one: a page for the screen, and all of them as a CSV file."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID
from zoneinfo import ZoneInfo

from babel.numbers import get_decimal_symbol
from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from games.history.csv_export import BYTE_ORDER_MARK, Echo, amount, safe
from games.history.statement.figures import Period, firsts, game_names
from players.models import Player
from wallet.ledger.statements import ASIDE, NAMES, OTHER, movement_name
from wallet.models import Mode

PAGE = 20

# What each journal added to the player's total balance, with game and round code for rounds, and
# with the game for banks. Entries before the given first version of an account are left out.
# Journals are looked up one by one for the same reason as in `games.history.statement.figures`.
MOVEMENTS = """
SELECT posting.id, posting.at,
       CASE WHEN posting.kind = 'settle' AND bool_or(account.kind = 'bank') THEN 'coup' ELSE posting.kind END AS kind,
       posting.round_id, coalesce(round.code, live.code) AS code, game_table.variant, sum(entry.amount) AS amount,
       sum(greatest(entry.amount, 0)) AS within
FROM wallet_account AS account
LEFT JOIN unnest(%(accounts)s::bigint[], %(firsts)s::bigint[]) AS known (id, first) ON known.id = account.id
JOIN wallet_entry AS entry ON entry.account_id = account.id AND entry.version >= coalesce(known.first, 0)
CROSS JOIN LATERAL (SELECT * FROM wallet_journal WHERE id = entry.journal_id OFFSET 0) AS posting
LEFT JOIN games_round AS round ON round.id = posting.round_id
LEFT JOIN games_liveround AS live ON live.id = posting.round_id
LEFT JOIN games_tableversion AS version ON version.id = coalesce(round.table_version_id, live.version_id)
LEFT JOIN games_chemintenure AS tenure ON tenure.id = posting.round_id
LEFT JOIN games_livetable AS held_at ON held_at.id = tenure.live_table_id
LEFT JOIN games_table AS game_table ON game_table.id = coalesce(version.table_id, held_at.table_id)
WHERE account.owner_id = %(player)s AND account.mode = %(mode)s AND posting.at < %(end)s
"""
GROUPED = (
    " GROUP BY posting.id, posting.at, posting.kind, posting.round_id, coalesce(round.code, live.code),"
    " game_table.variant "
)

NEWEST = (
    MOVEMENTS
    + "AND posting.at >= %(begin)s AND (%(before)s::bigint IS NULL OR posting.id < %(before)s)"
    + GROUPED
    + "ORDER BY posting.id DESC LIMIT %(limit)s"
)

# The movements of the period with the balance after each. The opening balance is one row without an
# id.
RUNNING = f"""
WITH every AS ({MOVEMENTS}{GROUPED}), opening AS (
    SELECT coalesce(sum(amount), 0) AS owned FROM every WHERE at < %(begin)s
)
SELECT NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, owned FROM opening
UNION ALL (
    SELECT id, at, kind, round_id, code, variant, amount, within,
           (SELECT owned FROM opening) + sum(amount) OVER (ORDER BY at, id)
    FROM every WHERE at >= %(begin)s ORDER BY at, id
)
"""  # noqa: S608  (put together from constants)


@dataclass(frozen=True)
class Movement:
    """One journal from the player's view. Amounts in minor units.

    *within* is the amount moved between the player's own accounts.
    """

    journal_id: int
    at: datetime
    kind: str
    round_id: UUID | None
    code: str | None  # of the round, if it is known
    variant: str | None
    amount: int
    within: int

    @property
    def aside(self) -> int:
        """The amount that a withdrawal set aside or returned."""
        return self.within if self.kind in ASIDE else 0

    @property
    def name(self) -> Promise:
        """The name of the movement in the reader's language."""
        return NAMES.get(self.kind, OTHER)


@dataclass(frozen=True)
class Listing:
    """A page of movements, newest first, and the id to continue with (None: no older ones)."""

    movements: tuple[Movement, ...]
    older: int | None


def listing(player: Player, mode: Mode, period: Period, *, before: int | None = None) -> Listing:
    """Return a page of the movements of *period* that are older than journal *before*."""
    with connection.cursor() as cursor:
        asked = _asked(player, mode, period) | firsts(player, mode, period.begin)
        cursor.execute(NEWEST, asked | {"before": before, "limit": PAGE + 1})
        found = [_movement(row) for row in cursor.fetchall()]
    return Listing(tuple(found[:PAGE]), found[PAGE - 1].journal_id if len(found) > PAGE else None)


def running(player: Player, mode: Mode, period: Period) -> Iterator[tuple[Movement | None, int]]:
    """Yield the opening balance (None), then every movement of *period* with the balance after it.

    Oldest first. One statement reads all rows, a few at a time.
    """
    with connection.chunked_cursor() as cursor:
        cursor.execute(RUNNING, _asked(player, mode, period))
        for *row, owned in cursor:
            yield (_movement(tuple(row)) if row[0] is not None else None), int(owned)


def _asked(player: Player, mode: Mode, period: Period) -> dict[str, Any]:
    asked = {"player": player.pk, "mode": mode.value, "begin": period.begin, "end": period.end}
    return asked | {"accounts": [], "firsts": []}


def _movement(row: tuple[Any, ...]) -> Movement:
    journal_id, at, kind, round_id, code, variant, amount, into = row
    within = 0 if amount else int(into)
    return Movement(journal_id, at, movement_name(kind, int(amount)), round_id, code, variant, int(amount), within)


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
