"""Actions of staff on one player: lock or unlock the account, pause, request a balance adjustment.

Exclusions and limits have pages of their own, which the player's page links to. The page of each
action shows the current state and the effects, asks for a reason, and keeps what was typed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext, gettext_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts import closing, data_export
from accounts.protection_views import give_back
from audit import approvals, log, retention
from audit.models import RetainedData
from players import cases, staff
from players.access import StaffRequest, staff_required
from players.account import closures
from players.login import locks
from players.models import Case, CaseKind, Player
from players.protection import borrowed_money, exclusions
from players.staff import VISIBLE_ONCE_DONE, VISIBLE_TO_PLAYER, access_log
from wallet.cashier import MoneyField, MoneyForm
from wallet.ledger import accounts, adjustments, purse
from wallet.models import Mode, Why
from wallet.money import format_money

LOCK: Final = "players.lock_player"
EXCLUDE: Final = "players.exclude_player"
LIMITS: Final = "players.set_limits"
LONGEST_REASON: Final = 300


@dataclass(frozen=True)
class PlayerAction:
    """Action that the reader may take: its name, the current state, and its page."""

    name: str
    state: str
    page: str  # URL
    is_grave: bool = False


class ReasonForm(forms.Form):
    """Reason for an action."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=VISIBLE_TO_PLAYER,
        error_messages={"required": gettext_lazy("Enter a reason. It is recorded.")},
    )


class BorrowedForm(ReasonForm):
    """Reason for a mark of borrowed money or for its removal, whichever the page offered."""

    removes = forms.BooleanField(required=False, widget=forms.HiddenInput)


class AdjustForm(MoneyForm):
    """Balance adjustment: amount, mode, a sentence for the player, and a reason for the record."""

    mode = forms.ChoiceField(label=gettext_lazy("Money"), choices=[(mode.value, mode.label) for mode in Mode])
    way = forms.ChoiceField(
        label=gettext_lazy("Direction"),
        choices=[("up", gettext_lazy("Add to the balance")), ("down", gettext_lazy("Take from the balance"))],
    )
    amount = MoneyField(label=gettext_lazy("Amount"))
    why = forms.ChoiceField(
        label=gettext_lazy("Text for the player"),
        choices=[("", gettext_lazy("Choose a text")), *Why.choices],
        error_messages={"required": gettext_lazy("Choose the text that is shown to the player.")},
    )
    reason = forms.CharField(
        label=gettext_lazy("Internal note"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=VISIBLE_ONCE_DONE,
        error_messages={"required": gettext_lazy("Enter a reason for the approver. It is recorded.")},
    )


def context(request: StaffRequest, player: Player) -> dict[str, Any]:
    """Return the context of the actions panel on a player's page, by the reader's permissions."""
    return {"actions": [action(player) for permission, action in ACTIONS if request.user.has_perm(permission)]}


def _lock_action(player: Player) -> PlayerAction:
    lock = locks.lock_of(player)
    if lock is None:
        return PlayerAction(
            gettext("Lock account"),
            gettext("The account is not locked."),
            _page("staff_player_lock", player),
            is_grave=True,
        )
    state = gettext("Locked since %(at)s UTC by %(name)s (%(by)s): %(reason)s") % {
        "at": f"{lock.at:%Y-%m-%d %H:%M}",
        "name": lock.by.name,
        "by": lock.by,
        "reason": lock.reason,
    }
    return PlayerAction(gettext("Unlock account"), state, _page("staff_player_unlock", player))


def _pause_action(player: Player) -> PlayerAction:
    return PlayerAction(
        (gettext("Pause for %(pause_hours)s hours") % {"pause_hours": player.jurisdiction.pause_hours}),
        _excluded(player),
        _page("staff_player_pause", player),
        is_grave=True,  # nobody can end it early
    )


def _exclude_action(player: Player) -> PlayerAction:
    return PlayerAction(
        gettext("Exclude player"), _excluded(player), f"{reverse('staff_exclusions')}?player={player.pk}", is_grave=True
    )


def _limits_action(player: Player) -> PlayerAction:
    return PlayerAction(
        gettext("Set limits"),
        gettext("The current limits are shown with each field."),
        _page("staff_player_limits", player),
    )


def _borrowed_action(player: Player) -> PlayerAction:
    found = borrowed_money.block_of(player)
    page = _page("staff_player_borrowed", player)
    if found is None:
        return PlayerAction(gettext("Mark borrowed money"), gettext("The player can deposit."), page, is_grave=True)
    state = gettext("Deposits are blocked since %(at)s UTC by %(name)s (%(by)s): %(reason)s") % {
        "at": f"{found.at:%Y-%m-%d %H:%M}",
        "name": found.by.name,
        "by": found.by,
        "reason": found.reason,
    }
    asked = approvals.waiting().filter(kind=borrowed_money.KIND, on=str(player)).first()
    if asked:
        state = gettext("%(state)s Request %(asked)s to remove the mark is pending.") % {
            "state": state,
            "asked": asked.pk,
        }
    return PlayerAction(gettext("Request removal of the mark"), state, page)


def _funds_action(player: Player) -> PlayerAction:
    found = Case.objects.filter(player=player, kind=CaseKind.FUNDS, closed_at=None).first()
    if found:
        return PlayerAction(
            gettext("View source of funds"),
            (gettext("Case %(found)s is open.") % {"found": found.pk}),
            reverse("staff_case", args=[found.pk]),
        )
    return PlayerAction(gettext("Check source of funds"), gettext("No open case."), _page("staff_player_funds", player))


def _export_action(player: Player) -> PlayerAction:
    return PlayerAction(
        _("Export data"), _("Everything that is stored about the player."), _page("staff_player_export", player)
    )


def _erase_action(player: Player) -> PlayerAction:
    asked = approvals.waiting().filter(kind=closing.KIND, on=str(player)).first()
    state = _("No pending request.")
    if asked:
        state = _("Request %(number)s is pending.") % {"number": asked.pk}
    elif closed := closures.state_of(player):
        state = _("Account: %(state)s") % {"state": closed}
    return PlayerAction(_("Request erasure"), state, _page("staff_player_erase", player), is_grave=True)


def _adjust_action(player: Player) -> PlayerAction:
    asked = approvals.waiting().filter(kind=adjustments.KIND, on=str(player)).first()
    state = (
        (gettext("Request %(asked)s is pending.") % {"asked": asked.pk}) if asked else gettext("No pending request.")
    )
    return PlayerAction(gettext("Request balance adjustment"), state, _page("staff_player_adjust", player))


def _excluded(player: Player) -> str:
    exclusion = exclusions.in_force(player)
    if exclusion is None:
        return gettext("The account is locked.") if locks.lock_of(player) else gettext("No restrictions.")
    until = (
        (gettext("until %(until)s UTC") % {"until": f"{exclusion.until:%Y-%m-%d %H:%M}"})
        if exclusion.until
        else gettext("permanently")
    )
    return gettext("%(kind)s %(until)s, by %(get)s.") % {
        "kind": exclusion.get_kind_display(),
        "until": until,
        "get": staff.called().get(exclusion.by, exclusion.by),
    }


def _page(name: str, player: Player) -> str:
    return reverse(name, args=[player.pk])


ACTIONS: Final[tuple[tuple[str, Callable[[Player], PlayerAction]], ...]] = (
    (LOCK, _lock_action),
    (EXCLUDE, _pause_action),
    (EXCLUDE, _exclude_action),
    (LIMITS, _limits_action),
    (borrowed_money.PERMISSION, _borrowed_action),
    (cases.PERMISSIONS[CaseKind.FUNDS], _funds_action),
    (adjustments.ASK, _adjust_action),
    (closing.PERMISSION, _export_action),
    (closing.PERMISSION, _erase_action),
)


@staff_required(LOCK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_lock(request: StaffRequest, player_id: int) -> HttpResponse:
    """Lock an account, with a reason."""
    player = _player(request, player_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                locks.lock(player=player, reason=form.cleaned_data["reason"], by=request.staff)
                give_back(player, why=purse.Leaving.LOCKED, by=request.staff)
        except locks.LockError as error:
            messages.error(request, str(error))
        else:
            messages.success(
                request, (gettext("The account of %(player)s is locked. All sessions have ended.") % {"player": player})
            )
        return redirect("staff_player", player.pk)
    effects = (
        gettext("The player cannot log in until staff unlock the account. All sessions end at once."),
        gettext("Rounds and bets in progress are completed, and winnings are credited to the account."),
        gettext(
            "The balance in Golden Baccarat returns to the account at once. Pending withdrawals wait for two people."
        ),
        gettext(
            "The player is notified by e-mail and sees the contact details when logging in with the correct password."
        ),
    )
    return _ask_of_lock(request, player, form, "staff_player_lock", gettext("Lock account"), effects)


@staff_required(LOCK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_unlock(request: StaffRequest, player_id: int) -> HttpResponse:
    """Unlock an account, with a reason."""
    player = _player(request, player_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            locks.unlock(player=player, reason=form.cleaned_data["reason"], by=request.staff)
        except locks.LockError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, (gettext("The account of %(player)s is unlocked.") % {"player": player}))
        return redirect("staff_player", player.pk)
    effects = (
        gettext("The player can log in again and is notified by e-mail. Exclusions and limits remain in force."),
    )
    return _ask_of_lock(request, player, form, "staff_player_unlock", gettext("Unlock account"), effects)


@staff_required(EXCLUDE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_pause(request: StaffRequest, player_id: int) -> HttpResponse:
    """Pause a player for the hours that the jurisdiction sets, with a reason."""
    player = _player(request, player_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            made = exclusions.pause_for_the_house(player=player, reason=form.cleaned_data["reason"], by=request.staff)
            give_back(player, by=request.staff)
        messages.success(
            request,
            (
                gettext("%(player)s is paused until %(until)s UTC.")
                % {"player": player, "until": f"{made.until:%Y-%m-%d %H:%M}"}
            ),
        )
        return redirect("staff_player", player.pk)
    effects = (
        gettext("Takes effect at once for real and free play and for deposits. A round in progress is completed."),
        gettext("The pause cannot be ended early."),
        gettext(
            "The player is notified by e-mail and sees on every game page that staff set the pause and when it ends."
        ),
    )
    return _ask(request, player, form, _pause_action(player), gettext("Pause player"), effects)


@staff_required(borrowed_money.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_borrowed(request: StaffRequest, player_id: int) -> HttpResponse:
    """Mark that a player deposits borrowed money, or request that two people remove the mark."""
    player = _player(request, player_id)
    is_marked = borrowed_money.block_of(player) is not None
    form = BorrowedForm(request.POST or None, initial={"removes": is_marked})
    if request.method == "POST" and form.is_valid():
        reason = form.cleaned_data["reason"]
        if form.cleaned_data["removes"] != is_marked:
            messages.info(request, gettext("This has been done already. Nothing was changed."))
            return redirect("staff_player", player.pk)
        try:
            if is_marked:
                asked = borrowed_money.ask_removal(player=player, reason=reason, by=request.staff)
                said = gettext("Requested as request %(asked)s. A second person must approve it.") % {"asked": asked.pk}
            else:
                borrowed_money.block_deposits(player=player, reason=reason, by=request.staff)
                said = gettext("%(player)s can no longer deposit.") % {"player": player}
        except (borrowed_money.BorrowedMoneyError, approvals.AskedTwice) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, said)
            return redirect("staff_player", player.pk)
    effects = (
        (gettext("A second person must approve the request. The player can then deposit again."),)
        if is_marked
        else (
            gettext("The player can no longer deposit. Money that still arrives is not credited."),
            gettext("Play with the current balance and withdrawals are still possible."),
            gettext(
                "The cashier page shows the reason, the contact details of customer service and a helpline. Two people "
                "can remove the mark."
            ),
        )
    )
    title = gettext("Request removal") if is_marked else gettext("Mark borrowed money")
    return _ask(request, player, form, _borrowed_action(player), title, effects)


@staff_required(closing.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_export(request: StaffRequest, player_id: int) -> HttpResponseBase:
    """Send the data export of a player, as the player would get it, with a reason."""
    player = _player(request, player_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        access_log.note(request, player, what="data export")
        log.record(
            "personal.exported", by=str(request.staff), on=str(player), data={"reason": form.cleaned_data["reason"]}
        )
        response = StreamingHttpResponse(data_export.export(player), content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="sabot-player-{player.pk}.zip"'
        return response
    effects = (
        _("The file is the player’s own export. Give it only to the player."),
        _("It does not contain suspicions or data about other people."),
        _("The player sees in their own export that staff exported their data, and why."),
    )
    return _ask(request, player, form, _export_action(player), _("Export data"), effects)


@staff_required(closing.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_erase(request: StaffRequest, player_id: int) -> HttpResponse:
    """Request that an account be closed and erased, on a request of its player by law."""
    player = _player(request, player_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            asked = closing.ask_erasure(player=player, reason=form.cleaned_data["reason"], by=request.staff)
        except approvals.AskedTwice as error:
            form.add_error(None, str(error))
        except closures.AlreadyClosing:
            form.add_error(None, _("The account is closing or closed already."))
        else:
            said = _("Requested as request %(number)s. A second person must approve it.") % {"number": asked.pk}
            messages.success(request, said)
            return redirect("staff_player", player.pk)
    years = retention.years(RetainedData.ACCOUNT)
    effects = (
        _("A second person must approve the request. The account is then closed and cannot be reopened."),
        _("The balance is paid to the player’s most recent bank account."),
        _("Data that need not be kept is deleted at once. The rest must be kept for %(years)s years by law.")
        % {"years": years},
    )
    return _ask(request, player, form, _erase_action(player), _("Request erasure"), effects)


@staff_required(adjustments.ASK)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_adjust(request: StaffRequest, player_id: int) -> HttpResponse:
    """Request a balance adjustment. Another person decides."""
    player = _player(request, player_id)
    form = AdjustForm(request.POST or None, currency=player.currency)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            asked = adjustments.ask(
                player=player,
                mode=Mode(said["mode"]),
                amount=said["amount"] if said["way"] == "up" else -said["amount"],
                why=Why(said["why"]),
                reason=said["reason"],
                by=request.staff,
            )
        except adjustments.CannotAdjust as error:
            form.add_error("amount", str(error))
        except approvals.AskedTwice as error:
            form.add_error(None, str(error))
        else:
            messages.success(
                request,
                (
                    gettext(
                        "Requested as request %(asked)s. Finance must approve it; the balance is unchanged until then."
                    )
                    % {"asked": asked.pk}
                ),
            )
            return redirect("staff_player", player.pk)
    held = accounts.totals(player.pk).held
    lying = [
        (
            gettext("%(mode)s money: %(amount)s (%(get)s of it held)")
            % {
                "mode": mode.label,
                "amount": format_money(amount, player.currency, get_language() or "en"),
                "get": format_money(held.get(mode, 0), player.currency, get_language() or "en"),
            }
        )
        for mode, amount in accounts.totals(player.pk).balances().items()
    ]
    effects = (
        (
            gettext(
                "A second person must approve the request. It is then executed exactly as shown, and the "
                "player is notified by e-mail."
            )
        ),
        (
            gettext(
                "The adjustment does not count as a deposit or a win, nor towards limits or revenue. It appears in the "
                "player’s statement."
            )
        ),
        *lying,
    )
    return _ask(request, player, form, _adjust_action(player), gettext("Request adjustment"), effects)


def _player(request: StaffRequest, player_id: int) -> Player:
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    access_log.note(request, player, what="account status")
    return player


def _ask_of_lock(
    request: StaffRequest, player: Player, form: forms.Form, name: str, title: str, effects: tuple[str, ...]
) -> HttpResponse:
    """Show the form if the account is not yet in that state.

    Otherwise show the state and link to the other action.
    """
    action = _lock_action(player)
    if action.page == _page(name, player):
        return _ask(request, player, form, action, title, effects)
    return _ask(request, player, None, action, title, ())


def _ask(
    request: StaffRequest,
    player: Player,
    form: forms.Form | None,
    action: PlayerAction,
    title: str,
    effects: tuple[str, ...],
) -> HttpResponse:
    context = {"subject": player, "form": form, "action": action, "title": title, "effects": effects}
    return render(request, "staff/player_action.html", context)
