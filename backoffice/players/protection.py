"""Staff pages of exclusions and of limits.

Money of an excluded player that is in a game's purse returns to the cash account at once.

Limits that staff set for a player hold at once, and the player is notified by mail. Staff also lift them at once: the
player's own limits stay as they are, and the strictest limit decides (GLI-19 v3.0, 2.5.5). The page that searches for
the player is in `backoffice.players.search`.
"""

from collections.abc import Mapping

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, gettext_noop, override
from django.views.decorators.http import require_http_methods, require_POST

from accounts.protection_views import give_back
from audit import approvals
from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.staff_list import StaffList
from backoffice.players.search import SET, WhoForm, find_players
from players import mail
from players.access import StaffRequest, staff_required
from players.models import Exclusion, LimitChange, LimitKind, LimitSource, Period, Player, Staff
from players.protection import exclusions, limits
from players.staff import VISIBLE_ONCE_DONE, VISIBLE_TO_PLAYER, access_log
from wallet.limits import LimitsForm, tables, what, written

LONGEST = 3650  # days
LONGEST_ID = 19  # digits: the column holds shorter numbers


class ExclusionForm(forms.Form):
    """Player, length and reason of an exclusion."""

    player = forms.ModelChoiceField(
        Player.objects.all(),
        widget=forms.HiddenInput,
        error_messages={
            "required": gettext_lazy("Select a player first."),
            "invalid_choice": gettext_lazy("Player not found."),
        },
    )
    days = forms.IntegerField(
        label=gettext_lazy("Days"),
        required=False,
        min_value=1,
        max_value=LONGEST,
        help_text=gettext_lazy("Leave empty for an exclusion until further notice."),
    )
    reason = forms.CharField(label=gettext_lazy("Reason"), max_length=500, help_text=VISIBLE_TO_PLAYER)


class LiftForm(forms.Form):
    """Reason for lifting an exclusion."""

    reason = forms.CharField(max_length=500)


class InForce(StaffList):
    """Exclusions in force."""

    model = Exclusion
    name = gettext_noop("Exclusions in force")
    players = ("player_id",)
    columns = (
        Column("player", "Player"),
        Column("kind", "Kind"),
        Column("begun", "Started", Form.TIME),
        Column("until", "Until", Form.TIME),
        Column("by", "By"),
        Column("reason", "Reason"),
        Column("lift", "Lift"),
    )
    file_columns = columns[:-1]
    accounts = ("by",)
    empty = gettext_noop("No exclusions in force.")

    def found(self) -> QuerySet[Exclusion]:
        """Return the exclusions in force."""
        in_force = Exclusion.objects.filter(Q(until=None) | Q(until__gt=Now()), lift=None)
        return in_force.select_related("player__user", "player__jurisdiction")

    def show_player(self, exclusion: Exclusion) -> str:
        """Return the player with a link, and the e-mail address."""
        player = cells.html(self.columns[0], str(exclusion.player), "", self.request.user)
        return cells.joined(player, format_html("<br>{}", exclusion.player.user.email))

    def show_until(self, exclusion: Exclusion) -> str:
        """Return the end."""
        return cells.moment(exclusion.until, gettext("permanent"))

    def show_lift(self, exclusion: Exclusion) -> str:
        """Return the form that requests the lifting, if the exclusion may be lifted."""
        if not exclusions.may_be_lifted(exclusion):
            return gettext("cannot be lifted")
        context = {"exclusion": exclusion, "told_once_done": VISIBLE_ONCE_DONE}
        return render_to_string("staff/exclusions.html#lift", context, self.request)


@staff_required("players.exclude_player")
@access_log.listed("exclusions")
@require_http_methods(["GET", "HEAD", "POST"])
def staff_exclusions(request: StaffRequest) -> HttpResponse:
    """List exclusions in force, search for a player, and exclude the player at once with a reason."""
    who = WhoForm(request.GET if "who" in request.GET else None)
    found = find_players(who, request.user)
    named = found[0].player if len(found) == 1 else _named((request.POST or request.GET).get("player", ""))
    form = ExclusionForm(request.POST or None, initial={"player": named})
    if request.method == "POST" and form.is_valid():
        player: Player = form.cleaned_data["player"]
        with transaction.atomic():
            exclusions.exclude(
                player=player, days=form.cleaned_data["days"], reason=form.cleaned_data["reason"], by=request.staff
            )
            give_back(player, by=request.staff)
        messages.success(
            request,
            (
                gettext("%(player)s is excluded. A round in progress is completed; no new rounds can start.")
                % {"player": player}
            ),
        )
        return redirect("staff_exclusions")
    if named:
        access_log.note(request, named, what="e-mail address")
    listing = InForce(request)
    if listing.is_file:
        return listing.file()
    access_log.shown(request, *filter(None, [named]), *(one.player for one in found))
    return listing.answer("staff/exclusions.html", {"named": named, "exclusion_form": form, "who": who, "found": found})


def _named(player_id: str) -> Player | None:
    """Return the player that a link names, if any."""
    if not (player_id.isascii() and player_id.isdecimal() and len(player_id) < LONGEST_ID):
        return None
    return Player.objects.select_related("user").filter(pk=player_id).first()


@staff_required("players.exclude_player")
@require_POST
def staff_exclusion_lift(request: StaffRequest, exclusion_id: int) -> HttpResponse:
    """Request that an exclusion be lifted. Another person decides."""
    exclusion = get_object_or_404(Exclusion, pk=exclusion_id)
    form = LiftForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Enter a reason. It is recorded in the audit log."))
        return redirect("staff_exclusions")
    try:
        exclusions.ask(exclusion=exclusion, reason=form.cleaned_data["reason"], by=request.staff)
    except exclusions.EndsAtItsTime:
        messages.error(request, gettext("This exclusion cannot be ended early."))
    except approvals.AskedTwice as error:
        messages.error(request, str(error))
    else:
        messages.success(request, gettext("Requested. A second person must approve it under Approvals."))
    return redirect("staff_exclusions")


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
