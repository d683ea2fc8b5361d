"""What finance looks at before money leaves: each withdrawal that waits, and at a glance whose it is; and what became
of the others. A page at a time, found by an index however many there are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db import connection
from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from audit import approvals
from audit.models import Approval
from players.identity.verification import verified_among
from players.login.account_locks import locked_among
from players.models import Duplicate, Player
from wallet.models import Currency, Day, Withdrawal, WithdrawalStatus, WithdrawalStep
from wallet.models.withdrawals import OPEN
from wallet.payouts.history import History, histories
from wallet.withdrawals import KIND

WAITING: Final = (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING)
OVER: Final = tuple(status for status in WithdrawalStatus if status not in OPEN)
PAGE: Final = 20
MOST_COUNTED: Final = 1000  # of one status; above it the page says "more than"
LAST: Final = 2**63 - 1  # later than every number

# For every status and currency asked for, one range of one index gives the next few; the page is the first of all.
FIND = """
SELECT found.id
FROM unnest(%(statuses)s::text[]) AS asked (status)
CROSS JOIN unnest(%(currencies)s::text[]) AS money (currency)
CROSS JOIN LATERAL (
    SELECT id FROM wallet_withdrawal AS w
    WHERE w.status = asked.status AND w.currency = money.currency AND w.id {side} %(mark)s
      AND (%(above)s::bigint IS NULL OR w.amount > %(above)s) AND (%(since)s::timestamptz IS NULL OR w.at < %(since)s)
    ORDER BY w.id {order}
    LIMIT %(limit)s
) AS found
ORDER BY found.id {order}
LIMIT %(limit)s
"""
OLDEST_FIRST = FIND.format(side=">", order="ASC")
NEWEST_FIRST = FIND.format(side="<", order="DESC")
COUNT = """
SELECT asked.status, (SELECT count(*) FROM (
    SELECT FROM wallet_withdrawal AS w WHERE w.status = asked.status LIMIT %(most)s + 1) AS few)
FROM unnest(%(statuses)s::text[]) AS asked (status)
"""


@dataclass(frozen=True)
class Wanted:
    """Which withdrawals: in one of these *statuses*, in one currency ("" for any), of more than *above* minor units,
    asked for before *since*. The last two look at open ones alone, of which there are never many.
    """

    statuses: Sequence[str] = WAITING
    currency: str = ""
    above: int | None = None
    since: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Whether all of them are still open: then the one that waits longest comes first."""
        return set(self.statuses) <= set(OPEN)


@dataclass(frozen=True)
class Page:
    """Some withdrawals, and the mark to ask for the next ones with (None: there are none)."""

    withdrawals: tuple[Withdrawal, ...] = ()
    further: int | None = None


@dataclass(frozen=True)
class Counted:
    """How many withdrawals have a status, as far as they were counted."""

    status: WithdrawalStatus
    count: int
    is_more: bool


@dataclass(frozen=True)
class Totals:
    """What a player has done with real money since the first day, in minor units."""

    deposited: int = 0
    withdrawn: int = 0
    staked: int = 0
    paid: int = 0


@dataclass(frozen=True)
class Case:
    """A withdrawal that waits for staff, with what there is to know about its player."""

    withdrawal: Withdrawal
    verified: bool
    locked: bool  # staff have locked the account: what is asked for is paid or refused all the same
    totals: Totals
    earlier: int  # withdrawals of this player that were paid
    flags: int  # unresolved signs that this player is somebody else, too
    account: History  # of the bank account that it goes to
    approval: Approval | None  # where one person has approved it and a second one is waited for


def find(wanted: Wanted, *, mark: int | None = None) -> Page:
    """Return a page of withdrawals beyond the one with the number *mark*: open ones oldest first, the others newest
    first.
    """
    beginning = 0 if wanted.is_open else LAST
    asked: dict[str, Any] = {
        "statuses": list(wanted.statuses),
        "currencies": [wanted.currency] if wanted.currency else list(Currency.values),
        "mark": beginning if mark is None else mark,
        "above": wanted.above,
        "since": wanted.since,
        "limit": PAGE + 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(OLDEST_FIRST if wanted.is_open else NEWEST_FIRST, asked)
        numbers = [number for (number,) in cursor.fetchall()]
    order = "pk" if wanted.is_open else "-pk"
    found = _with_steps(Withdrawal.objects.filter(pk__in=numbers[:PAGE])).order_by(order)
    return Page(tuple(found), numbers[PAGE - 1] if len(numbers) > PAGE else None)


def one(number: int) -> Page:
    """Return the page with nothing on it but the withdrawal with this number, if there is one."""
    return Page(tuple(_with_steps(Withdrawal.objects.filter(pk=number))))


def counted() -> list[Counted]:
    """Return how many withdrawals are open, by status, as far as it is worth counting."""
    with connection.cursor() as cursor:
        cursor.execute(COUNT, {"statuses": list(OPEN), "most": MOST_COUNTED})
        return [
            Counted(WithdrawalStatus(status), min(count, MOST_COUNTED), count > MOST_COUNTED)
            for status, count in cursor.fetchall()
        ]


def cases(found: Iterable[Withdrawal]) -> list[Case]:
    """Return those of *found* that wait for a decision, with what there is to know before one."""
    waiting = [withdrawal for withdrawal in found if withdrawal.status in WAITING]
    players = {withdrawal.player_id: withdrawal.player for withdrawal in waiting}
    totals, earlier, flags = _totals(players), _earlier(players), _flags(players)
    asked_for = approvals.waiting().filter(kind=KIND, on__in=[str(withdrawal) for withdrawal in waiting])
    open_ones = {asked.on: asked for asked in asked_for}
    verified, locked = verified_among(players), locked_among(players)
    accounts = histories([each.account for each in waiting])
    return [
        Case(
            withdrawal=each,
            verified=each.player_id in verified,
            locked=each.player_id in locked,
            totals=totals.get(each.player_id, Totals()),
            earlier=earlier.get(each.player_id, 0),
            flags=flags.get(each.player_id, 0),
            account=accounts[each.account_id],
            approval=open_ones.get(str(each)),
        )
        for each in waiting
    ]


def _with_steps(found: QuerySet[Withdrawal]) -> QuerySet[Withdrawal]:
    steps = Prefetch("steps", WithdrawalStep.objects.order_by("pk"))
    return found.select_related("account", "player__jurisdiction").prefetch_related(steps)


def _totals(players: Iterable[int]) -> Mapping[int, Totals]:
    sums = Day.objects.filter(player_id__in=list(players)).values("player_id")
    rows = sums.annotate(
        in_all=Sum("deposited"), out_all=Sum("withdrawn"), staked_all=Sum("staked"), paid_all=Sum("paid")
    )
    return {row["player_id"]: Totals(row["in_all"], row["out_all"], row["staked_all"], row["paid_all"]) for row in rows}


def _earlier(players: Iterable[int]) -> Mapping[int, int]:
    paid = Withdrawal.objects.filter(player_id__in=list(players), status=WithdrawalStatus.PAID)
    return dict(paid.values("player_id").annotate(times=Count("pk")).values_list("player_id", "times"))


def _flags(players: Mapping[int, Player]) -> Mapping[int, int]:
    counted: dict[int, int] = {}
    about = Duplicate.objects.filter(resolution="").filter(Q(first__in=players) | Q(second__in=players))
    for pair in about.values_list("first_id", "second_id"):
        for player_id in pair:
            counted[player_id] = counted.get(player_id, 0) + 1
    return counted
