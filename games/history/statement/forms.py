"""What the page of the statement may be asked."""

from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from games.history.statement.period import Choice, Period, chosen, today_in
from players.date_field import Day
from wallet.models import Mode

CHOICES = (
    (Choice.MONTH, gettext_lazy("This month")),
    (Choice.LAST_MONTH, gettext_lazy("Last month")),
    (Choice.THREE_MONTHS, gettext_lazy("Last 3 months")),
    (Choice.YEAR, gettext_lazy("This year")),
    (Choice.TWELVE_MONTHS, gettext_lazy("Last 12 months")),
)


class PeriodForm(forms.Form):
    """Which period, by its name or by its first and last day, of which money."""

    period = forms.ChoiceField(choices=CHOICES, required=False)
    mode = forms.ChoiceField(choices=[(mode.name.lower(), mode.name) for mode in Mode], required=False)
    since = Day(pgettext_lazy("first day of a period", "From"))
    until = Day(pgettext_lazy("last day of a period", "To"))
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def __init__(self, data: QueryDict, *, zone: ZoneInfo) -> None:
        super().__init__(data)
        self.zone, self.today = zone, today_in(zone)
        self.full_clean()

    def clean(self) -> None:
        """Refuse half a period, and one that ends before it begins."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if not self.errors and bool(since) != bool(until):
            raise forms.ValidationError(_("Choose the first and the last day. This month is shown."))
        if since and until and since > until:
            raise forms.ValidationError(_("The first day comes after the last one. This month is shown."))

    @property
    def fault(self) -> str:
        """One sentence on what could not be read, or nothing."""
        if self.is_valid():
            return ""
        if "__all__" in self.errors:
            return str(self.errors["__all__"][0])
        return _("This period could not be read. This month is shown.")

    @property
    def chosen(self) -> Choice | None:
        """The period's name; None where its days were chosen."""
        if not self.is_valid():
            return Choice.MONTH
        return None if self.cleaned_data["since"] else Choice(self.cleaned_data["period"] or Choice.MONTH)

    @property
    def shown(self) -> Period:
        """The days asked for: this month's, where the form is not valid."""
        if self.chosen:
            return chosen(self.chosen, self.zone, self.today)
        return Period(self.cleaned_data["since"], self.cleaned_data["until"], self.zone)

    @property
    def money(self) -> Mode:
        """Real or free."""
        asked = self.cleaned_data.get("mode")
        return Mode[asked.upper()] if asked else Mode.REAL

    @property
    def mark(self) -> int | None:
        """The journal that the list ends above."""
        return self.cleaned_data.get("before")

    @property
    def query(self) -> str:
        """What is shown, as the end of an address that shows the same days tomorrow."""
        return urlencode({"mode": self.money.name.lower(), "since": self.shown.since, "until": self.shown.until})
