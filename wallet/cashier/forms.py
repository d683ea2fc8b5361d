"""What the cashier's pages may send. Each form carries a key of its own, so that sending it twice pays once."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from wallet.models import Mode
from wallet.money import LONGEST, MoneyError, format_amount, parse_money

STALE = {"required": _("This form was incomplete. Try again."), "invalid": _("This form was incomplete. Try again.")}


class MoneyField(forms.CharField):
    """An amount, typed in the reader's own way of writing numbers; cleaned, it is minor units of ``currency``.

    The form says the currency, mostly through `MoneyForm`. Where *required* is false, an empty field is None.
    Anything that is no amount is refused with a sentence of `parse_money`.
    """

    currency: str = ""

    def __init__(self, *, required: bool = True, **kwargs: Any) -> None:
        attributes = {"inputmode": "decimal", "autocomplete": "off", "maxlength": LONGEST}
        kwargs.setdefault("label", _("Amount"))
        # What is missing, parse_money says with an example; browsers would say it in a language of their own.
        super().__init__(required=False, widget=forms.TextInput(attrs=attributes), **kwargs)
        self.may_be_empty = not required

    def prepare_value(self, value: Any) -> Any:
        """Write minor units the reader's way; what somebody typed stays as it is."""
        return format_amount(value, self.currency, get_language() or "en") if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Read the amount."""
        text = super().clean(value)
        if self.may_be_empty and not text:
            return None
        try:
            return parse_money(text, self.currency, get_language() or "en")
        except MoneyError as error:
            raise forms.ValidationError(str(error), code="amount") from error


class KeyForm(forms.Form):
    """A wish that is granted once, however often it is sent."""

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, error_messages=STALE)


class MoneyForm(forms.Form):
    """A form whose amounts are all in one *currency*."""

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency
        for field in self.fields.values():
            if isinstance(field, MoneyField):
                field.currency = currency


class AmountForm(MoneyForm, KeyForm):
    """An amount to move."""

    amount = MoneyField()


class StatementForm(forms.Form):
    """Which movements to list: of which mode, older than which one."""

    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode])
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
