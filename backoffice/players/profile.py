"""The page of a player with its sections, and full lists of the player's account movements, deposits
and withdrawals, sessions and notes.

Suspicions under anti-money-laundering law are only in sections that compliance may read. Lists are
newest first. The cost of a page of a list does not depend on its length.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_safe

from audit.models import Event, Significant, Work
from audit.reports.kinds import Column, Form
from audit.staff_text import in_sentence
from backoffice.audit import access_log as access_pages
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from backoffice.lists.totals import Sums
from backoffice.money.deposits import READERS as DEPOSIT_READERS
from backoffice.money.ledger import Entries
from backoffice.players import actions
from backoffice.players.cases import READERS as CASE_READERS
from backoffice.players.cases import Cases
from backoffice.players.facts import (
    SEE_FLAGS,
    balances,
    deposits_by_day,
    lifetime,
    limit_lines,
    may,
    named_accounts,
    summaries,
)
from backoffice.players.search import PAYERS
from backoffice.players.timeline import Timeline, tag_context, tags_of
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
    LimitChange,
    LimitKind,
    Note,
    Period,
    Player,
    PlayTime,
    RealityCheck,
    RegisterCheck,
    Session,
    Submission,
    SubmissionStatus,
    Topic,
)
from players.models.people import LONGEST_NOTE
from players.protection import exclusions, limits
from players.search import IDENTITY, SEE, SESSIONS
from players.staff import VISIBLE_TO_PLAYER, access_log
from wallet.limits import what, written
from wallet.models import Account, AccountKind, Mode, Payment, PayoutAccount, Withdrawal, WithdrawalStatus
from wallet.money import format_money

FEW: Final = 5
LATEST: Final = 3  # of the timeline, which is always open
MOST_CASES: Final = 20  # of one player, newest first
PROTECTING: Final = ("players.set_limits", "players.exclude_player", SEE_FLAGS)
SUSPICIONS: Final = "audit.handle_significant"
WEEK: Final = 7  # days

Data = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """Section of the profile, for staff with any of *permissions*.

    The anchor also names the template. A section that is not wide takes half of the page's width. It is folded unless
    *has_work* finds open work or a warning in its data.
    """

    anchor: str
    title: str | Promise
    permissions: tuple[str, ...]
    read: Callable[[StaffRequest, Player], Data]
    is_wide: bool = True
    has_work: Callable[[Data], bool] = lambda data: False

    @property
    def template(self) -> str:
        """Path of the section's template."""
        return f"staff/player_sections.html#{self.anchor}"


def sections(request: StaffRequest, player: Player) -> list[tuple[Section, Data, bool]]:
    """Return the sections that the reader may see, each with its data, and whether it is open."""
    found = [(each, each.read(request, player)) for each in SECTIONS if may(request.user, each.permissions)]
    return [(each, data, each.has_work(data)) for each, data in found]


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
    accounts = PayoutAccount.objects.filter(player=player).order_by("-at") if may(request.user, PAYERS) else None
    return {
        "balances": balances(player),
        "deposits_by_day": deposits_by_day(player),
        "payments": PlayerDeposits(request, player).first(FEW),
        "withdrawals": PlayerWithdrawals(request, player).first(FEW),
        "movements": PlayerEntries(request, player).first(FEW),
        "accounts": accounts,
    }


def _play(request: StaffRequest, player: Player) -> Data:
    seats = CheminSeat.objects.filter(player=player, left_at=None).select_related("live_table__table").order_by("pk")
    tenures = CheminTenure.objects.filter(seat__in=seats, ended_at=None).select_related("live_table__table")
    bank = dict(Account.objects.filter(owner=player, kind=AccountKind.BANK).values_list("pk", "balance"))
    parts = [part for mode in Mode for part in find(player, Search(mode=mode), limit=FEW)]
    return {
        "open": playing(player, get_language() or "en", modes=tuple(Mode)),
        "seats": seats,
        "banks": [
            (each, format_money(bank.get(each.account_id) or 0, player.currency, get_language() or "en"))
            for each in tenures
        ],
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
    amount = gettext("none") if change.amount is None else written(player, kind, change.amount)
    return what(kind, period), amount, change


def _cases(request: StaffRequest, player: Player) -> Data:
    return {"list": Cases(request, player).first(MOST_CASES)}


def _significant_events(request: StaffRequest, player: Player) -> Data:
    return {"found": Significant.objects.filter(on=str(player)).order_by("-pk")[:FEW]}


def _sessions(request: StaffRequest, player: Player) -> Data:
    return {
        "running": len(sessions.running(player.user)),
        "sessions": PlayerSessions(request, player).first(FEW),
        "second_factor": is_set_up(player.user),
        "locked_since": locks.locked_since(player.user.email),
        "tokens": [(token, scope_labels(token)) for token in tokens.running(player.user)],
    }


def _service(request: StaffRequest, player: Player) -> Data:
    said = Conversation.objects.filter(player=player).exclude(topic=Topic.COMPLAINT).order_by("-pk")
    open_ones = said.exclude(state=ConversationState.CLOSED)
    return {"open": open_ones[: 2 * FEW], "closed": said.filter(state=ConversationState.CLOSED)[:FEW]}


def _chat(request: StaffRequest, player: Player) -> Data:
    return {
        "name": ChatName.objects.filter(player=player).first(),
        "grounds": Grounds.choices,
        "visibility": VISIBLE_TO_PLAYER,
        "names": ChatNameTaken.objects.filter(player=player).order_by("-pk")[:FEW],
        "bans": ChatBan.objects.filter(player=player).select_related("live_table__table").order_by("-pk")[:FEW],
    }


def _timeline(request: StaffRequest, player: Player) -> Data:
    return {"list": Timeline(request, player).first(LATEST)}


def _notes(request: StaffRequest, player: Player) -> Data:
    return {"list": PlayerNotes(request, player).first(FEW), **tag_context(player)}


def _events(request: StaffRequest, player: Player) -> Data:
    return {"events": Event.objects.filter(on=str(player)).exclude(kind=access_log.ACCESSED).order_by("-pk")[:FEW]}


def _access_log(request: StaffRequest, player: Player) -> Data:
    return {"list": access_pages.AccessesTo(request, player).first(FEW)}


def _has_notes(data: Data) -> bool:
    return bool(data["list"].page.rows)


def _is_to_review(data: Data) -> bool:
    is_open = any(pair.open for pair, _ in data["pairs"])
    return is_open or any(each.status == SubmissionStatus.SUBMITTED for each in data["submissions"])


def _is_excluded(data: Data) -> bool:
    return data["exclusion_in_force"] is not None


def _has_open_case(data: Data) -> bool:
    return any(case.closed_at is None for case in data["list"].shown)


def _has_event(data: Data) -> bool:
    return any(each.state in (Work.NEW, Work.SEEN) for each in data["found"])


SECTIONS: Final = (
    Section("timeline", gettext_lazy("Timeline"), (SEE,), _timeline, has_work=lambda _data: True),
    Section("notes", gettext_lazy("Notes and tags"), (staff.PERMISSION,), _notes, has_work=_has_notes),
    Section("account", gettext_lazy("Account"), (SEE,), _account, is_wide=False),
    Section("identity", "KYC", (IDENTITY,), _identity, is_wide=False, has_work=_is_to_review),
    Section("money", gettext_lazy("Balances and payments"), (SEE,), _money),
    Section("play", gettext_lazy("Play"), (SEE,), _play),
    Section("protection", gettext_lazy("Limits and exclusions"), PROTECTING, _protection, has_work=_is_excluded),
    Section("cases", gettext_lazy("Cases"), CASE_READERS, _cases, has_work=_has_open_case),
    Section(
        "service",
        gettext_lazy("Messages"),
        ("players.answer_service",),
        _service,
        is_wide=False,
        has_work=lambda data: bool(data["open"]),
    ),
    Section("watches", gettext_lazy("Significant events"), (SUSPICIONS,), _significant_events, has_work=_has_event),
    Section("sessions", gettext_lazy("Sessions, devices and addresses"), SESSIONS, _sessions),
    Section("chat", gettext_lazy("Chat"), ("games.read_chat",), _chat, is_wide=False),
    Section("events", gettext_lazy("Audit log"), ("audit.view_event",), _events, is_wide=False),
    Section("access_log", gettext_lazy("Access log"), (access_pages.SEE,), _access_log),
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
    access_log.note(request, player, what=", ".join(each.anchor for each, *_ in shown if each.anchor != NOT_LOGGED))
    context = {
        "subject": player,  # "player" would be the player whose balance the header shows
        "summary": summaries([player.pk], request.user)[player.pk],
        "lifetime": lifetime(player),
        "tags": tags_of(player),
        "sections": shown,
    } | actions.context(request, player)
    lists = [each for _, data, _ in shown for each in data.values() if isinstance(each, StaffList)]
    others = access_log.players_in([data for _, data, _ in shown]).union(
        *(each.players_in(each.shown) for each in lists)
    )
    access_log.note_list(request, others - {player.pk}, what="named on another player’s page")
    return render(request, "staff/player.html", context)


class AccountForm(ListForm):
    """Choice of the account (its number), the player's real cash account by default."""

    account = forms.ChoiceField(label=gettext_lazy("Account"), required=False)

    def __init__(self, asked: Mapping[str, Any], accounts: Sequence[tuple[Account, str]]) -> None:
        super().__init__(asked)
        choices = [(str(each.pk), name) for each, name in accounts]
        self.fields["account"].choices = choices  # type: ignore[attr-defined]


class PlayerEntries(Entries):
    """Entries of one of a player's accounts."""

    name = gettext_noop("Transactions")
    form: AccountForm
    empty = gettext_noop("No transactions on this account.")
    unmatched = empty

    def __init__(self, request: StaffRequest, player: Player) -> None:
        """Find the account that *request* asks for."""
        self.accounts_of_player = named_accounts(Account.objects.filter(owner=player, balance__isnull=False))
        super().__init__(request)
        chosen = self.asked.get("account")
        found = (each for each, _ in self.accounts_of_player if chosen in ("", None, str(each.pk)))
        self.of = next(found, None)

    def make_form(self) -> AccountForm:
        """Return the choice of the account."""
        return AccountForm(self.request.GET, self.accounts_of_player)


class PlayerDeposits(StaffList):
    """Deposits of one player."""

    model = Payment
    name = gettext_noop("Deposits")
    players = ("player_id",)
    key = ("begun_at", "id")
    columns = (
        Column("begun_at", "Started", Form.TIME),
        Column("amount", "Amount", Form.MONEY),
        Column("state", "State"),
        Column("authorisation", "Authorisation"),
        Column("id", "Payment"),
    )
    file_columns = (*columns, Column("currency", "Currency"), Column("is_disputed", "Disputed"))
    currency = "currency"
    empty = gettext_noop("No payments in this list.")
    unmatched = empty
    sums = Sums({"Amount": "amount"})
    sorts = {"amount": ("amount", "id")}
    states = {"credited": "on", "waiting": "brass", "error": "void"}  # state -> badge

    def make_form(self) -> ListForm:
        """Return the choice of deposits or withdrawals."""
        return PaymentsForm(self.request.GET)

    def found(self) -> QuerySet[Payment]:
        """Return all deposits of the player."""
        return Payment.objects.filter(player=self.of)

    def show_state(self, payment: Payment) -> str:
        """Return the state, and whether the deposit is disputed."""
        state = cells.badge(in_sentence(payment.get_state_display()), self.states.get(payment.state, "off"))
        return cells.joined(state, cells.badge(gettext("disputed"), "void") if payment.is_disputed else "")

    def show_id(self, payment: Payment) -> str:
        """Return the deposit with the links that the reader may follow."""
        code = format_html("<code>{}</code>", payment.pk)
        if may(self.request.user, DEPOSIT_READERS):
            code = cells.link(reverse("staff_deposit", args=[payment.pk]), code)
        return cells.joined(code, _letter_link(self.request, self.of, f"deposit:{payment.pk}"))


class PlayerWithdrawals(StaffList):
    """Withdrawals of one player."""

    model = Withdrawal
    name = gettext_noop("Withdrawals")
    players = ("player_id",)
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "Requested", Form.TIME),
        Column("amount", "Amount", Form.MONEY),
        Column("status", "State"),
        Column("account", "Bank account"),
    )
    file_columns = (*columns, Column("currency", "Currency"))
    currency = "currency"
    sums = Sums({"Amount": "amount"})
    sorts = {"amount": ("amount", "id")}
    empty = gettext_noop("No payments in this list.")
    unmatched = empty

    def make_form(self) -> ListForm:
        """Return the choice of deposits or withdrawals."""
        return PaymentsForm(self.request.GET)

    def found(self) -> QuerySet[Withdrawal]:
        """Return all withdrawals of the player."""
        return Withdrawal.objects.filter(player=self.of).select_related("account")

    def show_id(self, withdrawal: Withdrawal) -> str:
        """Return the number, with a link if the reader may follow it."""
        address = cells.address_of(str(withdrawal), self.request.user)
        return cells.link(address, withdrawal.pk) if address else str(withdrawal.pk)

    def show_status(self, withdrawal: Withdrawal) -> str:
        """Return the state."""
        kind = "on" if withdrawal.status == WithdrawalStatus.PAID else "brass" if withdrawal.is_open else "off"
        return cells.badge(in_sentence(withdrawal.get_status_display()), kind)

    def show_account(self, withdrawal: Withdrawal) -> str:
        """Return the bank account."""
        return cells.joined(withdrawal.account, _letter_link(self.request, self.of, f"withdrawal:{withdrawal.pk}"))


class PaymentsForm(ListForm):
    """Choice of deposits or withdrawals."""

    which = forms.ChoiceField(
        label=gettext_lazy("Show"),
        required=False,
        choices=[("", gettext_lazy("Deposits")), ("withdrawals", gettext_lazy("Withdrawals"))],
    )


def _letter_link(request: StaffRequest, player: Player, about: str) -> str:
    if not request.user.has_perm("players.answer_service"):
        return ""
    return cells.link(f"{reverse('staff_service_new', args=[player.pk])}?about={about}", gettext("Write to player"))


class PlayerSessions(StaffList):
    """Sessions of one player, with IP address and browser."""

    model = Session
    name = gettext_noop("Sessions")
    players = ("user__player",)
    key = ("began_at", "id")
    columns = (
        Column("began_at", "Started", Form.TIME),
        Column("ended_at", "Ended", Form.TIME),
        Column("ip", "IP address"),
        Column("browser", "Device"),
        Column("id", "Session"),
    )
    file_columns = (*columns, Column("acted_at", "Last action", Form.TIME), Column("why", "Ended because"))
    empty = gettext_noop("No sessions yet.")

    def found(self) -> QuerySet[Session]:
        """Return all sessions of the player."""
        return Session.objects.filter(user=self.of.user_id).select_related("user__player")

    def show_ended_at(self, session: Session) -> str:
        """Return when and why the session ended, or the last action in it."""
        if session.ended_at:
            return cells.joined(cells.moment(session.ended_at), session.get_why_display(), by=", ")
        return cells.joined(
            cells.badge(gettext("running"), "on"), gettext("last action"), cells.moment(session.acted_at)
        )

    def show_ip(self, session: Session) -> str:
        """Return the IP address, with a link to other players with this address."""
        return self._others(session.ip, "ip", session.ip) if session.ip else gettext("no longer stored")

    def show_browser(self, session: Session) -> str:
        """Return the browser and the device, with a link to other players with this device."""
        if not session.browser:
            return gettext("no longer stored")
        link = self._others(session.browser, "device", gettext("Other players with this device"))
        label, full = sessions.browser_label(session.browser), session.browser
        return format_html("<details><summary>{}</summary><p>{}</p><p>{}</p></details>", label, full, link)

    def show_id(self, session: Session) -> str:
        """Return the id of the session."""
        return format_html("<code>{}</code>", session.pk)

    def _others(self, who: str, by: str, text: str) -> str:
        return cells.link(f"{reverse('staff_players')}?{urlencode({'who': who, 'by': by})}", text)


class PlayerNotes(StaffList):
    """Notes about one player that the reader may see."""

    model = Note
    name = gettext_noop("Notes")
    players = ("player_id",)
    columns = (
        Column("id", "No.", Form.NUMBER),
        Column("at", "When", Form.TIME),
        Column("by", "By"),
        Column("restricted", "Compliance only"),
        Column("text", "Note"),
    )
    empty = gettext_noop("No notes yet.")

    def found(self) -> QuerySet[Note]:
        """Return the notes about the player."""
        return staff.notes(self.of, restricted_too=self.request.user.has_perm(SUSPICIONS))


class NoteForm(forms.Form):
    """New note about a player."""

    text = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": LONGEST_NOTE}),
    )
    restricted = forms.BooleanField(
        label=gettext_lazy("Compliance only (a suspicion that must not be disclosed to the player)"), required=False
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
    return _page(player, PlayerEntries(request, player), "staff/player_list.html", what="transactions")


@staff_required(SEE)
@require_safe
def staff_player_payments(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's deposits or withdrawals."""
    player, which = _find(player_id), request.GET.get("which")
    listing = (PlayerWithdrawals if which == "withdrawals" else PlayerDeposits)(request, player)
    return _page(player, listing, "staff/player_list.html", what=listing.name.lower())


@staff_required(*SESSIONS)
@require_safe
def staff_player_sessions(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's sessions: time, IP address and browser."""
    player = _find(player_id)
    return _page(player, PlayerSessions(request, player), "staff/player_list.html", what="sessions")


@staff_required(staff.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_notes(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the notes about a player. On POST, add a note."""
    player, may_restrict = _find(player_id), request.user.has_perm(SUSPICIONS)
    form = NoteForm(request.POST if request.method == "POST" else None, may_restrict=may_restrict)
    if form.is_valid():
        restricted = form.cleaned_data.get("restricted", False)
        staff.add(player=player, text=form.cleaned_data["text"], restricted=restricted, by=request.staff)
        messages.success(request, gettext("Note saved."))
        return redirect("staff_player_notes", player.pk)
    return _page(player, PlayerNotes(request, player), "staff/player_notes.html", what="notes", note_form=form)


def _find(player_id: int) -> Player:
    return get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)


def _page(player: Player, listing: StaffList, template: str, *, what: str, **context: Any) -> HttpResponse:
    """Show a list below the player's summary. The access is recorded first."""
    request = listing.request
    if listing.is_file:
        return listing.file()
    access_log.note(request, player, what=what)
    head = {"subject": player, "summary": summaries([player.pk], request.user)[player.pk]}
    return listing.answer(template, head | context)
