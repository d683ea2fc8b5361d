"""Staff pages of exclusions.

Money of an excluded player that is in a game's purse returns to the cash account at once.
"""

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.views.decorators.http import require_http_methods, require_POST

from accounts.protection_views import give_back
from audit import approvals
from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.staff_list import StaffList
from backoffice.players.search import WhoForm, find_players
from players.access import StaffRequest, staff_required
from players.models import Exclusion, Player
from players.protection import exclusions
from players.staff import VISIBLE_ONCE_DONE, VISIBLE_TO_PLAYER, access_log

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
