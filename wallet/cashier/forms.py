"""Forms of the cashier. Each form carries an idempotency key, so that sending it twice pays once."""

from typing import Any
from uuid import uuid4

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from wallet.models import Mode
from wallet.money import LONGEST, MoneyError, format_amount, parse_money

STALE = {"required": _("This form was incomplete. Try again."), "invalid": _("This form was incomplete. Try again.")}


class MoneyField(forms.CharField):
    """An amount in the reader's number notation.

    The cleaned value is in minor units of ``currency``.

    The form sets the currency, usually through `MoneyForm`. If *required* is false, an empty field
    is None. Errors are the sentences of `parse_money`.
    """

    currency: str = ""

    def __init__(self, *, required: bool = True, **kwargs: Any) -> None:
        attributes = {"inputmode": "decimal", "autocomplete": "off", "maxlength": LONGEST}
        kwargs.setdefault("label", _("Amount"))
        # parse_money reports a missing amount with an example. The browser's own message would be
        # in the browser's language.
        super().__init__(required=False, widget=forms.TextInput(attrs=attributes), **kwargs)
        self.may_be_empty = not required

    def prepare_value(self, value: Any) -> Any:
        """Format minor units in the reader's notation. Typed text stays as it is."""
        return format_amount(value, self.currency, get_language() or "en") if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Parse the amount."""
        text = super().clean(value)
        if self.may_be_empty and not text:
            return None
        try:
            return parse_money(text, self.currency, get_language() or "en")
        except MoneyError as error:
            raise forms.ValidationError(str(error), code="amount") from error


class KeyForm(forms.Form):
    """Base of forms whose action is executed once, however often they are sent."""

    key = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4, error_messages=STALE)


class MoneyForm(forms.Form):
    """Base of forms whose amounts are all in one *currency*."""

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.currency = currency
        for field in self.fields.values():
            if isinstance(field, MoneyField):
                field.currency = currency


class AmountForm(MoneyForm, KeyForm):
    """Form with one amount."""

    amount = MoneyField()


class StatementForm(forms.Form):
    """Query of the statement: mode, and the movement before which the page begins."""

    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode])
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)
