"""Search in the header and of players: one field for anything that staff know, and the player picker.

Every finder that the reader's role may use gets the text. Each finder that understands it returns
players, with the value that matched. The picker asks which player is meant when several match.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django import forms
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_safe
from stdnum import iban
from stdnum.exceptions import ValidationError

from backoffice.audit.approvals import READERS as APPROVAL_READERS
from backoffice.audit.approvals import readable_by
from backoffice.lists.players import Players
from backoffice.money.deposits import READERS as DEPOSIT_READERS
from backoffice.money.withdrawals import READERS as WITHDRAWAL_READERS
from backoffice.navigation import functions_of
from backoffice.players.cases import READERS as CASE_READERS
from backoffice.players.cases import kinds_of, title_of
from backoffice.players.facts import Summary, may, summaries
from backoffice.rounds import READERS as ROUND_READERS
from backoffice.tables.versions import READERS as GAME_READERS
from games.history import search as of_play
from games.lobby.selectors import find_round
from games.models import Incident, Table
from games.models.rounds import read_code
from players import search as of_people
from players.access import StaffRequest, staff_required
from players.models import Case, Ground, Staff, User
from players.search import IDENTITY, SEE, Finder, Hit, by_trait, read_uuid, select
from players.staff import ASK, DECIDE, access_log
from wallet.models import Journal, Payment, Withdrawal
from wallet.money import format_money

SET: Final = "players.set_limits"
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
    return [
        Hit(number, (gettext("ends in %(ending)s") % {"ending": ending[1]})) for (number,) in select(BY_ENDING, asked)
    ]


def _payment(typed: str, after: int, limit: int) -> Sequence[Hit] | None:
    payment_id = read_uuid(typed, "payment")
    if payment_id is None:
        return None
    known = Payment.objects.filter(pk=payment_id, player__gt=after)
    return [
        Hit(
            each.player_id,
            f"{format_money(each.amount, each.currency, get_language() or 'en')}, {each.begun_at:%Y-%m-%d}",
        )
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
        Hit(
            each.player_id,
            f"{each.pk}: {format_money(each.amount, each.currency, get_language() or 'en')}, {each.at:%Y-%m-%d}",
        )
        for each in found.filter(player__gt=after)
    ]


PAYMENT_FINDERS: Final = (
    Finder("account", gettext_lazy("bank account"), PAYERS, _payout_account),
    Finder("payment", pgettext_lazy("search", "deposit"), (SEE,), _payment),
    Finder("authorisation", gettext_lazy("deposit authorisation number"), (SEE,), _authorisation),
    Finder("withdrawal", pgettext_lazy("search", "withdrawal"), (SEE,), _withdrawal),
)


FINDERS: Final = (*of_people.FINDERS, *PAYMENT_FINDERS, *of_play.FINDERS)
PAGE: Final = 20  # players per finder
LONGEST: Final = 300  # characters: the stored length of browser names


class FindForm(forms.Form):
    """Search for players. ``by`` and ``after`` ask for the next page of one finder."""

    who = forms.CharField(label=gettext_lazy("Player number, name, e-mail address or other detail"), max_length=LONGEST)
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
        """True if the matched values say more than the search text."""
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
        label=gettext_lazy("Player number, name, e-mail address or other detail"),
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
        form.add_error("who", gettext("No players match this search."))
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


@dataclass(frozen=True)
class Result:
    """A found object: its page, its name, and what tells it from others."""

    address: str
    name: str
    said: str = ""


@dataclass(frozen=True)
class Results:
    """Search results of one kind."""

    title: Promise
    rows: Sequence[Result]


MOST_OF_A_KIND: Final = 8
PREFIXED: Final = re.compile(r"(?:[a-z]{3,12}[:\s#]\s*|#)?([0-9]{1,18})", re.ASCII | re.IGNORECASE)
WORK: Final = "players.work"  # permission of all staff


def _numbered(typed: str, *prefixes: str) -> int:
    """Return the number that was typed, with or without one of *prefixes* before it; 0 if there is none."""
    read = PREFIXED.fullmatch(typed)
    before = typed[: read.start(1)].strip(" :#").lower() if read else ""
    return int(read[1]) if read and before in ("", *prefixes) else 0


def _players_found(reader: User, typed: str) -> tuple[list[Result], set[int]]:
    _tried, hits = search(reader, typed)
    said = {hit.player_id: hit.said for found in reversed(hits.values()) for hit in reversed(found)}
    known = summaries(sorted(said)[:MOST_OF_A_KIND], reader)
    rows = [
        Result(
            reverse("staff_player", args=[number]),
            f"{one.name} ({one.player})" if one.name else str(one.player),
            said[number],
        )
        for number, one in known.items()
    ]
    return rows, set(known)


def _rounds_found(typed: str) -> list[Result]:
    round_id = find_round(typed) if read_code(typed) or read_uuid(typed, "round") else None
    return [Result(reverse("staff_round", args=[round_id]), typed.upper())] if round_id else []


def _deposits_found(typed: str) -> tuple[list[Result], set[int]]:
    which = Q(authorisation=typed) & ~Q(authorisation="")
    if payment_id := read_uuid(typed, "payment"):
        which = Q(pk=payment_id)
    elif not re.search(r"\d", typed) or len(typed) < 4:
        return [], set()
    found = list(Payment.objects.filter(which)[:MOST_OF_A_KIND])
    rows = [
        Result(reverse("staff_deposit", args=[each.pk]), str(each.pk), _sum(each.amount, each.currency, each.begun_at))
        for each in found
    ]
    return rows, {each.player_id for each in found}


def _withdrawals_found(typed: str) -> tuple[list[Result], set[int]]:
    reference, number = read_uuid(typed, "withdrawal"), _numbered(typed, "withdrawal")
    if reference is None and not number:
        return [], set()
    found = list(Withdrawal.objects.filter(reference=reference) if reference else Withdrawal.objects.filter(pk=number))
    rows = [
        Result(reverse("staff_withdrawal", args=[each.pk]), str(each), _sum(each.amount, each.currency, each.at))
        for each in found
    ]
    return rows, {each.player_id for each in found}


def _sum(amount: int, currency: str, at: datetime) -> str:
    return f"{format_money(amount, currency, get_language() or 'en')}, {at:%Y-%m-%d}"


def _journals_found(typed: str) -> list[Result]:
    number = _numbered(typed, "journal")
    found = Journal.objects.filter(pk=number) if number else ()
    return [
        Result(reverse("staff_ledger_journal", args=[each.pk]), f"journal:{each.pk}", f"{each.at:%Y-%m-%d}")
        for each in found
    ]


def _approvals_found(staff: Staff, typed: str) -> list[Result]:
    number = _numbered(typed, "approval", "request")
    found = readable_by(staff).filter(pk=number) if number else ()
    return [
        Result(reverse("staff_approval", args=[each.pk]), f"approval:{each.pk}", f"{each.at:%Y-%m-%d}")
        for each in found
    ]


def _incidents_found(typed: str) -> list[Result]:
    number = _numbered(typed, "incident")
    found = Incident.objects.filter(pk=number).select_related("table") if number else ()
    return [Result(reverse("staff_incident", args=[each.pk]), f"incident:{each.pk}", each.table.name) for each in found]


def _cases_found(reader: User, typed: str) -> tuple[list[Result], set[int]]:
    number = _numbered(typed, "case")
    found = list(Case.objects.filter(pk=number, kind__in=kinds_of(reader)) if number else ())
    rows = [Result(reverse("staff_case", args=[each.pk]), str(each), title_of(each)) for each in found]
    return rows, {each.player_id for each in found}


def _staff_found(typed: str) -> list[Result]:
    number = _numbered(typed, "staff")
    named = Q(name__icontains=typed) | Q(user__email__istartswith=typed)
    found = Staff.objects.filter(Q(pk=number) if number else named).select_related("user").order_by("name", "pk")
    return [
        Result(reverse("staff_person", args=[each.pk]), f"{each.name} ({each})", each.user.email)
        for each in found[:MOST_OF_A_KIND]
    ]


def _tables_found(typed: str) -> list[Result]:
    found = Table.objects.filter(Q(name__icontains=typed) | Q(slug__icontains=typed)).order_by("name")
    return [
        Result(reverse("staff_game_table", args=[each.pk]), each.name, each.slug) for each in found[:MOST_OF_A_KIND]
    ]


def _pages_found(reader: User, typed: str) -> list[Result]:
    pages = [function for _section, functions in functions_of(reader) for function in functions]
    found = [each for each in pages if typed.lower() in str(each.name).lower()]
    return [Result(reverse(each.page), str(each.name), str(each.purpose)) for each in found[:MOST_OF_A_KIND]]


@staff_required(WORK)
@access_log.listed("search results", is_typed=True)
@require_safe
def staff_search(request: StaffRequest) -> HttpResponse:
    """Search everything that the reader may open, by number, code, name, e-mail address or part of a name.

    A fragment for the field in the header if htmx asks, else a page.
    """
    typed = request.GET.get("q", "").strip()[:LONGEST].replace("\0", "")
    found = list(_everything(request, typed)) if len(typed) > 1 or typed.isdecimal() else []
    part = "staff/search.html#found" if request.htmx else "staff/search.html"
    return render(request, part, {"typed": typed, "kinds": [each for each in found if each.rows]})


def _everything(request: StaffRequest, typed: str) -> Iterator[Results]:
    reader = request.user
    if may(reader, (SEE,)):
        rows, players = _players_found(reader, typed)
        access_log.shown(request, *players)
        yield Results(pgettext_lazy("staff search", "Players"), rows)
    if may(reader, ROUND_READERS):
        yield Results(pgettext_lazy("staff search", "Rounds"), _rounds_found(typed))
    if may(reader, DEPOSIT_READERS):
        rows, players = _deposits_found(typed)
        access_log.shown(request, *players)
        yield Results(pgettext_lazy("staff search", "Deposits"), rows)
    if may(reader, WITHDRAWAL_READERS):
        rows, players = _withdrawals_found(typed)
        access_log.shown(request, *players)
        yield Results(pgettext_lazy("staff search", "Withdrawals"), rows)
    if may(reader, ("wallet.view_ledger",)):
        yield Results(pgettext_lazy("staff search", "Journals"), _journals_found(typed))
    if may(reader, APPROVAL_READERS):
        yield Results(pgettext_lazy("staff search", "Approvals"), _approvals_found(request.staff, typed))
    if may(reader, ("games.view_incident",)):
        yield Results(pgettext_lazy("staff search", "Incidents"), _incidents_found(typed))
    if may(reader, CASE_READERS):
        rows, players = _cases_found(reader, typed)
        access_log.shown(request, *players)
        yield Results(gettext_lazy("Cases"), rows)
    if may(reader, (ASK, DECIDE)):
        yield Results(pgettext_lazy("staff search", "Staff"), _staff_found(typed))
    if may(reader, GAME_READERS):
        yield Results(pgettext_lazy("staff search", "Tables"), _tables_found(typed))
    yield Results(pgettext_lazy("staff search", "Pages"), _pages_found(reader, typed))
