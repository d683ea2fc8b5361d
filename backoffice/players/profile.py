"""The page of a player with its sections, and full lists of the player's account movements, deposits
and withdrawals, sessions and notes.

Suspicions under anti-money-laundering law are only in sections that compliance may read. Lists are
newest first. The cost of a page of a list does not depend on its length.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from audit.models import Event, Significant
from backoffice.audit import access_log as access_pages
from backoffice.lists.paging import NEWEST_FIRST, PAGE, Order, Page
from backoffice.lists.staff_list import StaffList
from backoffice.players import actions
from backoffice.players.facts import SEE_FLAGS, account_name, balances, deposits_by_day, limit_lines, may, summaries
from backoffice.players.protection import Markers
from backoffice.players.search import PAYERS
from games.history import playing
from games.history.search import Search, find
from games.incidents import lines
from games.models import ChatBan, ChatName, ChatNameTaken, CheminSeat, CheminTenure, Grounds
from players import staff
from players.access import StaffRequest, staff_required
from players.api import tokens
from players.api.token_views import scope_labels
from players.identity import duplicates, verification
from players.login import locks, sessions
from players.login.second_factor import is_set_up
from players.models import (
    AccountLock,
    Agreement,
    Closure,
    Conversation,
    ConversationState,
    Exclusion,
    Flag,
    LimitChange,
    LimitKind,
    Period,
    Player,
    PlayTime,
    RealityCheck,
    RegisterCheck,
    Session,
    Submission,
)
from players.models.people import LONGEST_NOTE
from players.protection import exclusions, limits
from players.search import IDENTITY, SEE, SESSIONS
from players.staff import VISIBLE_TO_PLAYER, access_log
from wallet.ledger.statements import movements
from wallet.limits import what, written
from wallet.models import Account, AccountKind, Mode, Payment, PayoutAccount, Withdrawal
from wallet.money import format_money

FEW: Final = 5
MOST_FLAGS: Final = 50  # open flags of one player
PROTECTING: Final = ("players.set_limits", "players.exclude_player", SEE_FLAGS)
SUSPICIONS: Final = "audit.handle_significant"
WEEK: Final = 7  # days

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """Section of the profile, for staff with any of *permissions*.

    The anchor also names the template. A section that is not wide takes half of the page's width.
    """

    anchor: str
    title: str
    permissions: tuple[str, ...]
    read: Callable[[StaffRequest, Player], Data]
    is_wide: bool = True

    @property
    def template(self) -> str:
        """Path of the section's template."""
        return f"staff/player_sections.html#{self.anchor}"


def sections(request: StaffRequest, player: Player) -> list[tuple[Section, Data]]:
    """Return the sections that the reader may see, each with its data."""
    return [(each, each.read(request, player)) for each in SECTIONS if may(request.user, each.permissions)]


def _account(request: StaffRequest, player: Player) -> Data:
    return {
        "agreement": Agreement.objects.filter(player=player).order_by("-pk").first(),
        "closures": Closure.objects.filter(player=player).order_by("-pk"),
        "locks": AccountLock.objects.filter(player=player).select_related("by").order_by("-pk")[:FEW],
    }


def _identity(request: StaffRequest, player: Player) -> Data:
    submissions = Submission.objects.filter(player=player).annotate(documents=Count("document")).order_by("-pk")
    return {
        "latest": verification.latest(player),
        "submissions": submissions[:FEW],
        "pairs": [(pair, pair.other(player)) for pair in duplicates.pairs_of(player)],
    }


def _money(request: StaffRequest, player: Player) -> Data:
    cash = Account.objects.filter(owner=player, kind=AccountKind.CASH, mode=Mode.REAL).first()
    accounts = PayoutAccount.objects.filter(player=player).order_by("-at") if may(request.user, PAYERS) else None
    return {
        "balances": balances(player),
        "deposits_by_day": deposits_by_day(player),
        "payments": Payment.objects.filter(player=player).order_by("-begun_at", "-pk")[:FEW],
        "withdrawals": Withdrawal.objects.filter(player=player).select_related("account").order_by("-pk")[:FEW],
        "movements": movements(cash.pk, most=FEW).movements if cash else (),
        "accounts": accounts,
    }


def _play(request: StaffRequest, player: Player) -> Data:
    seats = CheminSeat.objects.filter(player=player, left_at=None).select_related("live_table__table").order_by("pk")
    tenures = CheminTenure.objects.filter(seat__in=seats, ended_at=None).select_related("live_table__table")
    bank = dict(Account.objects.filter(owner=player, kind=AccountKind.BANK).values_list("pk", "balance"))
    parts = [part for mode in Mode for part in find(player, Search(mode=mode), limit=FEW)]
    return {
        "open": playing(player, "en", modes=tuple(Mode)),
        "seats": seats,
        "banks": [(each, format_money(bank.get(each.account_id) or 0, player.currency, "en")) for each in tenures],
        "lines": lines(sorted(parts, key=lambda part: (part.at, part.pk), reverse=True)[:FEW]),
    }


def _protection(request: StaffRequest, player: Player) -> Data:
    excluded = Exclusion.objects.filter(player=player).select_related("lift").order_by("-pk")
    return {
        "limits": limit_lines(player),
        "waiting": [_waiting(player, change) for change in limits.pending(player).values()],
        "exclusion_in_force": exclusions.in_force(player),
        "exclusions": excluded[:FEW],
        "checks": RegisterCheck.objects.filter(player=player).order_by("register", "-pk").distinct("register"),
        "interval": RealityCheck.objects.filter(player=player).order_by("-pk").first(),
        "days": [
            (each.day, each.seconds // 60) for each in PlayTime.objects.filter(player=player).order_by("-day")[:WEEK]
        ],
    }


def _waiting(player: Player, change: LimitChange) -> tuple[str, str, LimitChange]:
    kind, period = LimitKind(change.kind), Period(change.period)
    amount = "none" if change.amount is None else written(player, kind, change.amount)
    return what(kind, period), amount, change


def _markers(request: StaffRequest, player: Player) -> Data:
    closed = Flag.objects.filter(player=player).exclude(closed_at=None).order_by("-pk")
    return {"list": Markers(request, player).first(MOST_FLAGS), "closed": closed[:FEW]}


def _significant_events(request: StaffRequest, player: Player) -> Data:
    return {"found": Significant.objects.filter(on=str(player)).order_by("-pk")[:FEW]}


def _sessions(request: StaffRequest, player: Player) -> Data:
    return {
        "running": len(sessions.running(player.user)),
        "sessions": Session.objects.filter(user=player.user_id).order_by("-began_at", "-pk")[:FEW],
        "second_factor": is_set_up(player.user),
        "locked_since": locks.locked_since(player.user.email),
        "tokens": [(token, scope_labels(token)) for token in tokens.running(player.user)],
    }


def _service(request: StaffRequest, player: Player) -> Data:
    said = Conversation.objects.filter(player=player).order_by("-pk")
    open_ones = said.exclude(state=ConversationState.CLOSED)
    return {"open": open_ones[: 2 * FEW], "closed": said.filter(state=ConversationState.CLOSED)[:FEW]}


def _chat(request: StaffRequest, player: Player) -> Data:
    return {
        "name": ChatName.objects.filter(player=player).first(),
        "grounds": Grounds.choices,
        "told": VISIBLE_TO_PLAYER,
        "names": ChatNameTaken.objects.filter(player=player).order_by("-pk")[:FEW],
        "bans": ChatBan.objects.filter(player=player).select_related("live_table__table").order_by("-pk")[:FEW],
    }


def _notes(request: StaffRequest, player: Player) -> Data:
    found = staff.notes(player, restricted_too=request.user.has_perm(SUSPICIONS))
    return {"notes": found[:FEW]}


def _events(request: StaffRequest, player: Player) -> Data:
    return {"events": Event.objects.filter(on=str(player)).order_by("-pk")[:FEW]}


def _access_log(request: StaffRequest, player: Player) -> Data:
    return {"entries": access_pages.latest(player, FEW)}


SECTIONS: Final = (
    Section("notes", "Notes", (staff.PERMISSION,), _notes),
    Section("account", "Account", (SEE,), _account, is_wide=False),
    Section("identity", "KYC", (IDENTITY,), _identity, is_wide=False),
    Section("money", "Balances and payments", (SEE,), _money),
    Section("play", "Play", (SEE,), _play),
    Section("protection", "Limits and exclusions", PROTECTING, _protection),
    Section("markers", "Markers of harm", (SEE_FLAGS,), _markers, is_wide=False),
    Section("service", "Messages and complaints", ("players.answer_service",), _service, is_wide=False),
    Section("watches", "Significant events", (SUSPICIONS,), _significant_events),
    Section("sessions", "Sessions, devices and addresses", SESSIONS, _sessions),
    Section("chat", "Chat", ("games.read_chat",), _chat, is_wide=False),
    Section("events", "Audit log", ("audit.view_event",), _events, is_wide=False),
    Section("access_log", "Access log", (access_pages.SEE,), _access_log),
)


# The access log entry lists the sections. Players can read it in their own data, so it must not
# reveal AML alerts.
NOT_LOGGED: Final = "watches"


@staff_required(SEE)
@require_safe
def staff_player(request: StaffRequest, player_id: int) -> HttpResponse:
    """Show a player's profile."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    shown = sections(request, player)
    access_log.note(request, player, what=", ".join(each.anchor for each, _ in shown if each.anchor != NOT_LOGGED))
    context = {
        "subject": player,  # "player" would be the player whose balance the header shows
        "summary": summaries([player.pk], request.user)[player.pk],
        "sections": shown,
    } | actions.context(request, player)
    lists = [each for _, data in shown for each in data.values() if isinstance(each, StaffList)]
    others = access_log.players_in([data for _, data in shown]).union(*(each.players_in(each.shown) for each in lists))
    access_log.note_list(request, others - {player.pk}, what="named on another player’s page")
    return render(request, "staff/player.html", context)


class MovementsForm(forms.Form):
    """Choice of the account (its number), and the last movement on the previous page."""

    account = forms.ChoiceField(label="Account", required=False)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, *args: Any, accounts: Sequence[Account]) -> None:
        super().__init__(*args)
        choices = [(str(each.pk), account_name(each)) for each in accounts]
        self.fields["account"] = forms.ChoiceField(label="Account", required=False, choices=choices)


class PaymentsForm(forms.Form):
    """Choice of deposits or withdrawals."""

    which = forms.ChoiceField(label="Show", required=False, choices=[("", "Deposits"), ("withdrawals", "Withdrawals")])


class NoteForm(forms.Form):
    """New note about a player."""

    text = forms.CharField(
        label="Note",
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": LONGEST_NOTE}),
    )
    restricted = forms.BooleanField(
        label="Compliance only (a suspicion that must not be disclosed to the player)", required=False
    )

    def __init__(self, *args: Any, may_restrict: bool) -> None:
        super().__init__(*args)
        if not may_restrict:
            del self.fields["restricted"]


@staff_required(SEE)
@require_safe
def staff_player_money(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the movements of one of the player's accounts, with the balance after each."""
    player = _find(player_id)
    accounts = list(Account.objects.filter(owner=player, balance__isnull=False).order_by("-mode", "kind", "-pk"))
    form = MovementsForm(request.GET, accounts=accounts)
    form.full_clean()
    asked = form.cleaned_data
    chosen = next((each for each in accounts if str(each.pk) == asked.get("account")), None) or next(
        iter(accounts), None
    )
    page = movements(chosen.pk, before=asked.get("before"), most=PAGE) if chosen else None
    context = {"form": form, "account": chosen, "page": page, "older": page.older if page else None}
    return _page(request, player, "staff/player_money.html", context, what="transactions")


@staff_required(SEE)
@require_safe
def staff_player_payments(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's deposits or withdrawals."""
    player, form = _find(player_id), PaymentsForm(request.GET)
    form.full_clean()
    which = form.cleaned_data.get("which", "")
    page: Page[Payment] | Page[Withdrawal]
    if which:
        page = NEWEST_FIRST.page(Withdrawal.objects.filter(player=player).select_related("account"), request.GET)
    else:
        page = Order(("begun_at", "id")).page(Payment.objects.filter(player=player), request.GET)
    context = {"form": form, "which": which, "rows": page.rows, "page": page}
    return _page(request, player, "staff/player_payments.html", context, what=which or "deposits")


@staff_required(*SESSIONS)
@require_safe
def staff_player_sessions(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's sessions: time, IP address and browser."""
    player = _find(player_id)
    page = Order(("began_at", "id")).page(Session.objects.filter(user=player.user_id), request.GET)
    return _page(request, player, "staff/player_sessions.html", {"rows": page.rows, "page": page}, what="sessions")


@staff_required(staff.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_notes(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the notes about a player. On POST, add a note."""
    player, may_restrict = _find(player_id), request.user.has_perm(SUSPICIONS)
    form = NoteForm(request.POST if request.method == "POST" else None, may_restrict=may_restrict)
    if form.is_valid():
        restricted = form.cleaned_data.get("restricted", False)
        staff.add(player=player, text=form.cleaned_data["text"], restricted=restricted, by=request.staff)
        messages.success(request, "Note saved.")
        return redirect("staff_player_notes", player.pk)
    page = NEWEST_FIRST.page(staff.notes(player, restricted_too=may_restrict), request.GET)
    context = {"note_form": form, "notes": page.rows, "page": page}
    return _page(request, player, "staff/player_notes.html", context, what="notes")


def _find(player_id: int) -> Player:
    return get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)


def _page(request: StaffRequest, player: Player, template: str, context: dict[str, Any], *, what: str) -> HttpResponse:
    """Show a list below the player's summary. The access is recorded first."""
    access_log.note(request, player, what=what)
    head = {"subject": player, "summary": summaries([player.pk], request.user)[player.pk]}
    return render(request, template, head | context)
