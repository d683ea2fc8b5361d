"""The period of a statement (GLI-19 v3.0, 2.5.7) and its figures: balances, totals by kind and game.

One SQL statement reads them all, so they agree with each other even if movements are posted at the
same time. The player's accounts are added together: a transfer between them (Golden Baccarat, a
bank at Chemin de Fer, a pending withdrawal) does not change the total.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from audit import id_ranges
from games.labels import variant_label
from games.variants import GAMES
from players.models import Player
from wallet.ledger.statements import ASIDE, BANKS, NAMES, OTHER
from wallet.models import Account, AccountKind, Entry, Mode

MONTHS = 12  # in a year


class Choice(StrEnum):
    """The named periods."""

    MONTH = "month"
    LAST_MONTH = "last_month"
    THREE_MONTHS = "three_months"
    YEAR = "year"
    TWELVE_MONTHS = "twelve_months"


@dataclass(frozen=True)
class Period:
    """From a day to a day, both included, in a time zone."""

    since: date
    until: date
    zone: ZoneInfo

    @property
    def begin(self) -> datetime:
        """The moment the first day begins."""
        return datetime.combine(self.since, time(), self.zone)

    @property
    def end(self) -> datetime:
        """The moment the last day is over."""
        return datetime.combine(self.until + timedelta(days=1), time(), self.zone)


def today_in(zone: ZoneInfo) -> date:
    """Return today's date in *zone* by the database clock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT (clock_timestamp() AT TIME ZONE %s)::date", [zone.key])
        (today,) = cursor.fetchone()
    return today


def chosen(choice: Choice, zone: ZoneInfo, today: date) -> Period:
    """Return the named period as seen on the day *today*."""
    first = today.replace(day=1)
    match choice:
        case Choice.MONTH:
            return Period(first, today, zone)
        case Choice.LAST_MONTH:
            return Period(months_before(first, 1), first - timedelta(days=1), zone)
        case Choice.THREE_MONTHS:
            return Period(months_before(today, 3), today, zone)
        case Choice.YEAR:
            return Period(today.replace(month=1, day=1), today, zone)
        case Choice.TWELVE_MONTHS:
            return Period(months_before(today, MONTHS), today, zone)


def months_before(day: date, months: int) -> date:
    """Return the same day *months* earlier, or the last day of a shorter month."""
    year, month = divmod(day.year * MONTHS + day.month - 1 - months, MONTHS)
    next_year, next_month = divmod(year * MONTHS + month + 1, MONTHS)
    last = (date(next_year, next_month + 1, 1) - timedelta(days=1)).day
    return date(year, month + 1, min(day.day, last))


STAKE, PAYOUT, COUP = "stake", "settle", "coup"

# One row for each movement without a round, and for each day, game and kind of movement with a
# round. Stakes of a shared round in progress count as stakes. The result of a coup for a bank is a
# row of its own, with the covered part of the bank. A draw moves nothing but counts as a coup.
#
# Everything before the period is one row. If all entries of an account before a certain version are
# older than the period, they are not read: the balance after the last of them is their sum.
# Journals are looked up one by one, because a generic plan, made without the player's id, would
# read the journals of all months.
LUMPS = """
SELECT part.day, part.kind, part.variant, part.journal, min(posting.at) FILTER (WHERE posting.at >= %(begin)s),
       count(DISTINCT posting.round_id),
       sum(posting.amount), sum(greatest(posting.amount, 0)),
       coalesce(sum(posting.amount) FILTER (WHERE account.kind = 'cash'), 0),
       coalesce(sum(posting.amount) FILTER (WHERE account.kind = 'purse'), 0),
       coalesce(sum(posting.amount) FILTER (WHERE account.kind = 'bank'), 0),
       coalesce(sum(posting.amount) FILTER (WHERE account.kind = 'refund'), 0), coalesce(sum(coup.at_risk), 0)
FROM wallet_account AS account
LEFT JOIN unnest(%(accounts)s::bigint[], %(firsts)s::bigint[]) AS known (id, first) ON known.id = account.id
CROSS JOIN LATERAL (
    SELECT journal.id, journal.kind, journal.round_id, journal.at, entry.amount
    FROM wallet_entry AS entry
    CROSS JOIN LATERAL (SELECT * FROM wallet_journal WHERE id = entry.journal_id OFFSET 0) AS journal
    WHERE entry.account_id = account.id AND entry.version >= coalesce(known.first, 0)
    UNION ALL
    SELECT NULL, NULL, NULL, '-infinity', last.balance_after
    FROM wallet_entry AS last WHERE last.account_id = account.id AND last.version = known.first - 1
) AS posting
LEFT JOIN games_round AS round ON round.id = posting.round_id
LEFT JOIN games_liveround AS live ON live.id = posting.round_id
LEFT JOIN games_tableversion AS version ON version.id = coalesce(round.table_version_id, live.version_id)
LEFT JOIN games_table AS game_table ON game_table.id = version.table_id
LEFT JOIN games_chemincoup AS coup
       ON coup.round_id = posting.round_id AND account.kind = 'bank' AND posting.kind = 'settle'
CROSS JOIN LATERAL (
    SELECT CASE WHEN posting.at >= %(begin)s THEN (posting.at AT TIME ZONE %(zone)s)::date END AS day,
           CASE WHEN posting.at >= %(begin)s THEN
               CASE WHEN posting.kind = 'held_stake' THEN 'stake'
                    WHEN posting.kind = 'settle' AND account.kind = 'bank' THEN 'coup' ELSE posting.kind END
               END AS kind,
           CASE WHEN posting.at >= %(begin)s AND posting.round_id IS NOT NULL AND posting.kind <> ALL (%(banks)s)
               THEN coalesce(game_table.variant, '') END AS variant,
           CASE WHEN posting.at >= %(begin)s AND (posting.round_id IS NULL OR posting.kind = ANY (%(banks)s))
               THEN posting.id END AS journal
) AS part
WHERE account.owner_id = %(player)s AND account.mode = %(mode)s AND posting.at < %(end)s
GROUP BY part.day, part.kind, part.variant, part.journal
UNION ALL
SELECT (coup.at AT TIME ZONE %(zone)s)::date AS day, 'coup', game_table.variant, NULL, min(coup.at),
       count(*), 0, 0, 0, 0, 0, 0, sum(coup.at_risk)
FROM games_chemincoup AS coup JOIN games_liveround AS live ON live.id = coup.round_id
JOIN games_livetable AS at_table ON at_table.id = live.live_table_id AND at_table.mode = %(mode)s
JOIN games_table AS game_table ON game_table.id = at_table.table_id
WHERE coup.banker_player_id = %(player)s AND coup.outcome = 'draw' AND coup.at >= %(begin)s AND coup.at < %(end)s
GROUP BY 1, game_table.variant
ORDER BY 1 NULLS FIRST, 5, 4
"""


@dataclass(frozen=True)
class Owned:
    """The parts of a player's balance, in minor units."""

    cash: int = 0
    purse: int = 0
    bank: int = 0  # at Chemin de Fer
    pending: int = 0  # pending withdrawals
    refund: int = 0  # deposits that are sent back

    @property
    def total(self) -> int:
        """The sum of all parts."""
        return self.cash + self.purse + self.bank + self.pending + self.refund

    def __add__(self, other: "Owned") -> "Owned":
        return Owned(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class Lump:
    """A movement, or all movements of one kind in one game on one day. Amounts in minor units."""

    day: date
    kind: str
    variant: str | None  # slug of the game; "" if the round is not stored, None without a round
    journal_id: int | None
    at: datetime  # of the first movement
    rounds: int
    amount: int  # change of the player's total balance
    within: int  # moved between the player's own accounts, without withdrawals
    aside: int  # set aside or returned by a withdrawal
    owned: Owned
    at_risk: int = 0  # covered part of the banks that the player held

    @property
    def name(self) -> Promise:
        """The name of the movement in the reader's language."""
        return NAMES.get(self.kind, OTHER)


@dataclass(frozen=True)
class ClassSum:
    """The total of one kind of movement."""

    name: Promise
    amount: int
    within: int  # moved between the player's own accounts, without withdrawals
    aside: int = 0  # set aside or returned by a withdrawal


@dataclass
class GameSum:
    """The totals of one game. *paid* includes returned stakes; *other* is what voided rounds moved."""

    variant: str
    rounds: int = 0
    staked: int = 0
    paid: int = 0
    other: int = 0
    day: date | None = None  # None: the whole period

    @property
    def net(self) -> int:
        """The player's net win; negative for a loss."""
        return self.paid - self.staked + self.other

    def take(self, lump: Lump) -> None:
        """Add a movement to the totals."""
        if lump.kind == STAKE:
            self.rounds += lump.rounds
            self.staked -= lump.amount
        elif lump.kind == PAYOUT:
            self.paid += lump.amount
        elif lump.kind == COUP:
            self.rounds += lump.rounds
            self.staked += lump.at_risk
            self.paid += lump.at_risk + lump.amount
        else:
            self.other += lump.amount


@dataclass(frozen=True)
class Figures:
    """A statement. ``opening.total`` and the amounts of all ``sums`` add up to ``closing.total``."""

    opening: Owned
    closing: Owned
    sums: tuple[ClassSum, ...] = ()
    games: tuple[GameSum, ...] = ()
    days: tuple[GameSum, ...] = ()  # one for each day and game, oldest first
    money: tuple[Lump, ...] = ()  # movements that belong to no round, oldest first

    @property
    def is_empty(self) -> bool:
        """True if there was no movement."""
        return not self.sums

    @property
    def total(self) -> int:
        """The change of the player's total balance in the period."""
        return sum(each.amount for each in self.sums)


def figures(player: Player, mode: Mode, period: Period) -> Figures:
    """Return the statement of a period of days."""
    return figures_between(player, mode, period.begin, period.end, period.zone.key)


def figures_between(player: Player, mode: Mode, begin: datetime, end: datetime, zone: str) -> Figures:
    """Return the statement from *begin* until before *end*, with days in *zone*."""
    asked: dict[str, Any] = firsts(player, mode, begin) | {
        "player": player.pk,
        "mode": mode.value,
        "begin": begin,
        "end": end,
        "zone": zone,
        "banks": list(BANKS),
    }
    with connection.cursor() as cursor:
        cursor.execute(LUMPS, asked)
        rows = cursor.fetchall()
    opening = next((_owned(row) for row in rows if row[0] is None), Owned())
    lumps = [_lump(row) for row in rows if row[0] is not None]
    return Figures(
        opening=opening,
        closing=sum((lump.owned for lump in lumps), opening),
        sums=_sums(lumps),
        games=_games(lumps, by_day=False),
        days=_games(lumps, by_day=True),
        money=tuple(lump for lump in lumps if lump.journal_id is not None),
    )


def firsts(player: Player, mode: Mode, begin: datetime) -> dict[str, list[int]]:
    """Return an entry version for each permanent account; all earlier entries are before *begin*.

    Entries posted at the same time have higher versions.
    """
    lasting = Account.objects.filter(owner=player, mode=mode).exclude(kind=AccountKind.BANK)
    accounts = list(lasting.values_list("pk", flat=True))
    entries = Entry.objects.filter(version__isnull=False)
    found = [id_ranges.keys(entries.filter(account=each), "version", "journal__at", begin, None) for each in accounts]
    return {"accounts": accounts, "firsts": [numbers.start for numbers in found]}


def _owned(row: tuple[Any, ...]) -> Owned:
    *_, total, _into, cash, purse, bank, refund, _at_risk = row
    return Owned(int(cash), int(purse), int(bank), int(total - cash - purse - bank - refund), int(refund))


def _lump(row: tuple[Any, ...]) -> Lump:
    day, kind, variant, journal_id, at, rounds, amount, into, _cash, _purse, _bank, _refund, at_risk = row
    inside = 0 if amount else int(into)
    within, aside = (0, inside) if kind in ASIDE else (inside, 0)
    return Lump(day, kind, variant, journal_id, at, rounds, int(amount), within, aside, _owned(row), int(at_risk))


def _sums(lumps: Iterable[Lump]) -> tuple[ClassSum, ...]:
    """Return the total of each kind of movement, in the order of NAMES; unnamed kinds come last."""
    found: dict[str, list[Lump]] = {}
    for lump in lumps:
        found.setdefault(lump.kind if lump.kind in NAMES else "", []).append(lump)
    return tuple(
        ClassSum(
            NAMES.get(kind, OTHER),
            sum(each.amount for each in found[kind]),
            sum(each.within for each in found[kind]),
            sum(each.aside for each in found[kind]),
        )
        for kind in (*NAMES, "")
        if kind in found
    )


def _games(lumps: Iterable[Lump], *, by_day: bool) -> tuple[GameSum, ...]:
    found: dict[tuple[date | None, str], GameSum] = {}
    for lump in lumps:
        if lump.variant is not None:
            day = lump.day if by_day else None
            found.setdefault((day, lump.variant), GameSum(lump.variant, day=day)).take(lump)
    return tuple(found[key] for key in sorted(found, key=lambda key: (key[0] or date.min, key[1])))


def game_names(language: str) -> dict[str, str]:
    """Return the name of every game by its slug."""
    return {slug: variant_label(variant, "name", language) for slug, variant in GAMES.items()}


def game_name(slug: str, language: str) -> str:
    """Return the name of a game; "Other games" if the round is not stored."""
    return game_names(language).get(slug) or _("Other games")
