"""Voided rounds report: reason, person and money moved for each voided round, real money only.

A round is listed in the interval in which it was voided, whenever it was played.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from django.db import connection
from django.utils.translation import gettext_noop

from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, Column, Form, Row
from audit.staff_text import sentence
from games.labels import game_cell
from games.models import VoidReason
from games.reports.performance import GAME
from wallet.models import Currency, Mode
from wallet.reports import CURRENCY

COLUMNS: Final = (
    Column("voided", "Voided", Form.TIME),
    Column("played", "Played", Form.TIME),
    Column("round", "Round", Form.WORD),
    Column("game", "Game", Form.WORD),
    Column("table", "Table"),
    Column("reason", "Reason", Form.WORD),
    Column("by", "By"),
    Column("currency", "Currency"),
    Column("players", "Players", Form.NUMBER),
    Column("staked", "Staked", Form.MONEY),
    Column("paid", "Paid", Form.MONEY),
    Column("returned", "Returned to players", Form.MONEY),
    Column("shortfall", "Covered by the house", Form.MONEY),
)
NOTES: Final = (
    gettext_noop("Real money only. Returned is stakes less payouts; negative where players had won."),
    gettext_noop("Covered by the house: winnings that had already been spent."),
)

# Voided rounds are few: the table is read in full, and related rows are looked up by key.
VOIDS = """
SELECT void.at, round.at, round.code, t.variant, t.name, void.reason, void.by, back.currency, back.players,
    part.staked, part.paid, back.returned, back.shortfall
FROM games_void AS void
CROSS JOIN LATERAL (SELECT * FROM games_round WHERE id = void.round_id OFFSET 0) AS round
JOIN games_tableversion AS version ON version.id = round.table_version_id
JOIN games_table AS t ON t.id = version.table_id
CROSS JOIN LATERAL (
    SELECT currency, count(*) AS players, sum(returned)::bigint AS returned, sum(shortfall)::bigint AS shortfall
    FROM games_voidpart WHERE void_id = void.round_id GROUP BY currency
) AS back
LEFT JOIN LATERAL (
    SELECT sum(staked)::bigint AS staked, sum(paid)::bigint AS paid
    FROM games_participation WHERE round_id = void.round_id AND currency = back.currency
) AS part ON true
WHERE void.at >= %(since)s AND void.at < %(until)s AND round.mode = %(mode)s
    AND %(game)s IN ('', t.variant) AND %(currency)s IN ('', back.currency)
ORDER BY void.at, round.code, back.currency
"""
MONEY_FROM: Final = 8  # the index of the first number in a row of VOIDS


def answer(asked: Asked) -> Answer:
    """Return a row for each round voided in the interval and currency, and totals by currency."""
    values: dict[str, Any] = {
        "since": asked.interval.since,
        "until": asked.interval.until,
        "mode": Mode.REAL.value,
        "game": asked.choices.get("game", ""),
        "currency": asked.choices.get("currency", ""),
    }
    with connection.cursor() as cursor:
        cursor.execute(VOIDS, values)
        found = cursor.fetchall()
    return Answer(
        rows=(_row(row) for row in found), of=len(found), totals=lambda: list(_totals(found)), notes=lambda: NOTES
    )


def _row(row: Sequence[Any]) -> Row:
    voided, played, code, slug, table, reason, by, currency, *figures = row
    return (
        _moment(voided),
        _moment(played),
        code,
        game_cell(slug),
        table,
        str(VoidReason(reason).label),
        by,
        currency,
        figures[0],
        *(figure or 0 for figure in figures[1:]),
    )


def _totals(found: Sequence[Sequence[Any]]) -> Iterator[Row]:
    for currency in Currency.values:
        rows = [row for row in found if row[MONEY_FROM - 1] == currency]
        if rows:
            sums = (sum(row[place] or 0 for row in rows) for place in range(MONEY_FROM, len(COLUMNS)))
            yield (
                None,
                None,
                sentence(gettext_noop("%(count)s in total"), count=len(rows)),
                "",
                "",
                "",
                "",
                currency,
                *sums,
            )


def _moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()


KIND: Final = kinds.Kind(
    name="voids",
    title=gettext_noop("Voided rounds"),
    purpose=gettext_noop("Voided rounds with reason, person and amounts."),
    clause="",
    columns=COLUMNS,
    answer=answer,
    choices=(
        GAME,
        CURRENCY,
    ),
)
