"""Full lists of one player's rows: account movements, deposits and withdrawals, sessions, notes.

Lists are newest first. The cost of a page does not depend on their length.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Model, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from backoffice.players.facts import account_name, summaries
from backoffice.players.sections import SUSPICIONS
from players.access import StaffRequest, staff_required
from players.models import Player, Session
from players.models.staff import LONGEST_NOTE
from players.search import SEE, SESSIONS, read_uuid
from players.staff import access_log, notes
from wallet.ledger.statements import movements
from wallet.models import Account, Payment, Withdrawal

PAGE: Final = 50
LONGEST_NUMBER: Final = 19  # digits: the columns hold shorter numbers
Row = TypeVar("Row", bound=Model)


class MovementsForm(forms.Form):
    """Choice of the account (its number), and the last movement on the previous page."""

    account = forms.ChoiceField(label="Account", required=False)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, *args: Any, accounts: Sequence[Account]) -> None:
        super().__init__(*args)
        choices = [(str(each.pk), account_name(each)) for each in accounts]
        self.fields["account"] = forms.ChoiceField(label="Account", required=False, choices=choices)


class PaymentsForm(forms.Form):
    """Choice of deposits or withdrawals, and the last one on the previous page (id or number)."""

    which = forms.ChoiceField(label="Show", required=False, choices=[("", "Deposits"), ("withdrawals", "Withdrawals")])
    before = forms.CharField(required=False, max_length=36, widget=forms.HiddenInput)


class NoteForm(forms.Form):
    """New note about a player."""

    text = forms.CharField(
        label="What to note",
        max_length=LONGEST_NOTE,
        widget=forms.Textarea(attrs={"rows": 3, "maxlength": LONGEST_NOTE}),
    )
    restricted = forms.BooleanField(
        label="For compliance alone: a suspicion that the player must not learn of", required=False
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
    return _page(request, player, "staff/player_money.html", context, what="movements of money")


@staff_required(SEE)
@require_safe
def staff_player_payments(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's deposits or withdrawals."""
    player, form = _find(player_id), PaymentsForm(request.GET)
    form.full_clean()
    which, before = form.cleaned_data.get("which", ""), form.cleaned_data.get("before", "")
    rows: Sequence[Payment | Withdrawal]
    if which:
        rows, older = _some(_withdrawals(player, before))
    else:
        rows, older = _some(_deposits(player, before))
    context = {"form": form, "which": which, "rows": rows, "older": older}
    return _page(request, player, "staff/player_payments.html", context, what=which or "deposits")


@staff_required(*SESSIONS)
@require_safe
def staff_player_sessions(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the player's sessions: time, IP address and browser."""
    player = _find(player_id)
    rows, older = _some(_sessions(player, request.GET.get("before", "")))
    return _page(request, player, "staff/player_sessions.html", {"rows": rows, "older": older}, what="sessions")


@staff_required(notes.PERMISSION)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_player_notes(request: StaffRequest, player_id: int) -> HttpResponse:
    """List the notes about a player. On POST, add a note."""
    player, may_restrict = _find(player_id), request.user.has_perm(SUSPICIONS)
    form = NoteForm(request.POST if request.method == "POST" else None, may_restrict=may_restrict)
    if form.is_valid():
        restricted = form.cleaned_data.get("restricted", False)
        notes.add(player=player, text=form.cleaned_data["text"], restricted=restricted, by=request.staff)
        messages.success(request, "The note is kept.")
        return redirect("staff_player_notes", player.pk)
    before = _number(request.GET.get("before", ""))
    rows, older = _some(notes.notes(player, restricted_too=may_restrict, before=before))
    context = {"note_form": form, "notes": rows, "older": older}
    return _page(request, player, "staff/player_notes.html", context, what="notes")


def _find(player_id: int) -> Player:
    return get_object_or_404(Player.objects.select_related("user", "jurisdiction"), pk=player_id)


def _page(request: StaffRequest, player: Player, template: str, context: dict[str, Any], *, what: str) -> HttpResponse:
    """Show a list below the player's summary. The access is recorded first."""
    access_log.note(request, player, what=what)
    head = {"subject": player, "summary": summaries([player.pk], request.user)[player.pk]}
    return render(request, template, head | context)


def _some(found: QuerySet[Row]) -> tuple[list[Row], Any]:
    """Return a page of rows, and the cursor of older ones (None: none)."""
    rows = list(found[: PAGE + 1])
    return rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None


def _sessions(player: Player, before: str) -> QuerySet[Session]:
    found = Session.objects.filter(user=player.user_id).order_by("-began_at", "-id")
    session_id = read_uuid(before)
    mark = found.filter(pk=session_id).first() if session_id else None
    return found.filter(_before("began_at", mark.began_at, mark.pk)) if mark else found


def _deposits(player: Player, before: str) -> QuerySet[Payment]:
    found = Payment.objects.filter(player=player).order_by("-begun_at", "-id")
    payment_id = read_uuid(before)
    mark = found.filter(pk=payment_id).first() if payment_id else None
    return found.filter(_before("begun_at", mark.begun_at, mark.pk)) if mark else found


def _withdrawals(player: Player, before: str) -> QuerySet[Withdrawal]:
    found = Withdrawal.objects.filter(player=player).select_related("account").order_by("-id")
    number = _number(before)
    return found.filter(pk__lt=number) if number else found


def _number(typed: str) -> int | None:
    return int(typed) if typed.isascii() and typed.isdecimal() and len(typed) < LONGEST_NUMBER else None


def _before(field: str, at: datetime, pk: UUID) -> Q:
    """Return the condition for older rows, in the order of the index."""
    return Q(**{f"{field}__lte": at}) & ~Q(**{field: at, "pk__gte": pk})
