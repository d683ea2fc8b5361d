"""Facts about a player for pages of the back office: balances, limits, deposits."""

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
    """Facts shown at the top of pages about a player's case."""

    balances: list[tuple[str, str]]
    identity: str
    closing: str
    limits: list[tuple[str, str, str]]  # what is limited, the amount, the source
    exclusion: str
    exclusion_until: datetime | None
    sessions: list[Session]


def facts(player: Player) -> Facts:
    """Return the facts about a player."""
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
    """Balance of one of a player's accounts and the amount held for bets ("" for none), as text."""

    account_id: int
    name: str
    balance: str
    held: str
    is_real: bool


def balances(player: Player) -> list[Balance]:
    """Return a player's balances, real money first, without empty banks."""
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
    """Return the label of a player's account."""
    return f"{KINDS[AccountKind(account.kind)]}, {MODES[Mode(account.mode)]}"


def limit_lines(player: Player) -> list[tuple[str, str, str]]:
    """Return the limits in force: what is limited, the amount, and the source of the limit."""
    return [
        (what(limit.kind, limit.period), written(player, limit.kind, limit.amount), limit.source)
        for limit in sorted(limits.limits_of(player).values(), key=_place)
    ]


def deposits_by_day(player: Player) -> list[tuple[str, int, str]]:
    """Return the amount deposited on each of the last days in the player's time zone, oldest first, for a chart."""
    today = limits.period_days(player)[Period.DAY]
    first = today - timedelta(days=DAYS - 1)
    moved = Day.objects.filter(player=player, day__gte=first).values_list("day").annotate(Sum("deposited"))
    sums: dict[date, int] = dict(moved)
    days = (first + timedelta(days=number) for number in range(DAYS))
    return [(f"{day:%d %b}", sums.get(day, 0), format_money(sums.get(day, 0), player.currency, "en")) for day in days]


def _place(limit: limits.Limit) -> tuple[int, int]:
    """Sort deposit limits first, and the shortest period first within a kind."""
    return list(LimitKind).index(limit.kind), limits.PERIODS.index(limit.period)
