"""Limits that the house sets for a player: what holds, a form for each kind, the changes so far."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from players import limits, looking
from players.access import StaffRequest, staff_required
from players.models import LimitChange, LimitKind, LimitSource, Player
from wallet.limits_forms import LimitsForm
from wallet.limits_page import tables, what, written

MOST_CHANGES = 50


class FindForm(forms.Form):
    """Whose limits."""

    player = forms.IntegerField(label="Number of the player", min_value=1, max_value=2**63 - 1)


class HouseLimitsForm(LimitsForm):
    """Limits of one kind that the house sets, which says why."""

    reason = forms.CharField(max_length=500, widget=forms.Textarea(attrs={"rows": 2}), label="Reason")


@staff_required("players.set_limits")
@require_safe
def staff_limits(request: StaffRequest) -> HttpResponse:
    """Lead to a player's page."""
    form = FindForm(request.GET or None)
    if form.is_valid():
        player = Player.objects.filter(pk=form.cleaned_data["player"]).first()
        if player is not None:
            looking.note(request, player, what="which player it is")
            return redirect("staff_player_limits", player.pk)
        form.add_error("player", "No player has this number.")
    return render(request, "staff/limits.html", {"form": form})


@staff_required("players.set_limits")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_limits(request: StaffRequest, player_id: int) -> HttpResponse:
    """Show a player's limits; set those of the house of one kind."""
    player = get_object_or_404(Player.objects.select_related("jurisdiction"), pk=player_id)
    kind = next((kind for kind in LimitKind if request.POST.get(f"{kind.value}-kind") == kind.value), None)
    if request.method != "POST" or kind is None:
        return _render(request, player)
    form = _form(player, kind, request)
    if not form.is_valid():
        return _render(request, player, form=form, kind=kind)
    for period, amount in form.changed().items():
        limits.set_limit(
            player=player,
            kind=kind,
            period=period,
            amount=amount,
            by=str(request.staff),
            source=LimitSource.HOUSE,
            reason=form.cleaned_data["reason"],
        )
        said = "no limit of the house any more" if amount is None else f"{written(player, kind, amount)} from now on"
        messages.success(request, f"{what(kind, period)}: {said}.")
    return redirect("staff_player_limits", player.pk)


def _form(player: Player, kind: LimitKind, request: StaffRequest | None = None) -> HouseLimitsForm:
    own = limits.own_limits(player, LimitSource.HOUSE)
    holding = {period: amount for (of, period), amount in own.items() if of is kind}
    return HouseLimitsForm(request and request.POST, kind=kind, currency=player.currency, holding=holding)


def _render(
    request: StaffRequest, player: Player, *, form: HouseLimitsForm | None = None, kind: LimitKind | None = None
) -> HttpResponse:
    looking.note(request, player, what="limits")
    changes = LimitChange.objects.filter(player=player).order_by("-pk")[:MOST_CHANGES]
    context = {
        "subject": player,  # "player" would be whose balance the header shows
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
    return "none" if amount is None else written(player, LimitKind(change.kind), amount)
