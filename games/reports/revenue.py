"""Gross gaming revenue report: real-money stakes less payouts by day, game, table and currency.

Days begin at midnight in the requested time zone. If its offset from UTC is not in whole hours, the
part between a whole hour and midnight is read row by row (`games.fairness.hourly_totals`). A voided
round does not count on the day on which it was played, whenever it was voided; it has columns of
its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from audit.reports import kinds
from audit.reports.intervals import midnight
from audit.reports.kinds import Answer, Asked, Column, Form, Row
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played
from games.labels import variant_label
from games.models import Table, TableVersion
from games.reports.choices import GAME
from games.variants import GAMES
from wallet.models import Currency, Mode
from wallet.reports import CURRENCY

COLUMNS: Final = (
    Column("day", "Day"),
    Column("game", "Game"),
    Column("table", "Table"),
    Column("currency", "Currency"),
    Column("rounds", "Rounds", Form.NUMBER),
    Column("staked", "Staked", Form.MONEY),
    Column("paid", "Paid", Form.MONEY),
    Column("revenue", "Gross gaming revenue", Form.MONEY),
    Column("commission", "Commission and tax", Form.MONEY),
    Column("voided_rounds", "Voided rounds", Form.NUMBER),
    Column("voided_staked", "Staked, voided", Form.MONEY),
    Column("voided_paid", "Paid, voided", Form.MONEY),
)
NOTES: Final = (
    "Real money only. Rounds, stakes, payouts, revenue and commission exclude voided rounds.",
    "Voided rounds are shown on the day they were played, regardless of the time of the void.",
    "A shared round with stakes in several currencies is counted once per currency.",
    "Games of partner studios are not included; see the ledger reconciliation.",
)


@dataclass(frozen=True)
class _Line:
    """The play of one day at a table in one currency, with one entry for each table version."""

    day: date
    table: Table
    currency: str
    played: Sequence[Played]


def answer(asked: Asked) -> Answer:
    """Return one row for each day, table and currency, and totals for each currency."""
    lines = [line for line in _lines(asked) if _is_wanted(line, asked.choices)]
    return Answer(
        rows=(_row(line) for line in lines), of=len(lines), totals=lambda: list(_totals(lines)), notes=lambda: NOTES
    )


def _lines(asked: Asked) -> Iterator[_Line]:
    bounds = _bounds(asked)
    if not bounds:
        return
    zone = ZoneInfo(asked.zone)
    tables = {version.pk: version.table for version in TableVersion.objects.select_related("table")}
    found: dict[tuple[date, str, int, str], list[Played]] = {}
    for each in hourly_totals.played(bounds, Mode.REAL):
        table, day = tables[each.version_id], bounds[each.period].astimezone(zone).date()
        found.setdefault((day, table.name, table.pk, each.currency), []).append(each)
    for (day, _, _, currency), played in sorted(found.items(), key=lambda item: item[0]):
        yield _Line(day, tables[played[0].version_id], currency, played)


def _bounds(asked: Asked) -> list[datetime]:
    """Return both ends of the interval and all midnights between, starting at the first round."""
    since, until = asked.interval.since, asked.interval.until
    first = hourly_totals.first_played(since)
    if first is None or first >= until:
        return []
    day = first.astimezone(ZoneInfo(asked.zone)).date()
    bounds = [max(since, midnight(day, asked.zone))]
    while bounds[-1] < until:
        day += timedelta(days=1)
        bounds.append(min(midnight(day, asked.zone), until))
    return bounds


def _is_wanted(line: _Line, choices: Mapping[str, str]) -> bool:
    game, currency = choices.get("game", ""), choices.get("currency", "")
    return game in ("", line.table.variant) and currency in ("", line.currency)


def _row(line: _Line) -> Row:
    game = GAMES.get(line.table.variant)
    name = variant_label(game, "name", "en") if game else line.table.variant
    return (line.day.isoformat(), name, line.table.name, line.currency, *figures(line.played))


def _totals(lines: Sequence[_Line]) -> Iterator[Row]:
    for currency in Currency.values:
        played = [each for line in lines if line.currency == currency for each in line.played]
        if played:
            yield ("All", "", "", currency, *figures(played))


def figures(played: Sequence[Played]) -> tuple[int, ...]:
    """Return the columns from rounds on, in one currency."""
    return (
        sum(each.valid_rounds for each in played),
        sum(each.valid_staked for each in played),
        sum(each.valid_paid for each in played),
        sum(each.revenue for each in played),
        sum(each.valid_commission for each in played),
        sum(each.voided for each in played),
        sum(each.voided_staked for each in played),
        sum(each.voided_paid for each in played),
    )


KIND: Final = kinds.Kind(
    name="revenue",
    title="Gross gaming revenue",
    purpose="Stakes less payouts, by day, game, table and currency.",
    clause="",
    columns=COLUMNS,
    answer=answer,
    choices=(
        GAME,
        CURRENCY,
    ),
)
