"""Reports: performance of games, and revenue.

For each version of a table: actual results of an interval next to the theoretical ones, real money
only. Played rounds are exact for any interval (`games.fairness.hourly_totals`). Funds in
interrupted rounds are as of the time of the report.

Days begin at midnight in the requested time zone. If its offset from UTC is not in whole hours, the
part between a whole hour and midnight is read row by row (`games.fairness.hourly_totals`). A voided
round does not count on the day on which it was played, whenever it was voided; it has columns of
its own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import F, OuterRef, Subquery
from django.utils.translation import get_language, gettext_noop

from audit.reports import kinds
from audit.reports.kinds import Answer, Asked, Choice, Column, Form, Row, midnight
from audit.staff_text import Stored, marked, sentence
from games.chemin.pages.floor import read_chemin_states
from games.engine.bets import Variant
from games.engine.odds import exact
from games.fairness import hourly_totals
from games.fairness.hourly_totals import Played
from games.labels import game_cell, variant_label
from games.models import OPEN_PHASES, LiveRound, LiveSeat, Shape, Status, Table, TableVersion
from games.variants import GAMES
from wallet.exchange_rates import Rate, Rates
from wallet.models import Currency, Mode
from wallet.reports import CURRENCY

GAME: Final = Choice(
    "game",
    "Game",
    lambda: tuple((slug, variant_label(game, "name", get_language() or "en")) for slug, game in GAMES.items()),
)


DECIMALS: Final = 6  # decimals of a return

PERFORMANCE_COLUMNS: Final = (
    Column("game", "Game", Form.WORD),
    Column("type", "Type", Form.WORD),
    Column("version", "Version id"),
    Column("available", "Available from", Form.TIME),
    Column("status", "Status", Form.WORD),
    Column("theoretical", "Theoretical return", Form.SHARE),
    Column("actual", "Actual return", Form.SHARE),
    Column("rounds", "Rounds", Form.NUMBER),
    Column("staked", "Staked", Form.MONEY),
    Column("paid", "Paid", Form.MONEY),
    Column("voided", "Voided", Form.MONEY),
    Column("commission", "Commission and tax", Form.MONEY),
    Column("interrupted", "Funds in interrupted rounds", Form.MONEY),
    Column("currency", "Currency"),
    Column("voided_rounds", "Rounds voided", Form.NUMBER),
    Column("table", "Table"),
    Column("number", "Version of the table", Form.ID),
    Column("rules", "Rules"),
    Column("digest", "SHA-256 of the rules"),
    Column("withdrawn", "Withdrawn", Form.TIME),
)
PERFORMANCE_NOTES: Final = (
    gettext_noop("Real money only. Rounds, stakes and payouts exclude voided rounds."),
    gettext_noop("Stakes of voided rounds are shown under Voided, regardless of the time of the void."),
    gettext_noop(
        "The theoretical return is calculated for the bets placed, from the exact odds of the rules, before rounding."
    ),
    gettext_noop(
        "There is none where players bet against each other, and it is unknown for rules that are no longer installed."
    ),
    gettext_noop("Funds in interrupted rounds are as of the creation of the report."),
    gettext_noop("Versions without play in the interval and without interrupted rounds are omitted."),
)

Key = tuple[int, str]
"""Id of a table version, and a currency."""


@dataclass(frozen=True)
class _Line:
    """One version in one currency. Minor units."""

    version: TableVersion
    withdrawn: datetime | None
    currency: str
    played: Played | None
    on_bets: Mapping[str, int]
    interrupted: int


def performance(asked: Asked) -> Answer:
    """Return one row for each table version and currency, and totals for each currency."""
    lines = list(_lines(asked))
    return Answer(
        rows=[_row(line) for line in lines],
        of=len(lines),
        totals=lambda: list(_totals(lines)),
        notes=lambda: PERFORMANCE_NOTES,
    )


def _lines(asked: Asked) -> Iterator[_Line]:
    since, until = asked.interval.since, asked.interval.until
    found: dict[Key, Played] = {
        (each.version_id, each.currency): each for each in hourly_totals.played((since, until), Mode.REAL)
    }
    on_bets, interrupted = hourly_totals.staked_on_bets(asked.interval, Mode.REAL), funds_in_interrupted_rounds()
    keys = {*found, *interrupted}
    game, currency = asked.choices.get("game", ""), asked.choices.get("currency", "")
    next_one = TableVersion.objects.filter(table=OuterRef("table"), number=OuterRef("number") + 1)
    versions = (
        TableVersion.objects.filter(
            pk__in={version for version, _ in keys}, **({"table__variant": game} if game else {})
        )
        .select_related("table")
        .annotate(withdrawn=Subquery(next_one.values("created_at")), place=F("table__name"))
        .order_by("place", "number")
    )
    for version in versions:
        for code in Currency.values:
            key = (version.pk, code)
            if key in keys and currency in ("", code):
                yield _Line(
                    version, version.withdrawn, code, found.get(key), on_bets.get(key, {}), interrupted.get(key, 0)
                )


def funds_in_interrupted_rounds() -> Mapping[Key, int]:
    """Return the funds in rounds in progress at stopped tables, in minor units of real money."""
    open_rounds = LiveRound.objects.filter(
        phase__in=OPEN_PHASES, live_table__mode=Mode.REAL, live_table__stopped_by__isnull=False
    ).select_related("live_table__table")
    of_rounds: dict[UUID | None, int] = {each.pk: each.version_id for each in open_rounds}
    found: Counter[Key] = Counter()
    laid_on = LiveSeat.objects.filter(round_id__in=of_rounds).values_list("round_id", "currency", "stakes")
    for round_id, currency, stakes in laid_on:
        found[of_rounds[round_id], currency] += sum(stakes.values())
    between = {each.live_table_id: each for each in open_rounds if each.live_table.table.shape == Shape.CHEMIN}
    for live_table_id, chemin_state in read_chemin_states(between).items():
        laid = (*chemin_state.stakes, *([chemin_state.bank] if chemin_state.bank else []))
        found[between[live_table_id].version_id, chemin_state.currency] += sum(each.amount for each in laid)
    return +found


def theoretical(version: TableVersion, on_bets: Mapping[str, int]) -> Fraction | None:
    """Return the theoretical return of the bets as placed, from the exact odds, as a fraction of 1.

    None if it is not known.
    """
    game = GAMES.get(version.table.variant)
    staked = sum(on_bets.values())
    if not isinstance(game, Variant) or game.digest != version.rules_digest or staked == 0:
        return None
    odds = exact(game)
    return sum((odds[bet].rtp * stake for bet, stake in on_bets.items()), Fraction()) / staked


TABLE_STATUS: Final = {
    Status.OPEN: marked("report", "table open"),
    Status.PAUSED: marked("report", "table paused"),
    Status.CLOSED: marked("report", "table closed"),
}


def _status(line: _Line) -> str:
    if line.withdrawn is not None:
        return marked("report", "withdrawn")
    table = line.version.table
    return marked("report", "in force") if table.is_open else TABLE_STATUS[Status(table.status)]


def _row(line: _Line) -> Row:
    version, table = line.version, line.version.table
    return (
        game_cell(table.variant),
        str(Shape(table.shape).label),
        str(version.pk),
        _moment(version.created_at),
        _status(line),
        _share(theoretical(version, line.on_bets)),
        *_figures([line]),
        line.currency,
        line.played.voided if line.played else 0,
        table.name,
        version.number,
        version.rules_version,
        version.rules_digest,
        _moment(line.withdrawn),
    )


def _totals(lines: Sequence[_Line]) -> Iterator[Row]:
    for currency in Currency.values:
        of_it = [line for line in lines if line.currency == currency]
        if of_it:
            voided = sum(line.played.voided for line in of_it if line.played)
            yield (
                marked("report", "All"),
                "",
                "",
                None,
                "",
                None,
                *_figures(of_it),
                currency,
                voided,
                "",
                None,
                "",
                "",
                None,
            )


def _figures(lines: Sequence[_Line]) -> tuple[str | int | None, ...]:
    """Return the columns from actual return to funds in interrupted rounds."""
    played = [line.played for line in lines if line.played]
    staked, paid = sum(each.valid_staked for each in played), sum(each.valid_paid for each in played)
    return (
        _share(Fraction(paid, staked) if staked else None),
        sum(each.valid_rounds for each in played),
        staked,
        paid,
        sum(each.voided_staked for each in played),
        sum(each.valid_commission for each in played),
        sum(line.interrupted for line in lines),
    )


def _share(share: Fraction | None) -> str | None:
    return None if share is None else f"{float(share):.{DECIMALS}f}"


def _moment(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


PERFORMANCE: Final = kinds.Kind(
    name="performance",
    title=gettext_noop("Game performance"),
    purpose=gettext_noop("Actual and theoretical return of each game, by table version."),
    clause="GLI-19 v3.0, 2.9.2",
    columns=PERFORMANCE_COLUMNS,
    answer=performance,
    choices=(
        GAME,
        CURRENCY,
    ),
)


REVENUE_COLUMNS: Final = (
    Column("day", "Day", Form.WORD),
    Column("game", "Game", Form.WORD),
    Column("table", "Table"),
    Column("currency", "Currency"),
    Column("rounds", "Rounds", Form.NUMBER),
    Column("turnover", "Turnover", Form.MONEY),
    Column("between_players", "Stakes between players", Form.MONEY),
    Column("paid", "Paid", Form.MONEY),
    Column("revenue", "Gross gaming revenue", Form.MONEY),
    Column("commission", "Commission and tax", Form.MONEY),
    Column("voided_rounds", "Voided rounds", Form.NUMBER),
    Column("voided_staked", "Staked, voided", Form.MONEY),
    Column("voided_paid", "Paid, voided", Form.MONEY),
)
REVENUE_NOTES: Final = (
    gettext_noop("Real money only. Rounds, turnover, stakes, payouts, revenue and commission exclude voided rounds."),
    gettext_noop(
        "Turnover is the sum of stakes against the house. Stakes between players at Chemin de Fer are shown separately."
    ),
    gettext_noop("Voided rounds are shown on the day they were played, regardless of the time of the void."),
    gettext_noop("A shared round with stakes in several currencies is counted once per currency."),
    gettext_noop("Games of partner studios are not included; see the ledger reconciliation."),
)


@dataclass(frozen=True)
class _RevenueLine:
    """The play of one day at a table in one currency, with one entry for each table version."""

    day: date
    table: Table
    currency: str
    played: Sequence[Played]


def revenue(asked: Asked) -> Answer:
    """Return one row for each day, table and currency, and totals for each currency."""
    lines = [line for line in _revenue_lines(asked) if _is_wanted(line, asked.choices)]
    return Answer(
        rows=(_revenue_row(line) for line in lines),
        of=len(lines),
        totals=lambda: list(_revenue_totals(lines)),
        notes=lambda: REVENUE_NOTES,
    )


def _revenue_lines(asked: Asked) -> Iterator[_RevenueLine]:
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
        yield _RevenueLine(day, tables[played[0].version_id], currency, played)


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


def _is_wanted(line: _RevenueLine, choices: Mapping[str, str]) -> bool:
    game, currency = choices.get("game", ""), choices.get("currency", "")
    return game in ("", line.table.variant) and currency in ("", line.currency)


def _revenue_row(line: _RevenueLine) -> Row:
    return (line.day.isoformat(), game_cell(line.table.variant), line.table.name, line.currency, *figures(line.played))


def _revenue_totals(lines: Sequence[_RevenueLine]) -> Iterator[Row]:
    for currency in Currency.values:
        played = [each for line in lines if line.currency == currency for each in line.played]
        if played:
            yield (marked("report", "All"), "", "", currency, *figures(played))


def figures(played: Sequence[Played]) -> tuple[int, ...]:
    """Return the columns from rounds on, in one currency."""
    return (
        sum(each.valid_rounds for each in played),
        sum(each.turnover for each in played),
        sum(each.between_players for each in played),
        sum(each.valid_paid for each in played),
        sum(each.revenue for each in played),
        sum(each.valid_commission for each in played),
        sum(each.voided for each in played),
        sum(each.voided_staked for each in played),
        sum(each.voided_paid for each in played),
    )


REVENUE: Final = kinds.Kind(
    name="revenue",
    title=gettext_noop("Gross gaming revenue"),
    purpose=gettext_noop("Stakes less payouts, by day, game, table and currency."),
    clause="",
    columns=REVENUE_COLUMNS,
    answer=revenue,
    choices=(
        GAME,
        CURRENCY,
    ),
)


TOGETHER_COLUMNS: Final = (
    Column("day", "Day", Form.WORD),
    Column("game", "Game", Form.WORD),
    Column("table", "Table"),
    Column("played_in", "Played in"),
    Column("rate", "Rate"),
    Column("rate_day", "Rate of"),
    Column("currency", "Currency"),
    Column("rounds", "Rounds", Form.NUMBER),
    Column("turnover", "Turnover", Form.MONEY),
    Column("between_players", "Stakes between players", Form.MONEY),
    Column("revenue", "Gross gaming revenue", Form.MONEY),
)
TOGETHER_NOTES: Final = (
    *REVENUE_NOTES[:3],
    gettext_noop("The rate is the value of one unit of the reporting currency in the currency of play on that day."),
    gettext_noop("A day without a rate uses the rate of the last earlier day that has one."),
    gettext_noop(
        "Rows are rounded individually and totals only once, so the sum of the rows can differ from the total by a few "
        "cents."
    ),
    REVENUE_NOTES[-1],
)


@dataclass(frozen=True)
class _Converted:
    """A line of revenue, its rate, and turnover, stakes between players and GGR in exact parts of minor units."""

    line: _RevenueLine
    rate: Rate | None  # None for the reporting currency, and where none is known
    amounts: Sequence[Fraction] | None  # None if no rate is known


def revenue_together(asked: Asked) -> Answer:
    """Return one row for each day, table and currency in the reporting currency, and one total of them all."""
    found = [line for line in _revenue_lines(asked) if _is_wanted(line, asked.choices)]
    rates = Rates.read(found[0].day, found[-1].day) if found else None
    lines = [_converted(line, rates) for line in found] if rates else []
    return Answer(
        rows=(_together_row(each) for each in lines),
        of=len(lines),
        totals=lambda: list(_together_totals(lines)),
        notes=lambda: [*TOGETHER_NOTES, *_lacking(lines)],
    )


def _converted(line: _RevenueLine, rates: Rates) -> _Converted:
    factor = rates.factor(line.currency, line.day)
    rate = None if line.currency == rates.base else rates.on(line.currency, line.day)
    if factor is None:
        return _Converted(line, rate, None)
    sums = (
        sum(each.turnover for each in line.played),
        sum(each.between_players for each in line.played),
        sum(each.revenue for each in line.played),
    )
    return _Converted(line, rate, [each * factor for each in sums])


def _together_row(each: _Converted) -> Row:
    day, game, table, currency, rounds = _revenue_row(each.line)[:5]
    amounts = [None] * 3 if each.amounts is None else [round(amount) for amount in each.amounts]
    rate, rate_day = ("", "") if each.rate is None else (f"{each.rate.value.normalize():f}", each.rate.day.isoformat())
    return (day, game, table, currency, rate, rate_day, settings.REPORTING_CURRENCY, rounds, *amounts)


def _together_totals(lines: Sequence[_Converted]) -> Iterator[Row]:
    """Yield the total. Amounts are None if a row has no rate: a sum of the others would mislead."""
    if lines:
        known = [each.amounts for each in lines if each.amounts is not None]
        is_whole = len(known) == len(lines)
        amounts = [round(sum(column, Fraction())) if is_whole else None for column in zip(*known, strict=True)]
        rounds = sum(each.valid_rounds for one in lines for each in one.line.played)
        everything = marked("report", "All")
        yield (everything, "", "", "", "", "", settings.REPORTING_CURRENCY, rounds, *(amounts or [None] * 3))


def _lacking(lines: Sequence[_Converted]) -> Iterator[Stored]:
    lacking = sorted({(each.line.currency, each.line.day) for each in lines if each.amounts is None})
    for currency, day in lacking:
        text = gettext_noop(
            "There is no exchange rate for %(currency)s on or before %(day)s. Its amounts and the totals are left "
            "empty."
        )
        yield sentence(text, currency=currency, day=day.isoformat())


REVENUE_TOGETHER: Final = kinds.Kind(
    name="revenue_together",
    title=gettext_noop("Gross gaming revenue, all currencies"),
    purpose=gettext_noop("Turnover and GGR of all currencies in the reporting currency, with the rate of each day."),
    clause="",
    columns=TOGETHER_COLUMNS,
    answer=revenue_together,
    choices=(GAME,),
    is_daily=False,
)
