"""Limits that staff set for a player. They hold at once, and the player is told by mail.

Staff also lift them at once: the player's own limits stay as they are, and the strictest limit
decides (GLI-19 v3.0, 2.5.5).

The page that searches for the player is in `backoffice.players.search`.
"""

from collections.abc import Mapping

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext, gettext_lazy, override
from django.views.decorators.http import require_http_methods

from players import mail
from players.access import StaffRequest, staff_required
from players.models import LimitChange, LimitKind, LimitSource, Period, Player, Staff
from players.protection import limits
from players.staff import VISIBLE_TO_PLAYER, access_log
from wallet.limits import LimitsForm, tables, what, written


@transaction.atomic
def set_for_the_house(
    *, player: Player, kind: LimitKind, amounts: Mapping[Period, int | None], reason: str, by: Staff
) -> None:
    """Set the house's limits of one *kind*, and write to the player. None removes a limit.

    Raises limits.NothingChanges.
    """
    for period, amount in amounts.items():
        limits.set_limit(
            player=player,
            kind=kind,
            period=period,
            amount=amount,
            by=str(by),
            source=LimitSource.HOUSE,
            reason=reason,
        )
    with override(player.user.language):
        lines = [
            (what(kind, period), "" if amount is None else written(player, kind, amount))
            for period, amount in amounts.items()
        ]
    if lines:
        context = {"lines": lines, "support": settings.SUPPORT_EMAIL}
        mail.write(user=player.user, template="limits_by_house", context=context)


SET = "players.set_limits"
MOST_CHANGES = 50


class HouseLimitsForm(LimitsForm):
    """House limits of one kind, with a reason."""

    reason = forms.CharField(
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Reason"),
        help_text=VISIBLE_TO_PLAYER,
    )


@staff_required(SET)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_limits(request: StaffRequest, player_id: int) -> HttpResponse:
    """Show a player's limits. On POST, set the house limits of one kind."""
    player = get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)
    kind = next((kind for kind in LimitKind if request.POST.get(f"{kind.value}-kind") == kind.value), None)
    if request.method != "POST" or kind is None:
        return _render(request, player)
    form = _form(player, kind, request)
    if not form.is_valid():
        return _render(request, player, form=form, kind=kind)
    amounts = form.changed()
    set_for_the_house(player=player, kind=kind, amounts=amounts, reason=form.cleaned_data["reason"], by=request.staff)
    for period, amount in amounts.items():
        said = (
            gettext("house limit removed")
            if amount is None
            else (gettext("%(player)s with immediate effect") % {"player": written(player, kind, amount)})
        )
        messages.success(request, f"{what(kind, period)}: {said}.")
    return redirect("staff_player_limits", player.pk)


def _form(player: Player, kind: LimitKind, request: StaffRequest | None = None) -> HouseLimitsForm:
    own = limits.own_limits(player, LimitSource.HOUSE)
    holding = {period: amount for (of, period), amount in own.items() if of is kind}
    return HouseLimitsForm(request and request.POST, kind=kind, currency=player.currency, holding=holding)


def _render(
    request: StaffRequest, player: Player, *, form: HouseLimitsForm | None = None, kind: LimitKind | None = None
) -> HttpResponse:
    access_log.note(request, player, what="limits")
    changes = LimitChange.objects.filter(player=player).order_by("-pk")[:MOST_CHANGES]
    context = {
        "subject": player,  # "player" would be the player whose balance the header shows
        "kinds": [
            (table, form if form is not None and table.kind is kind else _form(player, table.kind))
            for table in tables(player)
        ],
        "changes": [
            (change, _amount(player, change, change.before), _amount(player, change, change.amount))
            for change in changes
        ],
        "form": form,
    }
    return render(request, "staff/limits.html", context)


def _amount(player: Player, change: LimitChange, amount: int | None) -> str:
    return gettext("none") if amount is None else written(player, LimitKind(change.kind), amount)
