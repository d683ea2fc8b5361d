"""Forms to request a table or another version of a table.

Amounts are entered in whole units of their currency, times in seconds, moments in UTC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.conf import settings

from games.change_requests.differences import MONEY, PACE, country
from games.change_requests.requests import LONGEST_ADDRESS, LONGEST_NAME
from games.engine.chemin.rules import FEWEST_SEATS, MOST_SEATS
from games.models import Shape
from games.tables.chemin_rules import LONGEST_AWAY, MOST_MISSED, CheminClock
from games.tables.clock import LONGEST, SHORTEST, Clock
from players.models import Jurisdiction
from wallet.cashier import MoneyField, MoneyForm
from wallet.models import Currency
from wallet.money import MoneyError, format_figure, parse_money

SECOND: Final = 1000  # milliseconds
ANY_LANGUAGE: Final = ("", "any language")
MOST_CHIPS: Final = 600  # characters in a list of chips


class ChipsField(forms.CharField):
    """List of amounts in ``currency``, separated by semicolons.

    The cleaned value is a sorted list of minor units.
    """

    currency: str = ""

    def __init__(self, *, label: str, help_text: str, required: bool = True) -> None:
        super().__init__(label=label, help_text=help_text, required=required, max_length=MOST_CHIPS)
        self.widget.attrs["autocomplete"] = "off"

    def clean(self, value: Any) -> list[int]:
        """Parse the amounts."""
        text: str = super().clean(value)
        parts = [part for part in text.split(";") if part.strip()]
        try:
            return sorted({parse_money(part, self.currency, "en") for part in parts})
        except MoneyError as error:
            raise forms.ValidationError(f"{error} Separate amounts with semicolons.", code="amount") from error


class NamingForm(forms.Form):
    """Name, address and chat language of a new table."""

    name = forms.CharField(max_length=LONGEST_NAME, label="Name", help_text="Shown to players, in every language.")
    slug = forms.CharField(
        max_length=LONGEST_ADDRESS,
        required=False,
        label="URL name",
        help_text="The part of the URL that names the table. Leave empty to derive it from the name. "
        "It cannot be changed later.",
    )
    chat_language = forms.ChoiceField(
        required=False,
        label="Chat language",
        choices=[ANY_LANGUAGE, *settings.LANGUAGES],
        help_text="Language of the table chat. It can be changed at any time.",
    )


class TermsForm(forms.Form):
    """Players that a table serves, when the version goes live, and the reason."""

    jurisdictions = forms.MultipleChoiceField(
        label="Jurisdictions",
        choices=lambda: [(each, country(each)) for each in jurisdictions_of_the_house()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one jurisdiction."},
    )
    modes = forms.MultipleChoiceField(
        label="Money",
        choices=MONEY,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose real money, free money or both."},
    )
    currencies = forms.MultipleChoiceField(
        label="Currencies",
        choices=[(each, each) for each in Currency.values],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one currency."},
    )
    goes_live_at = forms.DateTimeField(
        required=False,
        label="Goes live (UTC)",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(
        max_length=300, label="Reason", help_text="Shown to the approver and recorded in the audit log."
    )

    def __init__(self, *args: Any, shape: Shape, is_new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if shape is Shape.CHEMIN:
            del self.fields["currencies"]
        self.fields["goes_live_at"].help_text = (
            "UTC: one hour behind Stockholm in winter, two hours in summer. "
            + (
                "The table opens at this time. Leave empty to create it on approval and keep it closed."
                if is_new
                else ""
            )
            + ("" if is_new else "Leave empty to go live on approval.")
        )

    def clean_goes_live_at(self) -> datetime | None:
        """Read the picked moment as UTC, whatever the server's time zone."""
        moment: datetime | None = self.cleaned_data["goes_live_at"]
        return moment and moment.replace(tzinfo=UTC)


class CurrencyForm(MoneyForm):
    """Chips and steps in one currency, and the liability of a shared table."""

    step = MoneyField(label="Step", help_text="All stakes and chips are multiples of this amount.")
    chips = ChipsField(label="Chips", help_text="Separated by semicolons: 10; 50; 1,000")
    tray = ChipsField(
        label="Chips in the tray",
        help_text="Default chips for players. Leave empty for all chips.",
        required=False,
    )
    liability = MoneyField(label="Maximum house loss per round", help_text="For all players in the round together.")

    def __init__(self, *args: Any, shape: Shape, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, ChipsField):
                field.currency = self.currency
        if shape is not Shape.SHARED:
            del self.fields["liability"]


class RangeForm(MoneyForm):
    """Minimum and maximum of one bet."""

    minimum = MoneyField(label="Minimum")
    maximum = MoneyField(label="Maximum")


class CheminForm(MoneyForm):
    """Seats and banks of a Chemin de Fer table, in its one currency."""

    tender = forms.ChoiceField(label="Currency", choices=[(each, each) for each in Currency.values])
    places = forms.IntegerField(label="Seats", min_value=FEWEST_SEATS, max_value=MOST_SEATS)
    house_players = forms.IntegerField(
        label="House players",
        min_value=0,
        max_value=MOST_SEATS - 1,
        help_text="Not allowed at real-money tables.",
    )
    minimum = MoneyField(label="Smallest bank")
    maximum = MoneyField(label="Largest bank")


class PaceForm(forms.Form):
    """Durations of the phases at a table with a clock, in seconds."""

    def __init__(self, *args: Any, kind: type[Clock] | type[CheminClock], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kind = kind
        for name in (each.name for each in fields(kind)):
            self.fields[name] = _missed() if name == "missed" else _seconds(name)

    def milliseconds(self) -> dict[str, int]:
        """Return the durations in milliseconds, as clocks take them."""
        given: Mapping[str, Any] = self.cleaned_data
        return {name: value if name == "missed" else int(value * SECOND) for name, value in given.items()}


def jurisdictions_of_the_house() -> Sequence[str]:
    """Return the codes of all jurisdictions, in order."""
    return list(Jurisdiction.objects.order_by("pk").values_list("pk", flat=True))


def written_pace(clock: Mapping[str, int]) -> dict[str, Any]:
    """Return a pace formatted for the form."""
    return {name: value if name == "missed" else Decimal(value) / SECOND for name, value in clock.items()}


def written(minor: int) -> str:
    """Return an amount formatted for the forms."""
    return format_figure(minor, "en")


def written_chips(chips: Sequence[int]) -> str:
    """Return chips formatted for the forms."""
    return "; ".join(map(written, chips))


def _missed() -> forms.IntegerField:
    return forms.IntegerField(label="Missed turns until a player is marked as away", min_value=1, max_value=MOST_MISSED)


def _seconds(name: str) -> forms.DecimalField:
    longest = LONGEST_AWAY if name == "removal" else LONGEST
    return forms.DecimalField(
        label=f"{PACE[name]} (seconds)",
        min_value=Decimal(SHORTEST) / SECOND,
        max_value=Decimal(longest) / SECOND,
        decimal_places=3,
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )
