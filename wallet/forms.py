"""What the cashier's page may send. Each form carries a key of its own, so that sending it twice pays once."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from wallet.models import Mode
from wallet.money import LONGEST, MoneyError, parse_money

STALE = {"required": _("This form was incomplete. Try again."), "invalid": _("This form was incomplete. Try again.")}


class TopUpForm(forms.Form):
    """A wish for free money."""

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, error_messages=STALE)


class DepositForm(TopUpForm):
    """An amount, typed in the player's own way of writing numbers; cleaned, it is minor units of *currency*."""

    amount = forms.CharField(
        label=_("Amount"),
        required=False,  # what is missing, parse_money says with an example
        widget=forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off", "maxlength": LONGEST}),
    )

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency

    def clean_amount(self) -> int:
        """Read the amount."""
        try:
            return parse_money(self.cleaned_data["amount"], self.currency, get_language() or "en")
        except MoneyError as error:
            raise forms.ValidationError(str(error)) from error


class StatementForm(forms.Form):
    """Which movements to list: of which mode, older than which one."""

    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode])
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
