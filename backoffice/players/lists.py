"""Full lists of one player's rows: account movements, deposits and withdrawals, sessions, notes.

Lists are newest first. The cost of a page does not depend on their length.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.lists.paging import NEWEST_FIRST, PAGE, Order, Page
from backoffice.players.facts import account_name, summaries
from backoffice.players.sections import SUSPICIONS
from players import staff
from players.access import StaffRequest, staff_required
from players.models import Player, Session
from players.models.staff import LONGEST_NOTE
from players.search import SEE, SESSIONS
from players.staff import access_log
from wallet.ledger.statements import movements
from wallet.models import Account, Payment, Withdrawal


class MovementsForm(forms.Form):
    """Choice of the account (its number), and the last movement on the previous page."""

    account = forms.ChoiceField(label="Account", required=False)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, *args: Any, accounts: Sequence[Account]) -> None:
        super().__init__(*args)
        choices = [(str(each.pk), account_name(each)) for each in accounts]
        self.fields["account"] = forms.ChoiceField(label="Account", required=False, choices=choices)


class PaymentsForm(forms.Form):
    """Choice of deposits or withdrawals."""

    which = forms.ChoiceField(label="Show", required=False, choices=[("", "Deposits"), ("withdrawals", "Withdrawals")])


class NoteForm(forms.Form):
    """New note about a player."""

    text = forms.CharField(
        label="Note",
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": LONGEST_NOTE}),
    )
    restricted = forms.BooleanField(
        label="Compliance only (a suspicion that must not be disclosed to the player)", required=False
    )

    def __init__(self, *args: Any, may_restrict: bool) -> None:
        super().__init__(*args)
        if not may_restrict:
            del self.fields["restricted"]


@staff_required(SEE)
@require_safe
def staff_player_money(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the movements of one of the player's accounts, with the balance after each."""
    player = _find(player_id)
    accounts = list(Account.objects.filter(owner=player, balance__isnull=False).order_by("-mode", "kind", "-pk"))
    form = MovementsForm(request.GET, accounts=accounts)
    form.full_clean()
    asked = form.cleaned_data
    chosen = next((each for each in accounts if str(each.pk) == asked.get("account")), None) or next(
        iter(accounts), None
    )
    page = movements(chosen.pk, before=asked.get("before"), most=PAGE) if chosen else None
    context = {"form": form, "account": chosen, "page": page, "older": page.older if page else None}
    return _page(request, player, "staff/player_money.html", context, what="transactions")


@staff_required(SEE)
@require_safe
def staff_player_payments(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's deposits or withdrawals."""
    player, form = _find(player_id), PaymentsForm(request.GET)
    form.full_clean()
    which = form.cleaned_data.get("which", "")
    page: Page[Payment] | Page[Withdrawal]
    if which:
        page = NEWEST_FIRST.page(Withdrawal.objects.filter(player=player).select_related("account"), request.GET)
    else:
        page = Order(("begun_at", "id")).page(Payment.objects.filter(player=player), request.GET)
    context = {"form": form, "which": which, "rows": page.rows, "page": page}
    return _page(request, player, "staff/player_payments.html", context, what=which or "deposits")


@staff_required(*SESSIONS)
@require_safe
def staff_player_sessions(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's sessions: time, IP address and browser."""
    player = _find(player_id)
    page = Order(("began_at", "id")).page(Session.objects.filter(user=player.user_id), request.GET)
    return _page(request, player, "staff/player_sessions.html", {"rows": page.rows, "page": page}, what="sessions")


@staff_required(staff.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_notes(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the notes about a player. On POST, add a note."""
    player, may_restrict = _find(player_id), request.user.has_perm(SUSPICIONS)
    form = NoteForm(request.POST if request.method == "POST" else None, may_restrict=may_restrict)
    if form.is_valid():
        restricted = form.cleaned_data.get("restricted", False)
        staff.add(player=player, text=form.cleaned_data["text"], restricted=restricted, by=request.staff)
        messages.success(request, "Note saved.")
        return redirect("staff_player_notes", player.pk)
    page = NEWEST_FIRST.page(staff.notes(player, restricted_too=may_restrict), request.GET)
    context = {"note_form": form, "notes": page.rows, "page": page}
    return _page(request, player, "staff/player_notes.html", context, what="notes")


def _find(player_id: int) -> Player:
    return get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)


def _page(request: StaffRequest, player: Player, template: str, context: dict[str, Any], *, what: str) -> HttpResponse:
    """Show a list below the player's summary. The access is recorded first."""
    access_log.note(request, player, what=what)
    head = {"subject": player, "summary": summaries([player.pk], request.user)[player.pk]}
    return render(request, template, head | context)
