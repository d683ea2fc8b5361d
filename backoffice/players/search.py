"""Player search: one field for anything that staff know about a player, and the player picker.

Every finder that the reader's role may use gets the text. Each finder that understands it returns
players, with the value that matched. The picker asks which player is meant when several match.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from backoffice.players.facts import Summary, may, summaries
from backoffice.players.limits import SET
from games.history import search as of_play
from players import search as of_people
from players.access import StaffRequest, staff_required
from players.models import User
from players.search import SEE, Finder, Hit
from players.staff import access_log
from wallet import player_search as of_money

FINDERS: Final = (*of_people.FINDERS, *of_money.FINDERS, *of_play.FINDERS)
PAGE: Final = 20  # players per finder
LONGEST: Final = 300  # characters: the stored length of browser names


class FindForm(forms.Form):
    """Search for players. ``by`` and ``after`` ask for the next page of one finder."""

    who = forms.CharField(label="Player number, name, e-mail address or other detail", max_length=LONGEST)
    by = forms.ChoiceField(required=False, choices=[("", ""), *((each.name, each.label) for each in FINDERS)])
    after = forms.IntegerField(required=False, min_value=0, max_value=2**63 - 1)


@dataclass(frozen=True)
class Found:
    """Players found by one finder.

    *more* is the last player's number if there are more, else None.
    """

    finder: Finder
    people: Sequence[tuple[Summary, str]]
    more: int | None

    @property
    def says_more(self) -> bool:
        """Whether the matched values say more than the search text."""
        return any(said for _, said in self.people)


@staff_required(SEE)
@access_log.listed("search results")
@require_safe
def staff_players(request: StaffRequest) -> HttpResponse:
    """Search players, and redirect to the profile if only one matches."""
    form = FindForm(request.GET or None)
    found: list[Found] = []
    tried: list[Finder] = []
    if form.is_valid():
        asked = form.cleaned_data
        tried, hits = search(request.user, asked["who"], asked["by"], asked["after"] or 0)
        people = {hit.player_id for each in hits.values() for hit in each}
        if len(people) == 1 and not asked["by"]:
            (number,) = people
            access_log.note(request, number, what="the selected player")
            return redirect("staff_player", number)
        known = summaries(people, request.user)
        found = [_found(finder, hits[finder.name], known) for finder in tried if hits[finder.name]]
    access_log.shown(request, *(one.player for each in found for one, _ in each.people))
    usable = [each.label for each in FINDERS if may(request.user, each.permissions)]
    return render(request, "staff/players.html", {"form": form, "found": found, "tried": tried, "usable": usable})


def search(reader: User, typed: str, by: str = "", after: int = 0) -> tuple[list[Finder], dict[str, Sequence[Hit]]]:
    """Return the finders that understand *typed*, and the hits of each: one page and one more."""
    tried, hits = [], {}
    for finder in FINDERS:
        if by in ("", finder.name) and may(reader, finder.permissions):
            found = finder.find(typed, after, PAGE + 1)
            if found is not None:
                tried.append(finder)
                hits[finder.name] = found
    return tried, hits


def _found(finder: Finder, hits: Sequence[Hit], known: dict[int, Summary]) -> Found:
    shown = [(known[hit.player_id], hit.said) for hit in hits[:PAGE]]
    return Found(finder, shown, hits[PAGE - 1].player_id if len(hits) > PAGE else None)


class WhoForm(forms.Form):
    """Search for a player."""

    who = forms.CharField(
        label="Player number, name, e-mail address or other detail",
        max_length=LONGEST,
        widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
    )


def find_players(form: WhoForm, reader: User) -> Sequence[Summary]:
    """Return the players that match and that the reader may find.

    If none match, add an error to the form.
    """
    if not form.is_valid():
        return ()
    _, hits = search(reader, form.cleaned_data["who"])
    people = sorted({hit.player_id for found in hits.values() for hit in found})
    if not people:
        form.add_error("who", "No players match this search.")
    known = summaries(people, reader)
    return [known[number] for number in people]


@staff_required(SET)
@access_log.listed("search results")
@require_safe
def staff_limits(request: StaffRequest) -> HttpResponse:
    """Redirect to the limits of the player found."""
    form = WhoForm(request.GET or None)
    found = find_players(form, request.user)
    if len(found) == 1:
        access_log.note(request, found[0].player, what="the selected player")
        return redirect("staff_player_limits", found[0].player.pk)
    access_log.shown(request, *(one.player for one in found))
    return render(request, "staff/limits_whose.html", {"form": form, "found": found})
