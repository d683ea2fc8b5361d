"""Facts about a player as pages of the back office tell them: balances, limits, deposits."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from django.db.models import Sum

from players.account import closures
from players.identity import verification
from players.models import LimitKind, Period, Player, Session
from players.protection import exclusions, limits
from wallet.limits.page import what, written
from wallet.models import Account, AccountKind, Day, Mode
from wallet.money import format_money

DAYS: Final = 30
FEW: Final = 5  # sessions
KINDS: Final = {
    AccountKind.CASH: "Cash",
    AccountKind.PURSE: "In a game",
    AccountKind.PENDING: "On its way out",
    AccountKind.BANK: "In a bank",
}
MODES: Final = {Mode.REAL: "real money", Mode.FREE: "free money"}


@dataclass(frozen=True)
class Facts:
    """What pages about something of a player's begin with."""

    balances: list[tuple[str, str]]
    identity: str
    closing: str
    limits: list[tuple[str, str, str]]  # what, how much, whose
    exclusion: str
    exclusion_until: datetime | None
    sessions: list[Session]


def facts(player: Player) -> Facts:
    """Return them."""
    excluded = exclusions.in_force(player)
    return Facts(
        balances=[(each.name, each.balance) for each in balances(player)],
        identity=verification.standing(verification.latest(player)).value,
        closing=str(closures.state_of(player) or "open"),
        limits=limit_lines(player),
        exclusion=excluded.get_kind_display() if excluded else "",
        exclusion_until=excluded.until if excluded else None,
        sessions=list(Session.objects.filter(user=player.user_id).order_by("-began_at")[:FEW]),
    )


@dataclass(frozen=True)
class Balance:
    """What lies on one account of a player's, and how much of that is held for bets ("": nothing), in words."""

    account_id: int
    name: str
    balance: str
    held: str
    is_real: bool


def balances(player: Player) -> list[Balance]:
    """Return what a player has, real money first. Banks that are empty are over."""
    found = (
        Account.objects.filter(owner=player).exclude(kind=AccountKind.BANK, balance=0).order_by("-mode", "kind", "pk")
    )
    return [
        Balance(
            account_id=account.pk,
            name=account_name(account),
            balance=format_money(account.balance, account.currency, "en"),
            held=format_money(account.held, account.currency, "en") if account.held else "",
            is_real=account.mode == Mode.REAL,
        )
        for account in found
        if account.balance is not None
    ]


def account_name(account: Account) -> str:
    """Return what staff call an account of a player's."""
    return f"{KINDS[AccountKind(account.kind)]}, {MODES[Mode(account.mode)]}"


def limit_lines(player: Player) -> list[tuple[str, str, str]]:
    """Return the limits in force: what is limited, how much, and whose limit it is."""
    return [
        (what(limit.kind, limit.period), written(player, limit.kind, limit.amount), limit.source)
        for limit in sorted(limits.limits_of(player).values(), key=_place)
    ]


def deposits_by_day(player: Player) -> list[tuple[str, int, str]]:
    """Return what was deposited on each of the last days where the player is, oldest first, for a chart."""
    today = limits.period_days(player)[Period.DAY]
    first = today - timedelta(days=DAYS - 1)
    moved = Day.objects.filter(player=player, day__gte=first).values_list("day").annotate(Sum("deposited"))
    sums: dict[date, int] = dict(moved)
    days = (first + timedelta(days=number) for number in range(DAYS))
    return [(f"{day:%d %b}", sums.get(day, 0), format_money(sums.get(day, 0), player.currency, "en")) for day in days]


def _place(limit: limits.Limit) -> tuple[int, int]:
    """Deposits first, and of each kind the shortest period."""
    return list(LimitKind).index(limit.kind), limits.PERIODS.index(limit.period)
