"""Staff pages of player protection: exclusions, and markers of harm.

Money of an excluded player that is in a game's purse returns to the cash account at once.

It combines rounds, payments and players.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.protection_views import give_back
from audit import approvals
from audit.reports.kinds import Column, Form
from backoffice.lists import cells
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import StaffList
from backoffice.players.facts import deposits_by_day, facts
from backoffice.players.search import WhoForm, find_players
from players.access import StaffRequest, staff_required
from players.models import (
    Contact,
    ContactWay,
    Exclusion,
    Flag,
    FlagOutcome,
    LimitChange,
    LimitKind,
    Marker,
    Period,
    Player,
    User,
)
from players.protection import exclusions, harm_markers
from players.staff import VISIBLE_ONCE_DONE, VISIBLE_TO_PLAYER, access_log
from wallet.limits import what, written
from wallet.models import Payment
from wallet.money import format_money

LONGEST = 3650  # days
LONGEST_ID = 19  # digits: the column holds shorter numbers


class ExclusionForm(forms.Form):
    """Player, length and reason of an exclusion."""

    player = forms.ModelChoiceField(
        Player.objects.all(),
        widget=forms.HiddenInput,
        error_messages={"required": "Select a player first.", "invalid_choice": "Player not found."},
    )
    days = forms.IntegerField(
        label="Days",
        required=False,
        min_value=1,
        max_value=LONGEST,
        help_text="Leave empty for an exclusion until further notice.",
    )
    reason = forms.CharField(label="Reason", max_length=500, help_text=VISIBLE_TO_PLAYER)


class LiftForm(forms.Form):
    """Reason for lifting an exclusion."""

    reason = forms.CharField(max_length=500)


class InForce(StaffList):
    """Exclusions in force."""

    model = Exclusion
    name = "Exclusions in force"
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
    empty = "No exclusions in force."

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
        return cells.moment(exclusion.until, "permanent")

    def show_lift(self, exclusion: Exclusion) -> str:
        """Return the form that requests the lifting, if the exclusion may be lifted."""
        if not exclusions.may_be_lifted(exclusion):
            return "cannot be lifted"
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
        messages.success(request, f"{player} is excluded. A round in progress is completed; no new rounds can start.")
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
        messages.error(request, "Enter a reason. It is recorded in the audit log.")
        return redirect("staff_exclusions")
    try:
        exclusions.ask(exclusion=exclusion, reason=form.cleaned_data["reason"], by=request.staff)
    except exclusions.EndsAtItsTime:
        messages.error(request, "This exclusion cannot be ended early.")
    except approvals.AskedTwice as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Requested. A second person must approve it under Approvals.")
    return redirect("staff_exclusions")


SEE: Final = "players.see_flags"
ROWS: Final = 100  # shown for each sighting; all are stored

WORDS: Final = {
    "games_round": "Round",
    "wallet_payment": "Deposit",
    "wallet_withdrawal": "Withdrawal cancelled",
    "players_limitchange": "Limit requested",
}


class MarkersForm(ListForm):
    """Filter of flags."""

    marker = forms.ChoiceField(label="Marker", required=False, choices=[("", "All markers"), *Marker.choices])
    state = forms.ChoiceField(label="State", required=False, choices=[("", "Open"), ("closed", "Closed")])


class Markers(StaffList):
    """Flags of harmful gambling, of all players or of one."""

    model = Flag
    name = "Markers of harm"
    players = ("player_id",)
    form_class = MarkersForm
    columns = (
        Column("marker", "Marker"),
        Column("player", "Player"),
        Column("finding", "Finding"),
        Column("raised_at", "Raised", Form.TIME),
        Column("contact", "Contact"),
    )
    links = {"marker": ("staff_marker", "flag_id", "pk")}
    empty = "No open markers."
    unmatched = "No markers match this filter."

    def found(self) -> QuerySet[Flag]:
        """Return the flags that are open or closed, of any marker or of one."""
        marker = self.asked.get("marker")
        is_open = self.asked.get("state") != "closed"
        return harm_markers.flags(player=self.of, marker=Marker(marker) if marker else None, is_open=is_open)

    def of_player(self, flag: Flag) -> str:
        """Return the player and the jurisdiction."""
        return f"{flag.player}, {flag.player.jurisdiction_id}"

    def of_finding(self, flag: Flag) -> str:
        """Return the latest finding."""
        return str(flag.sightings.all()[0].message)

    def show_finding(self, flag: Flag) -> str:
        """Return the latest finding, marked if it is more severe than the first."""
        more = cells.badge("More severe", "void") if len(flag.sightings.all()) > 1 else ""
        return cells.joined(self.of_finding(flag), more)

    def of_contact(self, flag: Flag) -> str:
        """Return how the flag was closed, or the last contact ("": none)."""
        contact = next(iter(flag.contacts.all()), None)
        if flag.closed_at or contact is None:
            return str(flag.get_outcome_display()) if flag.closed_at else ""
        review = f", follow-up on {contact.next_review}" if contact.next_review else ""
        return f"{contact.get_way_display()}{review}"

    def show_contact(self, flag: Flag) -> str:
        """Return the same, with a badge for a flag without contact."""
        return self.of_contact(flag) or cells.badge("None yet", "brass")


class ContactForm(forms.Form):
    """Contact with the player."""

    made_at = forms.DateTimeField(
        label="When (UTC)", widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
    )
    way = forms.ChoiceField(label="Channel", choices=[("", "Choose"), *ContactWay.choices])
    said = forms.CharField(
        label="Notes on the contact, or why none was needed",
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=VISIBLE_TO_PLAYER,
    )
    next_review = forms.DateField(
        label="Follow-up on (optional)", required=False, widget=forms.DateInput(attrs={"type": "date"})
    )


class CloseForm(forms.Form):
    """Conclusion of a flag."""

    conclusion = forms.ChoiceField(label="Outcome", choices=[("", "Choose"), *FlagOutcome.choices])
    note = forms.CharField(
        label="Note (optional)",
        required=False,
        max_length=1000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=VISIBLE_TO_PLAYER,
    )


@dataclass(frozen=True)
class ShownRow:
    """Row behind a flag: name, time, amount and link ("" if the reader may not follow it)."""

    name: str
    at: datetime | None
    amount: str
    url: str


@staff_required(SEE)
@access_log.listed("markers")
@require_safe
def staff_markers(request: StaffRequest) -> HttpResponse:
    """List flags."""
    return Markers(request).answer("staff/markers.html")


@staff_required(SEE)
@require_safe
def staff_marker(request: StaffRequest, flag_id: int) -> HttpResponse:
    """Show one flag."""
    return _flag_page(request, _find(flag_id))


@staff_required(SEE)
@require_POST
def staff_marker_contact(request: StaffRequest, flag_id: int) -> HttpResponse:
    """Record a contact with the player."""
    flag, form = _find(flag_id), ContactForm(request.POST)
    if not form.is_valid():
        return _flag_page(request, flag, contact_form=form)
    said = form.cleaned_data
    try:
        harm_markers.record_contact(
            flag_id=flag.pk,
            made_at=said["made_at"],
            way=ContactWay(said["way"]),
            said=said["said"],
            next_review=said["next_review"],
            by=request.staff,
        )
    except harm_markers.FlagError as error:
        form.add_error(None, str(error))
        return _flag_page(request, flag, contact_form=form)
    messages.success(request, "Contact recorded.")
    return redirect("staff_marker", flag.pk)


@staff_required(SEE)
@require_POST
def staff_marker_close(request: StaffRequest, flag_id: int) -> HttpResponse:
    """Close a flag, or show why it cannot be closed."""
    flag, form = _find(flag_id), CloseForm(request.POST)
    if not form.is_valid():
        return _flag_page(request, flag, close_form=form)
    outcome = FlagOutcome(form.cleaned_data["conclusion"])
    try:
        harm_markers.close(flag_id=flag.pk, outcome=outcome, note=form.cleaned_data["note"], by=request.staff)
    except harm_markers.FlagError as error:
        form.add_error(None, str(error))
        return _flag_page(request, flag, close_form=form)
    messages.success(request, "Marker closed. Later play can raise a new marker.")
    return redirect("staff_marker", flag.pk)


def _find(flag_id: int) -> Flag:
    people = ("player__user", "player__jurisdiction", "closed_by")
    return get_object_or_404(Flag.objects.select_related(*people), pk=flag_id)


def _flag_page(
    request: StaffRequest,
    flag: Flag,
    *,
    contact_form: ContactForm | None = None,
    close_form: CloseForm | None = None,
) -> HttpResponse:
    access_log.note(request, flag.player, what="marker, facts, contacts")
    sightings = [
        (seen, list(_rows(seen.rows[-ROWS:], flag.player, request.user)), max(0, len(seen.rows) - ROWS))
        for seen in flag.sightings.order_by("-id")
    ]
    made_at = datetime.now(UTC).replace(second=0, microsecond=0)
    context = {
        "flag": flag,
        "subject": flag.player,  # "player" would be the player whose balance the header shows
        "facts": facts(flag.player),
        "deposits": deposits_by_day(flag.player),
        "sightings": sightings,
        "contacts": Contact.objects.filter(flag=flag).select_related("staff").order_by("-id"),
        "contact_form": contact_form or ContactForm(initial={"made_at": made_at}),
        "close_form": close_form or CloseForm(),
    }
    return render(request, "staff/marker.html", context)


def _rows(rows: list[Mapping[str, Any]], player: Player, user: User) -> Iterator[ShownRow]:
    """Yield the rows for the page, newest first."""
    ids = {table: [row["id"] for row in rows if row["table"] == table] for table in WORDS}
    changes = LimitChange.objects.in_bulk(ids["players_limitchange"])
    payments = {str(payment.pk): payment for payment in Payment.objects.filter(pk__in=ids["wallet_payment"])}
    for row in reversed(rows):
        amount = "" if row["amount"] is None else format_money(row["amount"], player.currency, "en")
        name, url = WORDS[row["table"]], ""
        if row["table"] == "games_round":
            url = f"{reverse('staff_rounds')}?round={row['id']}"
        elif row["table"] == "players_limitchange":
            change = changes[row["id"]]
            name = f"{name}: {what(LimitKind(change.kind), Period(change.period))}"
            amount = "none" if change.amount is None else written(player, LimitKind(change.kind), change.amount)
            url = reverse("staff_player_limits", args=[player.pk]) if user.has_perm("players.set_limits") else ""
        elif row["table"] == "wallet_payment":
            name = f"{name}, {payments[row['id']].state}"
        yield ShownRow(name, parse_datetime(row["at"]), amount, url)
