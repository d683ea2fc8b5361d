"""Hourly totals of what the ledger moved, by journal kind, account kind, currency and mode.

Whole hours are read from stored totals (`audit.hours`). The ends of an interval are read from the
entries. So the result is exact for any interval and few rows are read. Entries are found by their
journals' ids, which are nearly in order of time.

With each hour, what the house held for players at its end is recorded in the event log. Held amounts are current
state, but those of each full hour are kept (`PastHold`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from django.db import connection, transaction

from audit import hours, id_ranges, log
from audit.hours import HOUR
from audit.reports.kinds import Interval
from wallet.models import AccountKind, Mode

HOURLY_TOTALS: Final = "wallet.ledger"
CHECKED: Final = 24  # hours that one statement of `differences` reads
BEGINNING: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""A time before the first posting."""

# A reversing journal counts under the reversed journal's kind, with "void_" before it. Each
# reversed journal is looked up separately, because there are few. A plain join would read the
# journals of all months for every hour.
ENTRIES = """
    SELECT CASE WHEN journal.reverses_id IS NULL THEN journal.kind ELSE coalesce(
            (SELECT 'void_' || was.kind FROM wallet_journal AS was WHERE was.id = journal.reverses_id), journal.kind)
        END AS journal_kind,
        account.kind AS account_kind, entry.currency, entry.mode, count(*) AS entries,
        sum(entry.amount)::bigint AS amount, sum(greatest(entry.amount, 0))::bigint AS "into"
    FROM wallet_journal AS journal
    JOIN wallet_entry AS entry ON entry.journal_id = journal.id
    JOIN wallet_account AS account ON account.id = entry.account_id
    WHERE journal.id >= %(first)s AND journal.id < %(beyond)s AND journal.at >= %(since)s AND journal.at < %(until)s
      AND entry.journal_id >= %(first)s AND entry.journal_id < %(beyond)s
    GROUP BY 1, 2, 3, 4
"""
COLUMNS = 'journal_kind, account_kind, currency, mode, entries, amount, "into"'
ROLL = f"""
WITH made AS (
    INSERT INTO wallet_ledgerhourlytotal (hour, {COLUMNS}) SELECT %(since)s, {COLUMNS} FROM ({ENTRIES}) AS summed
        RETURNING entries
)
SELECT coalesce(sum(entries), 0)::bigint FROM made
"""  # noqa: S608  (put together from constants)
STORED = """
    SELECT journal_kind, account_kind, currency, mode, sum(entries)::bigint AS entries, sum(amount)::bigint AS amount,
        sum("into")::bigint AS "into"
    FROM wallet_ledgerhourlytotal WHERE hour >= %(since)s AND hour < %(until)s GROUP BY 1, 2, 3, 4
"""
STORED_BY_HOUR = f"""
    SELECT hour, {COLUMNS} FROM wallet_ledgerhourlytotal WHERE hour >= %(since)s AND hour < %(until)s
"""  # noqa: S608  (put together from constants)
# Other processors serve players. Groups are few, and the planner expects so many that it would sort all entries.
ONE_PROCESSOR = "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL enable_sort = off"
NEXT = "SELECT at FROM wallet_journal WHERE id >= %s AND at >= %s ORDER BY id LIMIT 1"
FIRST = "SELECT min(at) FROM wallet_journal WHERE id >= %s AND id < %s AND at >= %s"

SNAPSHOT = """
    SELECT total.account_kind, total.currency, total.mode, total.balance, coalesce(hold.held, 0)
    FROM (
        SELECT account_kind, currency, mode, sum(amount)::bigint AS balance FROM wallet_ledgerhourlytotal
        WHERE hour < %(at)s AND account_kind = ANY(%(kinds)s) GROUP BY 1, 2, 3
    ) AS total LEFT JOIN wallet_held_at(%(at)s) AS hold USING (account_kind, currency, mode)
    ORDER BY 1, 2, 3
"""
SNAPSHOT_TAKEN: Final = "accounts.snapshot"  # event kind
HELD = "SELECT currency, sum(held)::bigint FROM wallet_held_at(%s) WHERE mode = %s GROUP BY currency"
HELD_FOR_PLAYERS: Final = (
    AccountKind.CASH,
    AccountKind.PURSE,
    AccountKind.BANK,
    AccountKind.ESCROW,
    AccountKind.STAKES,
    AccountKind.PENDING,
    AccountKind.REFUND,
)
"""Kinds of accounts with money that the house holds for players."""


@dataclass(frozen=True)
class Sum:
    """Totals of one journal kind on one account kind. Amounts in minor units."""

    journal_kind: str  # for a reversal: "void_" and the reversed journal's kind
    account_kind: str
    currency: str
    mode: str
    entries: int
    amount: int  # net: into the accounts, negative for out of them
    into: int  # sum of the positive entries only

    def __add__(self, other: "Sum") -> "Sum":
        return replace(
            self, entries=self.entries + other.entries, amount=self.amount + other.amount, into=self.into + other.into
        )


def read_totals(interval: Interval) -> tuple[Sum, ...]:
    """Return the totals of *interval*, exact to the entry."""
    (cut,) = hours.cut(HOURLY_TOTALS, [interval])
    found: dict[tuple[str, str, str, str], Sum] = {}
    pieces = [_entries(end) for end in cut.ends] + ([_stored(cut.whole)] if cut.whole else [])
    for total in (each for piece in pieces for each in piece):
        what = (total.journal_kind, total.account_kind, total.currency, total.mode)
        before = found.get(what)
        found[what] = total if before is None else before + total
    return tuple(found[what] for what in sorted(found))


SERIES = """
    SELECT whole.number, journal_kind, account_kind, currency, mode, sum(entries)::bigint, sum(amount)::bigint,
        sum("into")::bigint
    FROM unnest(%(numbers)s::integer[], %(since)s::timestamptz[], %(until)s::timestamptz[])
        AS whole (number, since, until)
    JOIN wallet_ledgerhourlytotal AS total ON total.hour >= whole.since AND total.hour < whole.until
    GROUP BY 1, 2, 3, 4, 5
"""
ENDS = ENTRIES.replace(
    "SELECT CASE", "SELECT width_bucket(journal.at, %(bounds)s::timestamptz[]) - 1, CASE", 1
).replace("GROUP BY 1, 2, 3, 4", "GROUP BY 1, 2, 3, 4, 5")


def read_series(bounds: Sequence[datetime]) -> list[list[Sum]]:
    """Return the totals between each two successive *bounds*, which ascend, exact to the entry.

    The number of statements does not depend on the number of periods, if these begin at full hours.
    Totals of one kind may come in several parts.
    """
    cuts = hours.cut(HOURLY_TOTALS, [Interval(since, until) for since, until in pairwise(bounds)])
    whole = [(number, cut.whole) for number, cut in enumerate(cuts) if cut.whole]
    values = {
        "numbers": [number for number, _ in whole],
        "since": [each.since for _, each in whole],
        "until": [each.until for _, each in whole],
    }
    rows = _rows(SERIES, values) if whole else []
    for run in _runs([end for cut in cuts for end in cut.ends]):
        rows += _rows(ENDS, _where(run) | {"bounds": list(bounds)})
    found: list[list[Sum]] = [[] for _ in bounds[1:]]
    for number, *rest in rows:
        found[number].append(Sum(*rest))
    return found


def _runs(ends: Iterable[Interval]) -> list[Interval]:
    """Join intervals that follow each other without a gap."""
    found: list[Interval] = []
    for end in ends:
        if found and found[-1].until == end.since:
            found[-1] = Interval(found[-1].since, end.until)
        else:
            found.append(end)
    return found


def roll(hour: datetime) -> int:
    """Store the totals of an hour, record the players' accounts at its end, and return how many entries were read."""
    end = hour + HOUR
    with connection.cursor() as cursor:
        cursor.execute(ROLL, _where(Interval(hour, end)))
        read: int = cursor.fetchone()[0]
        cursor.execute(SNAPSHOT, {"at": end, "kinds": [*HELD_FOR_PLAYERS]})
        rows = cursor.fetchall()
    if rows:
        data: dict[str, log.Json] = {"at": end.isoformat(), "rows": [list(row) for row in rows]}
        log.record(SNAPSHOT_TAKEN, by="system", on="accounts", data=data)
    return read


def held_at(hour: datetime) -> Mapping[str, int]:
    """Return the real money on hold on players' accounts at a full hour that is over, by currency, in minor units."""
    with connection.cursor() as cursor:
        cursor.execute(HELD, [hour, Mode.REAL])
        return dict(cursor.fetchall())


def first(since: datetime | None) -> datetime | None:
    """Return the time of the first journal at or after *since*, or of the very first if None."""
    begin = since or BEGINNING
    lowest = id_ranges.first_id("wallet_journal", begin)
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [lowest, begin])
        found = cursor.fetchone()
        if found is None:
            return None
        # A journal with an earlier time may have a higher id.
        cursor.execute(FIRST, [lowest, id_ranges.ids("wallet_journal", Interval(begin, found[0])).stop, begin])
        moment: datetime = cursor.fetchone()[0]
    return moment


def differences(whole: Interval) -> Iterator[str]:
    """Recompute whole hours and yield a sentence for each stored total that differs."""
    begins = whole.since
    while begins < whole.until:
        days = Interval(begins, min(begins + CHECKED * HOUR, whole.until))
        bounds = [days.since + number * HOUR for number in range((days.until - days.since) // HOUR)]
        where = _where(days) | {"bounds": bounds}
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(ONE_PROCESSOR)
            cursor.execute(ENDS, where)
            summed = {(bounds[number], *rest) for number, *rest in cursor}
        stored = set(_rows(STORED_BY_HOUR, vars(days)))
        for each in sorted(summed ^ stored):
            hour, *total = each
            said = "is stored, but the entries give another total" if each in stored else "is the total of the entries"
            yield f"{hour:%Y-%m-%d %H:%M}: {' '.join(map(str, total))} {said}"
        begins = days.until


def _entries(interval: Interval) -> list[Sum]:
    return _read(ENTRIES, _where(interval))


def _stored(hours_of: Interval) -> list[Sum]:
    return _read(STORED, {"since": hours_of.since, "until": hours_of.until})


def _read(question: str, values: dict[str, Any]) -> list[Sum]:
    return [Sum(*row) for row in _rows(question, values)]


def _rows(question: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(question, values)
        return cursor.fetchall()


def _where(interval: Interval) -> dict[str, Any]:
    found = id_ranges.ids("wallet_journal", interval)
    return {"first": found.start, "beyond": found.stop, "since": interval.since, "until": interval.until}
