"""Forms of the limits page: the three periods of one kind at a time. An empty field means no limit."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from players.models import LimitKind, Period
from wallet.cashier.forms import STALE, MoneyField, MoneyForm

HOUR = 3600  # seconds
PERIOD_LABELS = {
    Period.DAY: _("Per day"),
    Period.WEEK: _("Per week"),
    Period.MONTH: _("Per month"),
}
MOST_HOURS = {Period.DAY: 24, Period.WEEK: 7 * 24, Period.MONTH: 31 * 24}


class HoursField(forms.IntegerField):
    """A number of whole hours. The cleaned value is in seconds."""

    def __init__(self, *, most: int, **kwargs: Any) -> None:
        attributes = {"inputmode": "numeric", "autocomplete": "off", "maxlength": 3}
        super().__init__(widget=forms.TextInput(attrs=attributes), **kwargs)
        self.most = most

    def prepare_value(self, value: Any) -> Any:
        """Show seconds as hours. Typed text stays as it is."""
        return value // HOUR if isinstance(value, int) else value

    def clean(self, value: Any) -> int | None:
        """Parse the hours."""
        text = (value or "").strip()
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and 1 <= int(text) <= self.most):
            message = _("Enter whole hours, from 1 to %(most)s.")
            raise forms.ValidationError(message, code="hours", params={"most": self.most})
        return int(text) * HOUR


class LimitsForm(MoneyForm):
    """The limits of one kind."""

    kind = forms.ChoiceField(choices=LimitKind.choices, widget=forms.HiddenInput, error_messages=STALE)

    def __init__(
        self, *args: Any, kind: LimitKind, currency: str, holding: Mapping[Period, int], **kwargs: Any
    ) -> None:
        initial = {"kind": kind.value} | {period.value: amount for period, amount in holding.items()}
        super().__init__(*args, currency=currency, initial=initial, prefix=kind.value, auto_id="id_%s", **kwargs)
        self.holding = holding
        for period in Period:
            self.fields[period.value] = self._field(kind, period)

    def _field(self, kind: LimitKind, period: Period) -> forms.Field:
        if kind is LimitKind.TIME:
            return HoursField(most=MOST_HOURS[period], label=PERIOD_LABELS[period], required=False)
        field = MoneyField(required=False, label=PERIOD_LABELS[period])
        field.currency = self.currency
        return field

    def changed(self) -> Mapping[Period, int | None]:
        """Return the requested limits that differ from the current ones."""
        asked = {period: self.cleaned_data[period.value] for period in Period}
        return {period: amount for period, amount in asked.items() if amount != self.holding.get(period)}


class WithdrawForm(forms.Form):
    """The pending change to withdraw."""

    kind = forms.ChoiceField(choices=LimitKind.choices, error_messages=STALE)
    period = forms.ChoiceField(choices=Period.choices, error_messages=STALE)
