"""View with which a player chooses the chips in their tray at shared tables."""

from django import forms
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from games.errors import NoChipChosen, PlayError, TooManyChips, UnknownChip
from games.models import LiveTable, Table
from games.shared import chips
from games.shared.views import NOTICE, read_public
from games.tables.access import at_a_shared_table, demand_welcome
from games.tables.presentation import Notice
from players.access import PlayerRequest, player_required, session_id
from players.rates import at_a_human_pace
from wallet.models import Mode


class ChipsForm(forms.Form):
    """The chips that were ticked, or the button that resets the tray."""

    reset = forms.BooleanField(required=False)

    def __init__(self, data: QueryDict, allowed: tuple[int, ...]) -> None:
        super().__init__(data)
        choices = [(chip, str(chip)) for chip in allowed]
        self.fields["chips"] = forms.TypedMultipleChoiceField(coerce=int, required=False, choices=choices)


@player_required
@require_POST
@at_a_human_pace
@at_a_shared_table
def live_chips(request: PlayerRequest, found: Table, mode: Mode) -> HttpResponse:
    """Change the player's chips, and return the panel to htmx or redirect to the table."""
    demand_welcome(request.player, mode, session_id(request))
    limits = read_public(get_object_or_404(LiveTable, table=found, mode=mode)).limits(request.player.currency)
    form = ChipsForm(request.POST, limits.chips)
    try:
        if not form.is_valid():
            raise UnknownChip
        if form.cleaned_data["reset"]:
            chips.reset(player=request.player, limits=limits)
        else:
            chips.choose_chips(player=request.player, limits=limits, chips=form.cleaned_data["chips"])
        said = Notice("info", _("The chips in your tray have been changed."))
    except PlayError as error:
        said = Notice("error", _sentence(error))
    if not request.htmx:
        request.session[NOTICE] = vars(said)
        return redirect("table", slug=found.slug, mode=mode)
    choice = chips.choice(request.player, limits)
    return render(
        request, "games/_panel_chips.html", {"table": found, "now_mode": mode, "choice": choice, "said": said}
    )


def _sentence(error: PlayError) -> str:
    if isinstance(error, TooManyChips):
        return ngettext("There is room for %(number)d chip.", "There is room for %(number)d chips.", chips.MOST) % {
            "number": chips.MOST
        }
    if isinstance(error, NoChipChosen):
        return _("Pick at least one chip of this table.")
    return _("This table has no such chip. Choose one from the tray.")
