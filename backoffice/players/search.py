"""Player search: one field for anything that staff know about a player, and the player picker.

Every finder that the reader's role may use gets the text. Each finder that understands it returns
players, with the value that matched. The picker asks which player is meant when several match.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe
from stdnum import iban
from stdnum.exceptions import ValidationError

from backoffice.lists.players import Players
from backoffice.players.facts import Summary, may, summaries
from backoffice.players.limits import SET
from games.history import search as of_play
from players import search as of_people
from players.access import StaffRequest, staff_required
from players.models import Ground, User
from players.search import IDENTITY, SEE, Finder, Hit, by_trait, read_uuid, select
from players.staff import access_log
from wallet.models import Payment, Withdrawal
from wallet.money import format_money

PAYERS: Final = (IDENTITY, "wallet.approve_withdrawal", "wallet.see_withdrawals")
NUMBER: Final = re.compile(r"withdrawal[:\s]\s*([0-9]{1,18})", re.ASCII | re.IGNORECASE)

BY_ENDING: Final = """
SELECT DISTINCT player_id FROM wallet_payout_account WHERE last_four = %(ending)s AND player_id > %(after)s
ORDER BY player_id LIMIT %(limit)s
"""
BY_AUTHORISATION: Final = """
SELECT DISTINCT player_id FROM wallet_payment WHERE authorisation = %(number)s AND authorisation <> ''
AND player_id > %(after)s ORDER BY player_id LIMIT %(limit)s
"""


def _payout_account(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    try:
        return by_trait(Ground.PAYOUT, [iban.validate(typed)], after, limit)
    except ValidationError:
        pass
    ending = re.fullmatch(r"(?:…|\.\.\.|\*)?\s*([A-Z0-9]{4})", typed.upper(), re.ASCII)
    if not ending or not re.search(r"\d", ending[1]):
        return None
    asked = {"ending": ending[1], "after": after, "limit": limit}
    return [Hit(number, f"ends in {ending[1]}") for (number,) in select(BY_ENDING, asked)]


def _payment(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    payment_id = read_uuid(typed, "payment")
    if payment_id is None:
        return None
    known = Payment.objects.filter(pk=payment_id, player__gt=after)
    return [
        Hit(each.player_id, f"{format_money(each.amount, each.currency, 'en')}, {each.begun_at:%Y-%m-%d}")
        for each in known
    ]


def _authorisation(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    if not 4 <= len(typed) <= 255 or not re.search(r"\d", typed) or "@" in typed or " " in typed:
        return None
    return [Hit(*row) for row in select(BY_AUTHORISATION, {"number": typed, "after": after, "limit": limit})]


def _withdrawal(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    reference, number = read_uuid(typed, "withdrawal"), NUMBER.fullmatch(typed)
    if reference is None and number is None:
        return None
    found = Withdrawal.objects.filter(reference=reference) if reference else Withdrawal.objects.filter(pk=number[1])  # type: ignore[index]  # one of the two is there
    return [
        Hit(each.player_id, f"{each.pk}: {format_money(each.amount, each.currency, 'en')}, {each.at:%Y-%m-%d}")
        for each in found.filter(player__gt=after)
    ]


PAYMENT_FINDERS: Final = (
    Finder("account", "bank account", PAYERS, _payout_account),
    Finder("payment", "deposit", (SEE,), _payment),
    Finder("authorisation", "deposit authorisation number", (SEE,), _authorisation),
    Finder("withdrawal", "withdrawal", (SEE,), _withdrawal),
)


FINDERS: Final = (*of_people.FINDERS, *PAYMENT_FINDERS, *of_play.FINDERS)
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
    """Search players, and redirect to the profile if only one matches. Without a search, list all."""
    usable = [each.label for each in FINDERS if may(request.user, each.permissions)]
    if "who" not in request.GET:
        return Players(request).answer("staff/players.html", {"form": FindForm(), "usable": usable})
    form = FindForm(request.GET)
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
