"""Facts about a player for pages of the back office: status, balances, limits, deposits."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Final

from django.db.models import Q, Sum
from django.db.models.functions import Now
from django.utils.translation import get_language, gettext, gettext_lazy, pgettext, pgettext_lazy

from audit.staff_text import in_sentence
from backoffice.dashboard.money import percent
from games.models import CheminTenure
from players.account import closures
from players.datetime_format import written_short_day
from players.identity import verification
from players.login.locks import locked_among
from players.models import (
    Case,
    CaseKind,
    Closure,
    ClosureState,
    Exclusion,
    LimitKind,
    LimitSource,
    Period,
    Player,
    Session,
    Submission,
    User,
)
from players.protection import exclusions, limits
from players.search import NAMES
from wallet.limits import what, written
from wallet.models import Account, AccountKind, Day, Mode
from wallet.money import format_money

DAYS: Final = 30
SOURCES: Final = {
    **dict(LimitSource.choices),
    limits.LAW: pgettext_lazy("limit source", "Law"),
}
FEW: Final = 5  # sessions
KINDS: Final = {
    AccountKind.CASH: gettext_lazy("Cash"),
    AccountKind.PURSE: gettext_lazy("In a game"),
    AccountKind.PENDING: gettext_lazy("Pending withdrawal"),
    AccountKind.REFUND: gettext_lazy("Deposits to send back"),
    AccountKind.BANK: gettext_lazy("In a bank"),
}
MODES: Final = {Mode.REAL: gettext_lazy("real money"), Mode.FREE: gettext_lazy("free money")}


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


IDENTITY: Final = {
    verification.IdentityStatus.NOT_BEGUN: gettext_lazy("not begun"),
    verification.IdentityStatus.SUBMITTED: gettext_lazy("submitted"),
    verification.IdentityStatus.VERIFIED: gettext_lazy("verified"),
    verification.IdentityStatus.REFUSED: pgettext_lazy("identity", "refused"),
    verification.IdentityStatus.STATED: gettext_lazy("stated by the player"),
}


def identity_text(status: verification.IdentityStatus) -> str:
    """Return the state of a player's verification in words."""
    return str(IDENTITY[status])


def closing_text(state: str | None) -> str:
    """Return the state of a player's account in words."""
    return in_sentence(str(ClosureState(state).label)) if state else pgettext("account", "open")


def facts(player: Player) -> Facts:
    """Return the facts about a player."""
    excluded = exclusions.in_force(player)
    return Facts(
        balances=[(each.name, each.balance) for each in balances(player)],
        identity=identity_text(verification.identity_status(verification.latest(player))),
        closing=closing_text(closures.state_of(player)),
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
    """Return a player's balances, real money and cash first, without empty banks."""
    found = named_accounts(Account.objects.filter(owner=player).exclude(kind=AccountKind.BANK, balance=0))
    return [
        Balance(
            account_id=account.pk,
            name=name,
            balance=format_money(account.balance, account.currency, get_language() or "en"),
            held=format_money(account.held, account.currency, get_language() or "en") if account.held else "",
            is_real=account.mode == Mode.REAL,
        )
        for account, name in found
        if account.balance is not None
    ]


def named_accounts(accounts: Iterable[Account]) -> list[tuple[Account, str]]:
    """Return a player's accounts with their names: real money first, cash first, the newest bank first.

    A bank is named by its table and the time when the player took it.
    """
    kinds, modes = list(KINDS), list(MODES)
    found = sorted(
        accounts, key=lambda each: (modes.index(Mode(each.mode)), kinds.index(AccountKind(each.kind)), -each.pk)
    )
    banks = [each.subject_id for each in found if each.kind == AccountKind.BANK]
    tenures = CheminTenure.objects.select_related("live_table__table").in_bulk(banks) if banks else {}
    named = []
    for each in found:
        name = f"{KINDS[AccountKind(each.kind)]}, {MODES[Mode(each.mode)]}"
        if tenure := tenures.get(each.subject_id):
            name = gettext("%(name)s: %(name_2)s, %(began_at)s UTC") % {
                "name": name,
                "name_2": tenure.live_table.table.name,
                "began_at": f"{tenure.began_at:%Y-%m-%d %H:%M}",
            }
        named.append((each, name))
    return named


@dataclass(frozen=True)
class Lifetime:
    """A player's real money since registration, as text, and when the player was last here."""

    figures: tuple[tuple[str, str], ...]
    last_seen: datetime | None


def lifetime(player: Player) -> Lifetime:
    """Return what the player deposited, withdrew and lost in all, and the hold. Reads one row for each day of play."""
    names = ("deposited", "withdrawn", "staked", "paid")
    sums = Day.objects.filter(player=player).aggregate(**{name: Sum(name, default=0) for name in names})
    won = sums["staked"] - sums["paid"]
    amounts = {
        gettext("Deposits"): sums["deposited"],
        gettext("Withdrawals"): sums["withdrawn"],
        gettext("Net deposits"): sums["deposited"] - sums["withdrawn"],
        gettext("Turnover"): sums["staked"],
        gettext("GGR"): won,
    }
    last = Session.objects.filter(user=player.user_id).order_by("-began_at", "-id").values_list("acted_at", flat=True)
    figures = [
        (name, format_money(amount, player.currency, get_language() or "en")) for name, amount in amounts.items()
    ]
    hold = Fraction(won, sums["staked"]) if sums["staked"] else None
    return Lifetime((*figures, (gettext("Hold"), percent(hold))), last.first())


def limit_lines(player: Player) -> list[tuple[str, str, str]]:
    """Return the limits in force: what is limited, the amount, and the source of the limit."""
    return [
        (what(limit.kind, limit.period), written(player, limit.kind, limit.amount), in_sentence(SOURCES[limit.source]))
        for limit in sorted(limits.limits_of(player).values(), key=_place)
    ]


def deposits_by_day(player: Player) -> list[tuple[str, int, str]]:
    """Return the deposits of each of the last days, oldest first, in the player's time zone."""
    today = limits.period_days(player)[Period.DAY]
    first = today - timedelta(days=DAYS - 1)
    deposited = Day.objects.filter(player=player, day__gte=first).values_list("day").annotate(Sum("deposited"))
    sums: dict[date, int] = dict(deposited)
    days = (first + timedelta(days=number) for number in range(DAYS))
    return [
        (
            written_short_day(day, get_language() or "en"),
            sums.get(day, 0),
            format_money(sums.get(day, 0), player.currency, get_language() or "en"),
        )
        for day in days
    ]


def _place(limit: limits.Limit) -> tuple[int, int]:
    """Sort deposit limits first, and the shortest period first within a kind."""
    return list(LimitKind).index(limit.kind), list(Period).index(limit.period)


SEE_FLAGS = "players.see_flags"
EXCLUDE = "players.exclude_player"


@dataclass(frozen=True)
class Badge:
    """Status in a word or two. *kind* is the CSS class that colours it ("": none)."""

    name: str
    kind: str = ""


@dataclass(frozen=True)
class Summary:
    """Player summary. The name is "" if unknown or if the reader may not see it."""

    player: Player
    name: str
    badges: tuple[Badge, ...]


def may(user: User, permissions: Iterable[str]) -> bool:
    """Return whether a member of staff has any of *permissions*."""
    return any(map(user.has_perm, permissions))


def summaries(numbers: Collection[int], reader: User) -> dict[int, Summary]:
    """Return player summaries by number, as *reader* may see them.

    The number of queries does not depend on the number of players.
    """
    people = Player.objects.select_related("user", "jurisdiction").in_bulk(numbers)
    names = _names(numbers) if may(reader, NAMES) else {}
    badges = _badges(people, reader)
    return {number: Summary(player, names.get(number, ""), badges[number]) for number, player in people.items()}


def _names(numbers: Collection[int]) -> dict[int, str]:
    newest = Submission.objects.filter(player__in=numbers).order_by("player", "-id").distinct("player")
    said = newest.values_list("player_id", "given_names", "family_name")
    return {number: f"{given} {family}".strip() for number, given, family in said}


def _badges(people: dict[int, Player], reader: User) -> dict[int, tuple[Badge, ...]]:
    numbers = list(people)
    closed = dict(Closure.objects.filter(player__in=numbers).order_by("pk").values_list("player_id", "state"))
    locked = locked_among(numbers)
    verified = verification.verified_among(numbers)
    excluded: set[int] = set()
    if reader.has_perm(EXCLUDE):
        in_force = Exclusion.objects.filter(Q(until=None) | Q(until__gt=Now()), player__in=numbers, lift=None)
        excluded = set(in_force.values_list("player_id", flat=True))
    flagged: set[int] = set()
    if reader.has_perm(SEE_FLAGS):
        markers = Case.objects.filter(player__in=numbers, kind=CaseKind.MARKER, closed_at=None)
        flagged = set(markers.values_list("player_id", flat=True))
    return {
        number: tuple(
            badge
            for holds, badge in (
                (number in locked, Badge(pgettext("player", "locked"), "badge--off")),
                (number in closed, Badge(closed.get(number, ""), "badge--off")),
                (number in excluded, Badge(pgettext("player", "excluded"), "badge--off")),
                (number in verified, Badge(gettext("verified"), "badge--on")),
                (number not in verified, Badge(gettext("not verified"))),
                (number in flagged, Badge(gettext("marker of harm"), "badge--void")),
                (player.user.is_demo, Badge(pgettext("player", "demo"))),
            )
            if holds
        )
        for number, player in people.items()
    }
