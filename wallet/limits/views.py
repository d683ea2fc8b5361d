"""The limits page, where players see and set their limits.

It formats money, so it belongs to `wallet`.
"""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from players.access import PlayerRequest, player_required
from players.models import LimitChange, LimitKind, Period, Player
from players.protection import limits
from wallet.limits.page import REQUIRED, LimitsForm, WithdrawForm, announcement, tables, what


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_page(request: PlayerRequest) -> HttpResponse:
    """Show all limits, and set those of one kind."""
    player = request.player
    if request.method != "POST":
        return _render(request)
    kind = next((kind for kind in LimitKind if request.POST.get(f"{kind.value}-kind") == kind.value), None)
    if kind is None:
        return _render(request)
    form = _form(player, kind, request)
    if not form.is_valid() or not _set_all(request, form, kind):
        return _render(request, form=form, kind=kind)
    return redirect("limits")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_withdraw(request: PlayerRequest) -> HttpResponse:
    """Withdraw a pending change."""
    form = WithdrawForm(request.POST)
    if request.method == "POST" and form.is_valid():
        kind, period = LimitKind(form.cleaned_data["kind"]), Period(form.cleaned_data["period"])
        try:
            limits.withdraw_change(player=request.player, kind=kind, period=period, by=str(request.player))
        except limits.NothingChanges:
            messages.info(request, _("There is no pending change to cancel."))
        else:
            messages.success(
                request,
                _("%(what)s: the change is cancelled and your limit stays the same.") % {"what": what(kind, period)},
            )
    return redirect("limits")


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
def limits_decline(request: PlayerRequest) -> HttpResponse:
    """Record that the player declines the offer of deposit limits."""
    if request.method != "POST":
        return redirect("limits")
    limits.decline_offer(player=request.player)
    messages.info(request, _("You can set limits at any time on your account page."))
    return redirect("lobby")


def _set_all(request: PlayerRequest, form: LimitsForm, kind: LimitKind) -> bool:
    """Set the limits that differ from the current ones, with messages. Errors go into the form."""
    player, changes = request.player, list[LimitChange]()
    for period, amount in form.changed().items():
        try:
            changes.append(limits.set_limit(player=player, kind=kind, period=period, amount=amount, by=str(player)))
        except limits.LimitRequired:
            form.add_error(period.value, REQUIRED)
        except limits.NothingChanges:
            continue
    for change in changes:
        messages.success(request, announcement(player, change))
    if not changes and not form.errors:
        messages.info(request, _("Nothing was changed."))
    return not form.errors


def _form(player: Player, kind: LimitKind, request: PlayerRequest | None = None) -> LimitsForm:
    own = limits.own_limits(player)
    holding = {period: amount for (of, period), amount in own.items() if of is kind}
    return LimitsForm(request and request.POST, kind=kind, currency=player.currency, holding=holding)


def _render(request: PlayerRequest, *, form: LimitsForm | None = None, kind: LimitKind | None = None) -> HttpResponse:
    player = request.player
    required = {period for of, period in limits.required(player) if of is LimitKind.DEPOSIT}
    context = {
        "kinds": [
            (table, form if form is not None and table.kind is kind else _form(player, table.kind))
            for table in tables(player)
        ],
        "must_set": limits.must_set_limits(player),
        "may_decline": limits.should_offer(player),
        "required": bool(required),
        "hours": player.jurisdiction.raise_after_hours,
        "after_period": player.jurisdiction.raise_after_period,
    }
    return render(request, "wallet/limits.html", context)
