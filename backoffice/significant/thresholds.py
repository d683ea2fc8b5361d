"""Thresholds of significant events: list them, and change one with a reason."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from audit.models import Threshold
from audit.significant import thresholds
from audit.significant.thresholds import Limit, ThresholdError
from players.access import StaffRequest, staff_required
from wallet.cashier.forms import MoneyField
from wallet.models import Currency
from wallet.money import format_money

SEE: Final = ("audit.handle_significant", "audit.change_threshold")
CHANGE: Final = "audit.change_threshold"
NAMES: Final = {
    "deposit": "Deposits",
    "withdrawal": "Withdrawals paid out",
    "wager": "Staked in a round",
    "win": "Won in a round, beyond the stakes",
}


class ThresholdForm(forms.Form):
    """New values of a threshold, with the values that the page showed."""

    what = forms.CharField(max_length=40, widget=forms.HiddenInput)
    currency = forms.ChoiceField(choices=Currency.choices, widget=forms.HiddenInput)
    before = forms.RegexField(r"^[0-9]{1,18} [0-9]{1,18} [0-9]{1,4}$", widget=forms.HiddenInput)
    single = MoneyField(label="One amount from")
    summed = MoneyField(label="Together from")
    days = forms.IntegerField(label="In days", min_value=1, max_value=thresholds.LONGEST)
    reason = forms.CharField(label="Reason", max_length=300)

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("single", "summed"):
            field = self.fields[name]
            assert isinstance(field, MoneyField)  # noqa: S101  (declared above)
            field.currency = currency


@staff_required(*SEE)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_thresholds(request: StaffRequest) -> HttpResponse:
    """List the thresholds. On POST, change one."""
    sent = None
    if request.method == "POST":
        sent = ThresholdForm(request.POST, currency=_currency(request), auto_id="sent_%s")
        if _change(request, sent):
            return redirect("staff_thresholds")
    rows = [(row, _name(row.what), *_written(row), _form(row, sent)) for row in Threshold.objects.order_by("pk")]
    may_change = request.user.has_perm(CHANGE)
    return render(request, "staff/significant_thresholds.html", {"rows": rows, "may_change": may_change})


def _currency(request: StaffRequest) -> str:
    asked = request.POST.get("currency", "")
    return asked if asked in Currency.values else Currency.values[0]


def _change(request: StaffRequest, form: ThresholdForm) -> bool:
    """Change a threshold, and return whether it was changed. Errors are added to the form."""
    if not request.user.has_perm(CHANGE):
        form.add_error(None, "Your role does not change thresholds.")
    elif form.is_valid():
        said = form.cleaned_data
        try:
            thresholds.change(
                what=said["what"],
                currency=said["currency"],
                before=Limit(*map(int, said["before"].split())),
                after=Limit(said["single"], said["summed"], said["days"]),
                reason=said["reason"],
                by=str(request.staff),
            )
        except ThresholdError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "Changed. It counts for what is found from now on.")
            return True
    return False


def _form(row: Threshold, sent: ThresholdForm | None) -> ThresholdForm:
    """Return the form of a row: the submitted one with its errors if it is for this row."""
    if sent and (sent.data.get("what"), sent.data.get("currency")) == (row.what, row.currency):
        return sent
    was = {"what": row.what, "currency": row.currency, "before": f"{row.single} {row.summed} {row.days}"}
    now = {"single": row.single, "summed": row.summed, "days": row.days}
    return ThresholdForm(initial=was | now, currency=row.currency, auto_id=f"{row.what}_{row.currency}_%s")


def _name(what: str) -> str:
    return NAMES.get(what, what.replace("_", " ").capitalize())


def _written(row: Threshold) -> tuple[str, str]:
    return format_money(row.single, row.currency, "en"), format_money(row.summed, row.currency, "en")
