"""Withdrawal pages: request, list and cancel withdrawals."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from players.access import PlayerRequest, player_required
from players.identity.verification import identity_status, latest
from players.models import Player
from players.rates import at_a_human_pace
from wallet import withdrawals
from wallet.cashier import AmountForm
from wallet.ledger import accounts
from wallet.models import Account, AccountKind, Mode, PayoutAccount, Withdrawal, WithdrawalStatus, WithdrawalStep
from wallet.payouts import accounts as payout_accounts
from wallet.payouts.accounts import LONGEST, History, IbanError, histories, read_iban
from wallet.sandbox_bank import payouts as sandbox
from wallet.withdrawals import STATUS, bank_reason, reason_message

NEW = "new"
BOTH = gettext_lazy("To be paid to this IBAN, choose “Another account” above. Otherwise, leave this field empty.")


class WithdrawalForm(AmountForm):
    """A withdrawal: amount, and one of the player's bank accounts or the IBAN of a new one.

    ``known`` maps ids to the player's stored accounts.
    """

    account = forms.ChoiceField(label=gettext_lazy("Bank account"), required=False)
    iban = forms.CharField(
        label=gettext_lazy("IBAN"),
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "maxlength": LONGEST, "spellcheck": "false"}),
    )
    mine = forms.BooleanField(
        label=gettext_lazy("This bank account is in my own name. Withdrawals are paid only to my own account."),
        error_messages={
            "required": gettext_lazy("We pay only to your own account. Confirm that this account is yours.")
        },
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        super().__init__(*args, currency=player.currency, **kwargs)
        self._jurisdiction: str = player.jurisdiction_id
        self.known = {str(known.pk): known for known in PayoutAccount.objects.filter(player=player).order_by("-at")}
        account = self.fields["account"]
        assert isinstance(account, forms.ChoiceField)  # noqa: S101  (declared above)
        past = histories(list(self.known.values()))
        account.choices = [
            *((identifier, _named(known, past[known.pk])) for identifier, known in self.known.items()),
            (NEW, gettext_lazy("Another account")),
        ]
        # Preselect the latest account, but never one that the bank reported as closed or unknown.
        account.initial = next((key for key, known in self.known.items() if not past[known.pk].is_dead), NEW)
        if not self.known:
            del self.fields["account"]

    def clean_iban(self) -> str:
        """Parse the IBAN of a new account.

        An IBAN together with a stored account is ambiguous and an error.
        """
        typed: str = self.cleaned_data["iban"]
        if self.known_account is not None:
            if typed:
                raise forms.ValidationError(BOTH, code="both")
            return ""
        try:
            return read_iban(typed, self._jurisdiction)
        except IbanError as error:
            raise forms.ValidationError(str(error), code="iban") from error

    @property
    def known_account(self) -> PayoutAccount | None:
        """The chosen stored account, None for a new one."""
        return self.known.get(self.cleaned_data.get("account", NEW))


def _named(account: PayoutAccount, past: History) -> str:
    """Return an account's label, with the bank's reason if payouts to it cannot succeed."""
    return f"{account} – {past.why}" if past.is_dead else str(account)


class CancelForm(forms.Form):
    """The withdrawal to cancel."""

    withdrawal = forms.IntegerField(min_value=1, max_value=2**63 - 1)


MOST_SHOWN = 20
TEST_ACCOUNTS = {"paid": sandbox.PAID, "closed": sandbox.CLOSED, "late": sandbox.LATE}


@dataclass(frozen=True)
class Row:
    """A withdrawal as the player sees it."""

    withdrawal: Withdrawal
    status: Promise
    reason: str
    may_cancel: bool


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_withdraw(request: PlayerRequest) -> HttpResponse:
    """Show the form and earlier withdrawals. A valid POST requests one and redirects here.

    Players of an operator are redirected to the cashier, which says where their money is.
    """
    if request.player.uses_operator_wallet:
        return redirect("cashier")
    form = WithdrawalForm(request.POST or None, player=request.player)
    if request.method == "POST" and form.is_valid():
        refused = _ask(request.player, form)
        if not refused:
            messages.success(
                request, _("We have received your withdrawal request. The money is set aside while we review it.")
            )
            return redirect("cashier_withdraw")
        form.add_error("amount", refused)
    return _render(request, form)


@player_required
@require_http_methods(["GET", "HEAD", "POST"])
@at_a_human_pace
def cashier_withdraw_cancel(request: PlayerRequest) -> HttpResponse:
    """Cancel a withdrawal. GET redirects, because the language switch may request this URL."""
    form = CancelForm(request.POST)
    if request.method == "POST" and form.is_valid():
        try:
            withdrawals.cancel(player=request.player, withdrawal_id=form.cleaned_data["withdrawal"])
        except withdrawals.WithdrawalError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("Your withdrawal is cancelled. The money is back in your account."))
    return redirect("cashier_withdraw")


def rows(player: Player) -> list[Row]:
    """Return a player's latest withdrawals, newest first."""
    found = list(Withdrawal.objects.filter(player=player).select_related("account").order_by("-pk")[:MOST_SHOWN])
    reasons = _reasons(found)
    for withdrawal in found:
        withdrawal.player = player
    return [Row(each, STATUS[each.status], reasons.get(each.pk, ""), withdrawals.may_cancel(each)) for each in found]


def _ask(player: Player, form: WithdrawalForm) -> str:
    """Request the withdrawal and return the refusal, or "".

    After a refusal, a new bank account is not stored.
    """
    asked = form.cleaned_data
    try:
        with transaction.atomic():
            account = form.known_account or payout_accounts.keep(player=player, iban=asked["iban"])
            withdrawals.request(player=player, amount=asked["amount"], account=account, key=asked["key"])
    except withdrawals.WithdrawalError as error:
        return str(error)
    return ""


def _reasons(found: list[Withdrawal]) -> Mapping[int, str]:
    steps = WithdrawalStep.objects.filter(
        withdrawal__in=found, after__in=(WithdrawalStatus.REFUSED, WithdrawalStatus.RETURNED)
    )
    return {
        step.withdrawal_id: str(bank_reason(step.reason))
        if step.after == WithdrawalStatus.RETURNED
        else reason_message(step.reason)
        for step in steps
    }


def _render(request: PlayerRequest, form: WithdrawalForm) -> HttpResponse:
    player = request.player
    cash = Account.objects.get(owner=player, kind=AccountKind.CASH, mode=Mode.REAL)
    found = accounts.totals(player.pk)
    context = {
        "form": form,
        "currency": player.currency,
        "available": (cash.balance or 0) - cash.held,
        "pending": found.balances(AccountKind.PENDING).get(Mode.REAL, 0),
        "purse": found.balances(AccountKind.PURSE).get(Mode.REAL, 0),
        "smallest": withdrawals.SMALLEST[player.currency],
        "identity_status": identity_status(latest(player)).value,
        "rows": rows(player),
        "cannot_cancel": not player.jurisdiction.may_cancel_withdrawals,
        "tests": TEST_ACCOUNTS,
    }
    return render(request, "wallet/withdraw.html", context)
