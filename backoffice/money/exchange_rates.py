"""Page of exchange rates: enter those of a day, import a file, and read which are in force.

Rates convert figures of the dashboard and of reports into the reporting currency. They move no money.
"""

from datetime import date
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy, gettext_noop, ngettext
from django.views.decorators.http import require_http_methods

from audit.reports.kinds import Column, Form
from audit.reports.requests import clock
from backoffice.lists.filters import ListForm
from backoffice.lists.staff_list import NO_PLAYERS, StaffList
from players.access import StaffRequest, staff_required
from players.datetime_format import Day
from players.identity.uploads import TOO_MUCH
from wallet import exchange_rates
from wallet.exchange_rates import ENTER, MOST, READERS, Rate
from wallet.models import Currency, ExchangeRate

LONGEST: Final = 20  # characters of a rate
FILE: Final = "file"


class RatesForm(forms.Form):
    """The rates of one day; a currency without a rate is left out."""

    day = Day(gettext_lazy("Day"), required=True)

    def __init__(self, data: Any, *, today: date) -> None:
        super().__init__(data, initial={"day": today}, auto_id="rates_%s")  # the filter has a day too
        self._today = today
        for code in exchange_rates.currencies():
            label = f"1 {settings.REPORTING_CURRENCY} = … {code}"
            self.fields[code] = forms.CharField(label=label, required=False, max_length=LONGEST, strip=True)

    def clean(self) -> dict[str, Any]:
        """Read each rate."""
        given: dict[str, Any] = self.cleaned_data
        if given.get("day") and given["day"] > self._today:
            self.add_error("day", gettext("This date is in the future."))
        for code in exchange_rates.currencies():
            if given.get(code):
                try:
                    given[code] = exchange_rates.read_rate(given[code])
                except ValueError as error:
                    self.add_error(code, str(error))
        if not self.errors and not any(given.get(code) for code in exchange_rates.currencies()):
            self.add_error(None, gettext("Enter at least one rate."))
        return given

    def rates(self) -> list[Rate]:
        """Return the rates of a valid form."""
        given = self.cleaned_data
        return [Rate(code, given["day"], given[code]) for code in exchange_rates.currencies() if given[code]]


class FileForm(forms.Form):
    """A file with rates."""

    file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=forms.FileInput(attrs={"accept": ".csv,text/csv"}),
        error_messages={"required": gettext_lazy("Choose a file."), "empty": gettext_lazy("The file is empty.")},
    )

    def __init__(self, *args: Any, today: date) -> None:
        super().__init__(*args)
        self._today = today

    def clean_file(self) -> list[Rate]:
        """Return the rates of the file, or an error for each line that cannot be read."""
        content = self.cleaned_data[FILE].read(exchange_rates.MOST_BYTES + 1)
        try:
            return exchange_rates.read_file(content, today=self._today)
        except exchange_rates.BadFile as error:
            raise forms.ValidationError(list(error.faults)) from error


class RateFilter(ListForm):
    """Filter of rates by currency and day."""

    currency = forms.ChoiceField(
        label=gettext_lazy("Currency"),
        required=False,
        choices=[("", gettext_lazy("All")), *((code, code) for code in Currency.values)],
    )
    day = Day(gettext_lazy("Day"))


class ExchangeRates(StaffList):
    """All rates that were entered or imported. Of several of one day the newest is in force."""

    model = ExchangeRate
    name = gettext_noop("Exchange rates")
    players = NO_PLAYERS
    form_class = RateFilter
    columns = (
        Column("day", "Day"),
        Column("base", "Reporting currency"),
        Column("currency", "Currency"),
        Column("rate", "Rate"),
        Column("source", "Source"),
        Column("by", "By"),
        Column("at", "Entered", Form.TIME),
    )
    accounts = ("by",)
    sorts = {"day": ("day", "id"), "rate": ("rate", "id")}
    empty = gettext_noop("No exchange rates yet.")
    unmatched = gettext_noop("No exchange rates match this filter.")

    def found(self) -> QuerySet[ExchangeRate]:
        """Return the rates of the filter."""
        asked = {name: value for name, value in self.asked.items() if name in ("currency", "day") and value}
        return ExchangeRate.objects.filter(**asked).select_related("by")

    def of_base(self, rate: ExchangeRate) -> str:
        """Return the code of the reporting currency."""
        return str(rate.base)

    def of_currency(self, rate: ExchangeRate) -> str:
        """Return the code of the currency."""
        return str(rate.currency)

    def of_rate(self, rate: ExchangeRate) -> str:
        """Return the rate without zeros at its end."""
        return written(rate.rate)

    def show_rate(self, rate: ExchangeRate) -> str:
        """Return the rate as the reader writes numbers."""
        return shown(rate.rate)

    def of_source(self, rate: ExchangeRate) -> str:
        """Return where the rate comes from."""
        return gettext("imported") if rate.is_imported else gettext("entered")


def written(rate: Decimal) -> str:
    """Write a rate without zeros at its end."""
    return f"{rate.normalize():f}"


def shown(rate: Decimal) -> str:
    """Return a rate without zeros at its end, as the reader writes numbers."""
    return number_format(written(rate))


@staff_required(*READERS)
@require_http_methods(["GET", "HEAD", "POST"])
def staff_exchange_rates(request: StaffRequest) -> HttpResponse:
    """List the rates. On POST, store those of one day or of a file."""
    may_enter = request.user.has_perm(ENTER)
    if request.method == "POST" and not may_enter:
        raise PermissionDenied
    if TOO_MUCH in request.GET:
        messages.error(request, exchange_rates.TOO_LARGE)
    listing = ExchangeRates(request)
    if listing.is_file:
        return listing.file()
    today = clock().astimezone(ZoneInfo(settings.OPERATOR_TIME_ZONE)).date()
    is_import = request.method == "POST" and "day" not in request.POST
    is_entry = request.method == "POST" and not is_import
    form = RatesForm(request.POST if is_entry else None, today=today)
    file_form = FileForm(*((request.POST, request.FILES) if is_import else ()), today=today)
    asked = file_form if is_import else form
    if asked.is_valid():
        rates = file_form.cleaned_data[FILE] if is_import else form.rates()
        try:
            stored = exchange_rates.store(rates, by=request.staff, is_imported=is_import)
        except exchange_rates.CannotStore as error:
            asked.add_error(None, str(error))
        else:
            done = ngettext("%(count)s rate is stored.", "%(count)s rates are stored.", stored) % {"count": stored}
            messages.success(
                request, done if stored else gettext("Nothing to store: these rates are in force already.")
            )
            return redirect("staff_exchange_rates")
    context = {
        "form": form,
        "file_form": file_form,
        "may_enter": may_enter,
        "base": settings.REPORTING_CURRENCY,
        "codes": exchange_rates.currencies(),
        "most": MOST,
    }
    return listing.answer("staff/exchange_rates.html", context)
