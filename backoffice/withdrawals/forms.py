"""What staff may send from the pages of withdrawals. In English, like all of the back office."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms

from backoffice.withdrawals.queue import OVER, WAITING
from wallet.cashier.forms import MoneyField
from wallet.models import Currency, WithdrawalStatus
from wallet.models.withdrawals import OPEN
from wallet.withdrawals.messages import REASONS


class DecisionForm(forms.Form):
    """Staff approve a withdrawal, or refuse it for a reason that the player reads; what they write is on record."""

    action = forms.ChoiceField(choices=[("approve", "Approve"), ("refuse", "Refuse")])
    code = forms.ChoiceField(choices=[(code, code) for code in REASONS], required=False)
    reason = forms.CharField(max_length=300, strip=True)

    def clean(self) -> None:
        """Refusing takes a reason for the player, too."""
        if self.cleaned_data.get("action") == "refuse" and not self.cleaned_data.get("code"):
            self.add_error("code", self.fields["code"].error_messages["required"])


class QueueForm(forms.Form):
    """Which withdrawals staff want to see. The amount is in units of the currency chosen; where none is, of any."""

    STATES = {"": "waiting for a decision", **dict(WithdrawalStatus.choices), "over": "decided, any"}

    number = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label="Number")
    state = forms.ChoiceField(required=False, choices=list(STATES.items()))
    currency = forms.ChoiceField(required=False, choices=[("", "any"), *((code, code) for code in Currency.values)])
    above = MoneyField(required=False, label="More than")
    hours = forms.IntegerField(required=False, min_value=1, max_value=10_000, label="Open for over (hours)")
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        chosen, above = data.get("currency", ""), self.fields["above"]
        assert isinstance(above, MoneyField)  # noqa: S101  (as it stands above)
        above.currency = chosen if chosen in Currency.values else Currency.EUR

    def statuses(self) -> Sequence[str]:
        """Return which statuses are asked for; those that wait for staff where nothing is chosen."""
        state = self.cleaned_data.get("state", "")
        return OVER if state == "over" else (state,) if state else WAITING

    def clean(self) -> None:
        """What is decided is without end, and cannot be gone through for an amount."""
        if set(self.statuses()) <= set(OPEN):
            return
        for name in ("above", "hours"):
            if self.cleaned_data.get(name):
                self.add_error(name, "This finds what is still open. For the others there is the report of payments.")
