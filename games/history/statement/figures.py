"""The figures of a statement: what a player owned before the period, every class of movement summed, what each game
took and gave, and what they owned afterwards.

All of them come from one SQL statement, so that they agree with each other whatever is booked meanwhile. The player's
accounts are taken together: what moves between them (to and from Golden Baccarat or a bank at Chemin de Fer, a
withdrawal set aside) changes nothing of what the player owns.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any

from django.db import connection
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from audit import id_ranges
from games.history.statement.period import Period
from games.labels import variant_label
from games.variants import GAMES
from players.models import Player
from wallet.ledger.statements import ASIDE, BANKS, NAMES, OTHER
from wallet.models import Account, AccountKind, Entry, Mode

STAKE, PAYOUT, COUP = "stake", "settle", "coup"

# One row for each movement that belongs to no round, and for each day, game and kind of movement of rounds: stakes of a
# shared round are stakes like any other, also while it is in progress. What a coup did to a bank is told apart, with
# what was covered of that bank; a draw, which leaves the bank as it was, moves nothing and counts all the same.
# Whatever was before the period is one row. Of an account whose entries before a number are all older than the period
# these are not read: what they came to is what the last of them left. Journals are looked up one by one: a plan that
# knows no player takes it for cheaper to read those of all months.
LUMPS = """
SELECT part.day, part.kind, part.variant, part.journal, min(moved.at) FILTER (WHERE moved.at >= %(begin)s),
       count(DISTINCT moved.round_id),
       sum(moved.amount), sum(greatest(moved.amount, 0)),
       coalesce(sum(moved.amount) FILTER (WHERE account.kind = 'cash'), 0),
       coalesce(sum(moved.amount) FILTER (WHERE account.kind = 'purse'), 0),
       coalesce(sum(moved.amount) FILTER (WHERE account.kind = 'bank'), 0), coalesce(sum(coup.at_risk), 0)
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
) AS moved
LEFT JOIN games_round AS round ON round.id = moved.round_id
LEFT JOIN games_liveround AS live ON live.id = moved.round_id
LEFT JOIN games_tableversion AS version ON version.id = coalesce(round.table_version_id, live.version_id)
LEFT JOIN games_table AS seat ON seat.id = version.table_id
LEFT JOIN games_chemincoup AS coup
       ON coup.round_id = moved.round_id AND account.kind = 'bank' AND moved.kind = 'settle'
CROSS JOIN LATERAL (
    SELECT CASE WHEN moved.at >= %(begin)s THEN (moved.at AT TIME ZONE %(zone)s)::date END AS day,
           CASE WHEN moved.at >= %(begin)s THEN
               CASE WHEN moved.kind = 'held_stake' THEN 'stake'
                    WHEN moved.kind = 'settle' AND account.kind = 'bank' THEN 'coup' ELSE moved.kind END
               END AS kind,
           CASE WHEN moved.at >= %(begin)s AND moved.round_id IS NOT NULL AND moved.kind <> ALL (%(banks)s)
               THEN coalesce(seat.variant, '') END AS variant,
           CASE WHEN moved.at >= %(begin)s AND (moved.round_id IS NULL OR moved.kind = ANY (%(banks)s))
               THEN moved.id END AS journal
) AS part
WHERE account.owner_id = %(player)s AND account.mode = %(mode)s AND moved.at < %(end)s
GROUP BY part.day, part.kind, part.variant, part.journal
UNION ALL
SELECT (coup.at AT TIME ZONE %(zone)s)::date AS day, 'coup', seat.variant, NULL, min(coup.at), count(*), 0, 0, 0, 0, 0,
       sum(coup.at_risk)
FROM games_chemincoup AS coup JOIN games_liveround AS live ON live.id = coup.round_id
JOIN games_livetable AS at_table ON at_table.id = live.live_table_id AND at_table.mode = %(mode)s
JOIN games_table AS seat ON seat.id = at_table.table_id
WHERE coup.banker_player_id = %(player)s AND coup.outcome = 'draw' AND coup.at >= %(begin)s AND coup.at < %(end)s
GROUP BY 1, seat.variant
ORDER BY 1 NULLS FIRST, 5, 4
"""


@dataclass(frozen=True)
class Owned:
    """What a player owns, in minor units, and where it lies."""

    cash: int = 0
    purse: int = 0
    bank: int = 0  # at Chemin de Fer
    pending: int = 0  # withdrawals under way

    @property
    def total(self) -> int:
        """All of it."""
        return self.cash + self.purse + self.bank + self.pending

    def __add__(self, other: "Owned") -> "Owned":
        return Owned(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class Lump:
    """A movement of money, or all movements of one kind in one game on one day. Amounts in minor units."""

    day: date
    kind: str
    variant: str | None  # slug of the game; "" where the round is not among the finished ones, None without a round
    journal_id: int | None
    at: datetime  # the first of them
    rounds: int
    amount: int  # what it added to what the player owns
    within: int  # what it moved between the player's own accounts, but for withdrawals
    aside: int  # what a withdrawal set aside, or gave back
    moved: Owned
    at_risk: int = 0  # what was covered of banks that the player held

    @property
    def name(self) -> Promise:
        """What it was for, in the reader's language."""
        return NAMES.get(self.kind, OTHER)


@dataclass(frozen=True)
class ClassSum:
    """All movements of one class."""

    name: Promise
    amount: int
    within: int  # what they moved between the player's own accounts, but for withdrawals
    aside: int = 0  # what a withdrawal set aside, or gave back


@dataclass
class GameSum:
    """What a game took and gave; *paid* is with the stakes returned, *other* what annulments moved."""

    variant: str
    rounds: int = 0
    staked: int = 0
    paid: int = 0
    other: int = 0
    day: date | None = None  # None: the whole period

    @property
    def net(self) -> int:
        """What the player won in it, less what they lost."""
        return self.paid - self.staked + self.other

    def take(self, lump: Lump) -> None:
        """Add what a lump says."""
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
    """A statement. ``opening.total`` and the amounts of all ``sums`` make ``closing.total``."""

    opening: Owned
    closing: Owned
    sums: tuple[ClassSum, ...] = ()
    games: tuple[GameSum, ...] = ()
    days: tuple[GameSum, ...] = ()  # one for each day and game, oldest first
    money: tuple[Lump, ...] = ()  # movements that belong to no round, oldest first

    @property
    def is_empty(self) -> bool:
        """Whether nothing moved."""
        return not self.sums

    @property
    def total(self) -> int:
        """What the period added to what the player owns."""
        return sum(each.amount for each in self.sums)


def figures(player: Player, mode: Mode, period: Period) -> Figures:
    """Return the statement of a period of days."""
    return figures_between(player, mode, period.begin, period.end, period.zone.key)


def figures_between(player: Player, mode: Mode, begin: datetime, end: datetime, zone: str) -> Figures:
    """Return the statement from one moment until before another, its days those of *zone*."""
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
        closing=sum((lump.moved for lump in lumps), opening),
        sums=_sums(lumps),
        games=_games(lumps, by_day=False),
        days=_games(lumps, by_day=True),
        money=tuple(lump for lump in lumps if lump.journal_id is not None),
    )


def firsts(player: Player, mode: Mode, begin: datetime) -> dict[str, list[int]]:
    """Return a number on each account of the player's that lasts, before which everything was before *begin*. What is
    booked meanwhile has higher ones.
    """
    lasting = Account.objects.filter(owner=player, mode=mode).exclude(kind=AccountKind.BANK)
    accounts = list(lasting.values_list("pk", flat=True))
    entries = Entry.objects.filter(version__isnull=False)
    found = [id_ranges.keys(entries.filter(account=each), "version", "journal__at", begin, None) for each in accounts]
    return {"accounts": accounts, "firsts": [numbers.start for numbers in found]}


def _owned(row: tuple[Any, ...]) -> Owned:
    *_, total, _into, cash, purse, bank, _at_risk = row
    return Owned(int(cash), int(purse), int(bank), int(total - cash - purse - bank))


def _lump(row: tuple[Any, ...]) -> Lump:
    day, kind, variant, journal_id, at, rounds, amount, into, _cash, _purse, _bank, at_risk = row
    inside = 0 if amount else int(into)
    within, aside = (0, inside) if kind in ASIDE else (inside, 0)
    return Lump(day, kind, variant, journal_id, at, rounds, int(amount), within, aside, _owned(row), int(at_risk))


def _sums(lumps: Iterable[Lump]) -> tuple[ClassSum, ...]:
    """Sum each class of movements, in the order of their names' list; what has no name comes last."""
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
    """Return a game's name; of a round that is not among the finished ones, that its game is another."""
    return game_names(language).get(slug) or _("Other games")
