"""Pages of the ledger: journals, one journal, one account. Read only."""

from datetime import UTC, datetime

from django import forms
from django.core.validators import RegexValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from audit.reports.requests import clock
from backoffice.ledger import queries
from backoffice.ledger.queries import LAST, Wanted
from players.access import StaffRequest, staff_required
from players.staff import access_log
from wallet.ledger.statements import BANKS, liabilities
from wallet.models import Account, Journal

READ = "wallet.view_ledger"
PICKER = {"type": "datetime-local", "step": "60"}
PLAYER = RegexValidator(r"^(?:player:)?[0-9]{1,18}$", "A player is called by number here, such as 12.")


class MomentField(forms.DateTimeField):
    """Optional moment in UTC, picked to the minute."""

    def __init__(self, label: str) -> None:
        widget = forms.DateTimeInput(attrs=PICKER, format="%Y-%m-%dT%H:%M")
        super().__init__(required=False, label=label, widget=widget)

    def clean(self, value: object) -> datetime | None:
        """Read the picked moment as UTC, whatever the server's time zone."""
        moment: datetime | None = super().clean(value)
        return moment and moment.replace(tzinfo=UTC)


class JournalFilter(forms.Form):
    """Filter of journals, with the cursor from the previous page."""

    journal = forms.CharField(required=False, max_length=40, label="Number or key")
    round = forms.UUIDField(
        required=False,
        label="Code or id of the round",
        error_messages={"invalid": "No finished round has this code, nor can it be an id."},
    )
    player = forms.CharField(required=False, max_length=25, label="Player's number", validators=[PLAYER])
    kind = forms.ChoiceField(required=False, choices=lambda: [("", "any"), *((each, each) for each in queries.kinds())])
    since = MomentField("From (UTC)")
    until = MomentField("Until (UTC)")
    before = forms.CharField(required=False, max_length=600, widget=forms.HiddenInput)

    def wanted(self) -> Wanted:
        """Return the search. Invalid fields are left out."""
        asked = self.cleaned_data
        return Wanted(
            kind=asked.get("kind", ""),
            since=asked.get("since"),
            until=asked.get("until"),
            player=int(asked["player"].removeprefix("player:")) if asked.get("player") else None,
            round_id=asked.get("round"),
        )


class AccountFilter(forms.Form):
    """Filter of one account: entries older than one of them, or the total at a moment."""

    before = forms.IntegerField(required=False, min_value=1, max_value=LAST, widget=forms.HiddenInput)
    at = MomentField("As of (UTC)")


@require_safe
def ledger(request: HttpRequest) -> HttpResponse:
    """Show a page of journals.

    The calling view checks permissions and accepts the code of a round.
    """
    form = JournalFilter(request.GET)
    form.full_clean()
    if typed := form.cleaned_data.get("journal", "").strip():
        if (number := queries.find_journal(typed)) is not None:
            return redirect("staff_ledger_journal", journal_id=number)
        form.add_error("journal", "No journal has this number, nor this key.")
    wanted, before = form.wanted(), form.cleaned_data.get("before", "")
    page = queries.JournalPage() if form.errors else queries.journals(wanted, before=before)
    is_filtered = any(request.GET.get(name) for name in ("journal", "round", "player", "kind", "since", "until"))
    access_log.shown(
        request,
        wanted.player,
        *(entry.account.owner_id for journal in page.journals for entry in journal.entry_set.all()),
    )
    context = {
        "form": form,
        "page": page,
        "is_filtered": is_filtered,
        "player": wanted.player,
        "accounts": queries.accounts_of(wanted.player) if wanted.player is not None else (),
        "liabilities": liabilities() if not is_filtered and not before else (),
        "is_first": not is_filtered and not before,
        "house": queries.house_accounts() if not is_filtered and not before else (),
        "banks": BANKS,
    }
    return render(request, "staff/ledger.html", context)


@staff_required(READ)
@access_log.listed("a journal")
@require_safe
def staff_ledger_journal(request: StaffRequest, journal_id: int) -> HttpResponse:
    """Show one journal: its entries, and what it belongs to."""
    try:
        found = queries.whole(journal_id)
    except Journal.DoesNotExist as error:
        raise Http404 from error
    access_log.shown(request, [entry.account for entry in found.entries], found.payment, found.step)
    return render(request, "staff/ledger_journal.html", {"whole": found, "journal": found.journal, "banks": BANKS})


@staff_required(READ)
@access_log.listed("an account")
@require_safe
def staff_ledger_account(request: StaffRequest, account_id: int) -> HttpResponse:
    """Show one account: its entries with the balance after each, or the total of a house account."""
    account = get_object_or_404(Account, pk=account_id)
    form = AccountFilter(request.GET)
    form.full_clean()
    access_log.shown(request, account)
    context = {"account": account, "form": form, "banks": BANKS}
    if account.balance is None:
        context["house"] = queries.house_account(account, form.cleaned_data.get("at") or clock())
    else:
        context["page"] = queries.entries_of(account, before=form.cleaned_data.get("before"))
    return render(request, "staff/ledger_account.html", context)
