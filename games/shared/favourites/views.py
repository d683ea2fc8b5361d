"""View to save, rename and remove favourite bets at a shared table. `live_bet` places them."""

from dataclasses import asdict
from enum import StrEnum

from django import forms
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from games.betting.rules import demand
from games.engine.bets import Control
from games.engine.settle import SettlementError
from games.errors import PlayError, StalePage
from games.models import LiveTable, Table
from games.shared import favourites
from games.shared.favourites import REMOVED, SAID, message, panel, removed_of
from games.shared.pages.views import read_public
from games.tables.access import at_a_shared_table, demand_welcome
from games.tables.presentation import Notice
from games.variants import VARIANTS
from players.access import PlayerRequest, player_required
from players.login.current_user import session_id
from players.rates import at_a_human_pace
from wallet.models import Mode


class FavouriteAction(StrEnum):
    """Actions on favourites."""

    SAVE = "save"
    RENAME = "rename"
    REMOVE = "remove"
    BRING_BACK = "bring_back"


class FavouriteForm(forms.Form):
    """A button of the panel, with its favourite. The typed name is read from the request."""

    action = forms.TypedChoiceField(
        choices=[(each.value, each.value) for each in FavouriteAction], coerce=FavouriteAction
    )
    favourite = forms.IntegerField(min_value=1, max_value=2**63 - 1, required=False)


@player_required
@require_POST
@at_a_human_pace
@at_a_shared_table
def live_favourites(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Carry out a button of the panel, and return the panel to htmx or redirect to the page."""
    live, language = get_object_or_404(LiveTable, table=found, mode=mode), get_language() or "en"
    live.table = found
    state, typed = read_public(live), ""
    demand_welcome(request.player, mode, session_id(request))
    try:
        demand(state.variant, Control.FAVOURITES)
        said = Notice("info", _do(request, live))
    except (PlayError, SettlementError) as error:
        said = Notice("error", message(error, state, language))
        typed = request.POST.get("name", "") if request.POST.get("action") == FavouriteAction.SAVE else ""
    request.session[SAID] = vars(said)
    if not request.htmx:
        return redirect(f"{reverse('table', args=[found.slug, mode])}#panel-favourites")
    shown = panel(request.session, request.player, live, state, language, typed=typed)
    context = {"table": found, "now_mode": mode, "favourites": shown}
    return render(request, "games/panels.html#favourites", context)


def _do(request: PlayerRequest, live: LiveTable) -> str:
    """Carry out the action and return a message. Raises PlayError, SettlementError."""
    form = FavouriteForm(request.POST)
    if not form.is_valid():
        raise StalePage
    player, variant = request.player, VARIANTS[live.table.variant]
    # The raw name: a form field would strip characters for which the name must be refused.
    which, name = form.cleaned_data["favourite"] or 0, request.POST.get("name", "")
    removed = removed_of(request.session, live)
    match form.cleaned_data["action"]:
        case FavouriteAction.SAVE:
            saved = favourites.save(player=player, live_table=live, name=name)
        case FavouriteAction.RENAME:
            saved = favourites.rename(player=player, variant=variant, favourite_id=which, name=name)
        case FavouriteAction.REMOVE:
            taken = favourites.remove(player=player, variant=variant, favourite_id=which)
            request.session[REMOVED] = asdict(taken)
            return _("“%(name)s” was removed.") % {"name": taken.name}
        case _:
            if removed is None:
                raise StalePage
            saved = favourites.bring_back(player=player, removed=removed)
    request.session.pop(REMOVED, None)
    return _("“%(name)s” is saved.") % {"name": saved.name}
