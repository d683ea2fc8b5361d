"""Days of 23 and 25 hours: every posting counts once and exactly, in limits, reports and hourly totals.

The clocks of the five time zones change on 29 March and 25 October 2026, both Sundays: the last day of a week.
Something is posted in the first and the last microsecond of every hour around them.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TypeVar
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from audit.reports.kinds import Asked, Interval, interval_of
from audit.reports.kinds import Period as Days
from games.models import Participation, Table
from games.reports import performance
from players.models import Jurisdiction, LimitChange, LimitKind, Period, Player, PlayTime
from players.protection import eligibility
from players.protection.limits import set_limit
from tests.builders import a_player, a_round, a_table
from tests.harness import clock
from tests.harness.owner import as_owner
from tests.harness.sweeps import IS_SWEEP, drawn, sample
from tests.old_months import beginning
from tests.wallet.money_moves import cash, house, move, write
from wallet import limits
from wallet.ledger import Journal, LimitReached, hourly_totals
from wallet.models import Day, LedgerHourlyTotal

CODES = ["SE", "DK", "RO", "DE", "GB"]
STAKE = 10_000
Key = TypeVar("Key")
CHANGES = [date(2026, 3, 29), date(2026, 10, 25)]
# Three zones: Romania's, Britain's and that of the others. Whole days in steps of five minutes take seconds for each.
OF_THE_DAY = CODES if IS_SWEEP else drawn(["RO", "DE", "GB"], 1)


def ends_of_weeks(day: date) -> tuple[datetime, datetime]:
    """Return a time before the Saturday before the change begins anywhere, and one after Monday has begun."""
    noon = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return noon - timedelta(hours=40), noon + timedelta(hours=16)


@dataclass(frozen=True)
class Posted:
    """The deposits and stakes of a player, with their times."""

    player: Player
    at: datetime
    deposited: int
    staked: int
    paid: int


def start_of(period: Period, day: date) -> date:
    """Return the first day of the period with *day*."""
    match period:
        case Period.WEEK:
            return day - timedelta(days=day.weekday())
        case Period.MONTH:
            return day.replace(day=1)
    return day


def local_day(posted: Posted) -> date:
    return posted.at.astimezone(ZoneInfo(posted.player.jurisdiction.time_zone)).date()


@pytest.fixture(params=sample(CHANGES, 1), ids=str)
def played(request, cloned_db, owner) -> Iterator[list[Posted]]:
    """Have the players of the five jurisdictions deposit and play through the change; check limits on the way."""
    since, until = ends_of_weeks(request.param)
    owner.execute("UPDATE players_jurisdiction SET highest_month_deposit = NULL")  # which is soon reached
    with clock.in_month(cloned_db, beginning(since.year, since.month)):
        table, players = a_table(), [a_player(code) for code in CODES]
        clock.set_clock(since - timedelta(hours=1))
        done: list[Posted] = []
        for first, last in clock.hours(since, until):
            for moment in (first, last):
                clock.set_clock(moment)
                for player in players:
                    amount = STAKE + len(done)
                    deposit(player, amount)
                    staked, paid = (STAKE, paid_in_a_round(player, table)) if moment is first else (0, 0)
                    done.append(Posted(player, moment, amount, staked, paid))
                    check_limits(player, done)
        yield done


def paid_in_a_round(player: Player, table: Table) -> int:
    """Play a round with a stake of `STAKE`, and return what it paid."""
    played = a_round(player, table, player=STAKE)
    return Participation.objects.get(round_id=played.round_id, player=player).paid


def deposit(player: Player, amount: int) -> None:
    lines = move((house("cashier", player), -amount), (cash(player), amount), currency=player.currency)
    write(Journal(uuid4(), "deposit", lines))


def check_limits(player: Player, done: list[Posted]) -> None:
    """Compare what counts against the player's limits now with what was posted in the period."""
    mine = [each for each in done if each.player == player]
    today, used = local_day(mine[-1]), limits.usage(player)
    for period in Period:
        of_period = [each for each in mine if start_of(period, today) <= local_day(each)]
        assert used[LimitKind.DEPOSIT, period] == sum(each.deposited for each in of_period)
        assert used[LimitKind.STAKE, period] == sum(each.staked for each in of_period)
        assert used[LimitKind.LOSS, period] == sum(each.staked - each.paid for each in of_period)


def totals(posted: list[Posted], key: Callable[[Posted], Key], name: str) -> Counter[Key]:
    """Return the sums of *name* by *key*, without zeros."""
    found: Counter[Key] = Counter()
    for each in posted:
        found[key(each)] += getattr(each, name)
    return +found


def test_every_posting_counts_once_in_days_reports_and_hours(played):
    stored = {(row.player_id, row.day): (row.deposited, row.staked, row.paid) for row in Day.objects.all()}
    deposited = totals(played, lambda each: (each.player.pk, local_day(each)), "deposited")
    staked = totals(played, lambda each: (each.player.pk, local_day(each)), "staked")
    paid = totals(played, lambda each: (each.player.pk, local_day(each)), "paid")
    assert stored == {key: (amount, staked[key], paid[key]) for key, amount in deposited.items()}
    with connection.cursor() as cursor:
        cursor.execute("SELECT player_id, day, deposited, staked, paid FROM wallet_due_days(0, %s)", [2**62])
        assert {(player, day): (into, bet, won) for player, day, into, bet, won in cursor} == stored

    since, until = played[0].at, played[-1].at + timedelta.resolution
    for zone in Jurisdiction.objects.values_list("time_zone", flat=True):
        check_daily_reports(played, Interval(since, until), zone)
    check_hours(played, Interval(since, until))


def check_daily_reports(played: list[Posted], interval: Interval, zone: str) -> None:
    """Compare the reports of each day, and that of all days, with what was posted."""

    def day_of(each: Posted) -> tuple[date, str]:
        return each.at.astimezone(ZoneInfo(zone)).date(), each.player.currency

    staked, deposited = totals(played, day_of, "staked"), totals(played, day_of, "deposited")
    rows = performance.revenue(Asked(interval, {}, zone)).rows
    whole = Counter({(date.fromisoformat(str(row[0])), row[3]): row[5] for row in rows})
    assert whole == staked
    for day in {day for day, _ in staked}:
        now = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo(zone)) + timedelta(days=1)
        one = interval_of(Days.YESTERDAY, now=now, zone=zone)
        (revenue,) = [performance.revenue(Asked(one, {}, zone)).rows]
        assert {(day, row[3]): row[5] for row in revenue} == {key: staked[key] for key in staked if key[0] == day}
        changed = [
            each
            for each in hourly_totals.read_totals(one)
            if (each.journal_kind, each.account_kind) == ("deposit", "cash")
        ]
        assert {(day, each.currency): each.amount for each in changed} == {
            key: deposited[key] for key in deposited if key[0] == day
        }


def check_hours(played: list[Posted], interval: Interval) -> None:
    """Sum up each hour, and compare the stored totals with what was posted."""
    hour = interval.since
    while hour < interval.until:
        hourly_totals.roll(hour)
        hour += timedelta(hours=1)
    due = totals(
        played, lambda each: (each.at.replace(minute=0, second=0, microsecond=0), each.player.currency), "deposited"
    )
    rows = LedgerHourlyTotal.objects.filter(journal_kind="deposit", account_kind="cash", mode="R")
    assert {(row.hour, row.currency): (row.amount, row.entries) for row in rows} == {
        key: (amount, 2 * sum(each.player.currency == key[1] for each in played[:5])) for key, amount in due.items()
    }
    assert list(hourly_totals.differences(interval)) == []


@pytest.fixture(params=CHANGES, ids=str)
def sunday(request, cloned_db) -> Iterator[date]:
    """The day of a change, in a database with a clock of the test."""
    with clock.in_month(cloned_db, beginning(request.param.year, request.param.month)):
        yield request.param


def at_home(player: Player, day: date, hour: int = 0) -> datetime:
    """Return the time of an hour of the player's day."""
    zone = ZoneInfo(player.jurisdiction.time_zone)
    return datetime(day.year, day.month, day.day, hour, tzinfo=zone).astimezone(UTC)


def set_deposit_limit(player: Player, period: Period, amount: int) -> LimitChange:
    return set_limit(player=player, kind=LimitKind.DEPOSIT, period=period, amount=amount, by=str(player))


def test_a_reached_limit_blocks_deposits_until_the_period_ends(sunday, subtests):
    for code in CODES:
        for period in (Period.DAY, Period.WEEK):
            with subtests.test(code=code, period=period):
                player = a_player(code)
                midnight = at_home(player, sunday + timedelta(days=1))
                clock.set_clock(at_home(player, sunday, 12))
                set_deposit_limit(player, period, STAKE)
                deposit(player, STAKE)
                clock.set_clock(midnight - timedelta.resolution)
                with pytest.raises(LimitReached):
                    deposit(player, 1)
                assert limits.usage(player)[LimitKind.DEPOSIT, period] == STAKE
                clock.set_clock(midnight)
                deposit(player, STAKE)


def test_a_raise_waits_its_hours_and_in_sweden_for_the_end_of_the_period(sunday, subtests):
    for code, hours in (("SE", 72), ("DK", 24), ("RO", 24), ("DE", 168), ("GB", 24)):
        with subtests.test(code=code):
            player = a_player(code)
            asked = at_home(player, sunday - timedelta(days=1), 12)
            clock.set_clock(asked)
            for period in Period:
                set_deposit_limit(player, period, STAKE)
                change = set_deposit_limit(player, period, 2 * STAKE)
                ends = at_home(player, start_of_next(period, sunday - timedelta(days=1)))
                waits = asked + timedelta(hours=hours)
                assert change.effective_at == (max(waits, ends) if code == "SE" else waits)


def start_of_next(period: Period, day: date) -> date:
    """Return the first day of the next period."""
    first = start_of(period, day)
    return start_of(period, first + timedelta(days={Period.DAY: 1, Period.WEEK: 7, Period.MONTH: 31}[period]))


def test_time_played_fills_the_day_to_the_second(sunday, subtests):
    step = timedelta(minutes=5)
    for code in OF_THE_DAY:
        with subtests.test(code=code):
            player = a_player(code)
            now, ends = at_home(player, sunday) - step, at_home(player, sunday + timedelta(days=1))
            while now < ends:
                clock.set_clock(now)
                as_owner("SELECT players_note_round(%s, gen_random_uuid(), 'R', 0, 0)", [player.pk])
                now += step
            played = PlayTime.objects.get(player=player, day=sunday).seconds
            assert (
                played == (ends - at_home(player, sunday)).total_seconds() == (23 if sunday.month == 3 else 25) * 3600
            )


def test_a_reached_time_limit_ends_play_until_midnight(sunday, subtests):
    """A day that lasts 23 or 25 hours has that many: a limit of all but five minutes is reached in the last five."""
    step = timedelta(minutes=5)
    for code in OF_THE_DAY:
        with subtests.test(code=code):
            player = a_player(code)
            begins, ends = at_home(player, sunday), at_home(player, sunday + timedelta(days=1))
            now = begins - step
            clock.set_clock(now)
            most = int((ends - begins - step).total_seconds())
            set_limit(player=player, kind=LimitKind.TIME, period=Period.DAY, amount=most, by=str(player))
            while now < ends:
                clock.set_clock(now)
                is_over = eligibility.check_play(player, real=False, session=None)
                recorded = PlayTime.objects.filter(player=player, day=sunday).values_list("seconds", flat=True).first()
                is_reached = recorded is not None and recorded + step.total_seconds() >= most  # since the last round
                assert bool(is_over) == is_reached, (now, recorded)
                as_owner("SELECT players_note_round(%s, gen_random_uuid(), 'F', 0, 0)", [player.pk])
                now += step
            clock.set_clock(ends - timedelta.resolution)
            assert eligibility.check_play(player, real=False, session=None)
            clock.set_clock(ends)
            assert eligibility.check_play(player, real=False, session=None) is None
