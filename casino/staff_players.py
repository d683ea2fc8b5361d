"""One player in the back office: what the house knows, and the pages where something can be done about it.

It stands on the top floor, since it tells of games, money and people.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Final

from django import forms
from django.db.models import Sum
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from casino import staff_looks
from players import closures, exclusions, flags, limits, looking, verification
from players.access import StaffRequest, staff_required
from players.models import Conversation, ConversationState, LimitKind, Period, Player, Session
from wallet.limits_page import what, written
from wallet.models import Account, Day
from wallet.money import format_money

SEE: Final = "players.view_player"
DAYS: Final = 30
FEW: Final = 5  # sessions, conversations
LOOKS: Final = 10

KINDS: Final = {"cash": "Cash", "purse": "In a game", "pending": "On its way out", "bank": "In a bank"}
MODES: Final = {"R": "real money", "F": "free money"}


class FindForm(forms.Form):
    """Whom to look for."""

    who = forms.CharField(label="E-mail address or number", max_length=254)


@dataclass(frozen=True)
class Facts:
    """What staff see first of a player."""

    balances: list[tuple[str, str]]
    identity: str
    closing: str
    limits: list[tuple[str, str, str]]  # what, how much, whose
    exclusion: str
    exclusion_until: datetime | None
    sessions: list[Session]


@staff_required(SEE)
@require_safe
def staff_players(request: StaffRequest) -> HttpResponse:
    """Lead to a player's page."""
    form = FindForm(request.GET or None)
    if form.is_valid():
        player = _find(form.cleaned_data["who"])
        if player is not None:
            looking.note(request, player, what="which player it is")
            return redirect("staff_player", player.pk)
        form.add_error("who", "No player has this address or number.")
    return render(request, "staff/players.html", {"form": form})


@staff_required(SEE)
@require_safe
def staff_player(request: StaffRequest, player_id: int) -> HttpResponse:
    """One player, with ways on."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    looking.note(request, player, what="facts, markers, messages")
    open_ones = Conversation.objects.filter(player=player).exclude(state=ConversationState.CLOSED)
    context = {
        "subject": player,  # "player" would be whose balance the header shows
        "facts": facts(player),
        "deposits": deposits_by_day(player),
        "flags": flags.flags(player=player),
        "submission": verification.latest(player),
        "conversations": open_ones.order_by("-id")[:FEW],
        "looks": staff_looks.latest(player, LOOKS) if request.user.has_perm(staff_looks.SEE) else (),
    }
    return render(request, "staff/player.html", context)


def facts(player: Player) -> Facts:
    """Return what the pages about a player begin with."""
    excluded = exclusions.in_force(player)
    return Facts(
        balances=[
            (f"{KINDS[account.kind]}, {MODES[account.mode]}", format_money(account.balance, account.currency, "en"))
            for account in Account.objects.filter(owner=player)
            .exclude(kind="bank", balance=0)
            .order_by("-mode", "kind")
            if account.balance is not None
        ],
        identity=verification.standing(verification.latest(player)).value,
        closing=str(closures.state_of(player) or "open"),
        limits=[
            (what(limit.kind, limit.period), written(player, limit.kind, limit.amount), limit.source)
            for limit in sorted(limits.limits_of(player).values(), key=_place)
        ],
        exclusion=excluded.get_kind_display() if excluded else "",
        exclusion_until=excluded.until if excluded else None,
        sessions=list(Session.objects.filter(user=player.user_id).order_by("-began_at")[:FEW]),
    )


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


def _find(who: str) -> Player | None:
    known = who.strip().lower().removeprefix("player:")
    if known.isascii() and known.isdecimal() and len(known) < 19:
        return Player.objects.filter(pk=int(known)).first()
    return Player.objects.filter(user__email=known).first()
