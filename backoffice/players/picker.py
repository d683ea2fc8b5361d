"""Player picker: searches for a player and asks which one when several match."""

from collections.abc import Sequence

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from backoffice.players.limits import SET
from backoffice.players.search import LONGEST, search
from backoffice.players.status import Summary, summaries
from players.access import StaffRequest, staff_required
from players.models import User
from players.staff import access_log


class WhoForm(forms.Form):
    """Search for a player."""

    who = forms.CharField(
        label="Anything known of the player",
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


def whom(form: WhoForm, reader: User) -> Sequence[Summary]:
    """Return the players that match and that the reader may find.

    If none match, add an error to the form.
    """
    if not form.is_valid():
        return ()
    _, hits = search(reader, form.cleaned_data["who"])
    people = sorted({hit.player_id for found in hits.values() for hit in found})
    if not people:
        form.add_error("who", "Nobody was found by this.")
    known = summaries(people, reader)
    return [known[number] for number in people]


@staff_required(SET)
@access_log.listed("whom a search found")
@require_safe
def staff_limits(request: StaffRequest) -> HttpResponse:
    """Redirect to the limits of the player found."""
    form = WhoForm(request.GET or None)
    found = whom(form, request.user)
    if len(found) == 1:
        access_log.note(request, found[0].player, what="which player it is")
        return redirect("staff_player_limits", found[0].player.pk)
    access_log.shown(request, *(one.player for one in found))
    return render(request, "staff/limits_whose.html", {"form": form, "found": found})
