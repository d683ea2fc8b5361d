"""What finance looks at before money leaves: each withdrawal that waits, and at a glance whose it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from audit import approvals
from audit.models import Approval
from players.models import Duplicate, Player
from players.verification import verified_among
from wallet.models import Day, Withdrawal, WithdrawalStatus, WithdrawalStep
from wallet.withdrawals import KIND

WAITING = (WithdrawalStatus.REQUESTED, WithdrawalStatus.SECONDING)
MOST_DONE = 50


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
    totals: Totals
    earlier: int  # withdrawals of this player that were paid
    flags: int  # unresolved signs that this player is somebody else, too
    approval: Approval | None  # where one person has approved it and a second one is waited for


def waiting() -> list[Case]:
    """Return what waits for a decision, the one that waits longest first."""
    found = list(_with_steps(Withdrawal.objects.filter(status__in=WAITING)).order_by("pk"))
    players = {withdrawal.player_id: withdrawal.player for withdrawal in found}
    totals, earlier, flags = _totals(players), _earlier(players), _flags(players)
    open_ones = {asked.on: asked for asked in approvals.waiting().filter(kind=KIND)}
    verified = verified_among(players)
    return [
        Case(
            withdrawal=each,
            verified=each.player_id in verified,
            totals=totals.get(each.player_id, Totals()),
            earlier=earlier.get(each.player_id, 0),
            flags=flags.get(each.player_id, 0),
            approval=open_ones.get(str(each)),
        )
        for each in found
    ]


def done() -> QuerySet[Withdrawal]:
    """Return the latest withdrawals that staff have no more to do with, newest first."""
    return _with_steps(Withdrawal.objects.exclude(status__in=WAITING)).order_by("-pk")[:MOST_DONE]


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
