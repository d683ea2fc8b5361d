"""All forms of a table request: limits, pace, and the field of each error.

Everything that was typed stays in the forms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import Any, Final

from django import forms
from django.conf import settings
from django.http import QueryDict
from django.utils.text import slugify
from django.utils.translation import get_language, gettext, gettext_lazy

from games.betting.limits import StoredCurrency
from games.change_requests.differences import MONEY, country
from games.change_requests.differences import PACE as PACE_LABELS
from games.change_requests.requests import LONGEST_ADDRESS, LONGEST_NAME, UnusableAddress, UnusableMoment
from games.engine.chemin.rules import FEWEST_SEATS, MOST_SEATS
from games.labels import bet_name
from games.models import Shape, Table, TableVersion
from games.tables.checks import (
    MissingLanguage,
    NobodyEligible,
    ReturnTooLow,
    TableClock,
    TableError,
    TableLimits,
    UnusableClock,
    UnusableLimits,
    everybody,
)
from games.tables.chemin_rules import LONGEST_AWAY, MOST_MISSED, CheminClock, StoredChemin
from games.tables.clock import LONGEST, SHORTEST, Clock, ClockError
from games.tables.default_tables import CHEMIN_PACE, PACE
from games.variants import VARIANTS
from players.models import Jurisdiction
from wallet.cashier import MoneyField, MoneyForm
from wallet.models import Currency, Mode
from wallet.money import MoneyError, format_figure, parse_money

SECOND: Final = 1000  # milliseconds
ANY_LANGUAGE: Final = ("", gettext_lazy("any language"))
MOST_CHIPS: Final = 600  # characters in a list of chips


class ChipsField(forms.CharField):
    """List of amounts in ``currency``, separated by semicolons.

    The cleaned value is a sorted list of minor units.
    """

    currency: str = ""

    def __init__(self, *, label: Any, help_text: Any, required: bool = True) -> None:
        # A text area shows all chips in the column of a currency, where one line would cut them off.
        widget = forms.Textarea(attrs={"autocomplete": "off", "rows": 3})
        super().__init__(label=label, help_text=help_text, required=required, max_length=MOST_CHIPS, widget=widget)

    def clean(self, value: Any) -> list[int]:
        """Parse the amounts."""
        text: str = super().clean(value)
        parts = [part for part in text.split(";") if part.strip()]
        try:
            return sorted({parse_money(part, self.currency, get_language() or "en") for part in parts})
        except MoneyError as error:
            raise forms.ValidationError(
                (gettext("%(error)s Separate amounts with semicolons.") % {"error": error}), code="amount"
            ) from error


class NamingForm(forms.Form):
    """Name, address and chat language of a new table."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Shown to players, in every language."),
    )
    slug = forms.CharField(
        max_length=LONGEST_ADDRESS,
        required=False,
        label=gettext_lazy("URL name"),
        help_text=gettext_lazy(
            "The part of the URL that names the table. Leave empty to derive it from the name. It "
            "cannot be changed later."
        ),
    )
    chat_language = forms.ChoiceField(
        required=False,
        label=gettext_lazy("Chat language"),
        choices=[ANY_LANGUAGE, *settings.LANGUAGES],
        help_text=gettext_lazy("Language of the table chat. It can be changed at any time."),
    )


class TermsForm(forms.Form):
    """Players that a table serves, when the version goes live, and the reason."""

    jurisdictions = forms.MultipleChoiceField(
        label=gettext_lazy("Jurisdictions"),
        choices=lambda: [(each, country(each)) for each in jurisdictions_of_the_house()],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one jurisdiction.")},
    )
    modes = forms.MultipleChoiceField(
        label=gettext_lazy("Money"),
        choices=MONEY,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose real money, free money or both.")},
    )
    currencies = forms.MultipleChoiceField(
        label=gettext_lazy("Currencies"),
        choices=[(each, each) for each in Currency.values],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose at least one currency.")},
    )
    goes_live_at = forms.DateTimeField(
        required=False,
        label=gettext_lazy("Goes live (UTC)"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "60"}, format="%Y-%m-%dT%H:%M"),
    )
    reason = forms.CharField(
        max_length=300,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("Shown to the approver and recorded in the audit log."),
    )

    def __init__(self, *args: Any, shape: Shape, is_new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if shape is Shape.CHEMIN:
            del self.fields["currencies"]
        self.fields["goes_live_at"].help_text = (
            gettext("UTC: one hour behind Stockholm in winter, two hours in summer. ")
            + (
                gettext("The table opens at this time. Leave empty to create it on approval and keep it closed.")
                if is_new
                else ""
            )
            + ("" if is_new else gettext("Leave empty to go live on approval."))
        )

    def clean_goes_live_at(self) -> datetime | None:
        """Read the picked moment as UTC, whatever the server's time zone."""
        moment: datetime | None = self.cleaned_data["goes_live_at"]
        return moment and moment.replace(tzinfo=UTC)


class CurrencyForm(MoneyForm):
    """Chips and steps in one currency, and the liability of a shared table."""

    step = MoneyField(
        label=gettext_lazy("Step"), help_text=gettext_lazy("All stakes and chips are multiples of this amount.")
    )
    chips = ChipsField(label=gettext_lazy("Chips"), help_text=gettext_lazy("Separated by semicolons: 10; 50; 1,000"))
    tray = ChipsField(
        label=gettext_lazy("Chips in the tray"),
        help_text=gettext_lazy("Default chips for players. Leave empty for all chips."),
        required=False,
    )
    liability = MoneyField(
        label=gettext_lazy("Maximum house loss per round"),
        help_text=gettext_lazy("For all players in the round together."),
    )

    def __init__(self, *args: Any, shape: Shape, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, ChipsField):
                field.currency = self.currency
        if shape is not Shape.SHARED:
            del self.fields["liability"]


class RangeForm(MoneyForm):
    """Minimum and maximum of one bet."""

    minimum = MoneyField(label=gettext_lazy("Minimum"))
    maximum = MoneyField(label=gettext_lazy("Maximum"))


class CheminForm(MoneyForm):
    """Seats and banks of a Chemin de Fer table, in its one currency."""

    tender = forms.ChoiceField(label=gettext_lazy("Currency"), choices=[(each, each) for each in Currency.values])
    seat_count = forms.IntegerField(label=gettext_lazy("Seats"), min_value=FEWEST_SEATS, max_value=MOST_SEATS)
    house_players = forms.IntegerField(
        label=gettext_lazy("House players"),
        min_value=0,
        max_value=MOST_SEATS - 1,
        help_text=gettext_lazy("Not allowed at real-money tables."),
    )
    minimum = MoneyField(label=gettext_lazy("Smallest bank"))
    maximum = MoneyField(label=gettext_lazy("Largest bank"))


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
    return format_figure(minor, get_language() or "en")


def written_chips(chips: Sequence[int]) -> str:
    """Return chips formatted for the forms."""
    return "; ".join(map(written, chips))


def _missed() -> forms.IntegerField:
    return forms.IntegerField(
        label=gettext("Missed turns until a player is marked as away"), min_value=1, max_value=MOST_MISSED
    )


def _seconds(name: str) -> forms.DecimalField:
    longest = LONGEST_AWAY if name == "removal" else LONGEST
    return forms.DecimalField(
        label=(gettext("%(pace_labels)s (seconds)") % {"pace_labels": PACE_LABELS[name]}),
        min_value=Decimal(SHORTEST) / SECOND,
        max_value=Decimal(longest) / SECOND,
        decimal_places=3,
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )


CLOCKS: Final[Mapping[Shape, type[Clock] | type[CheminClock]]] = {Shape.SHARED: Clock, Shape.CHEMIN: CheminClock}
PACES: Final[Mapping[Shape, TableClock]] = {Shape.SHARED: PACE, Shape.CHEMIN: CHEMIN_PACE}
SEATS: Final = 5  # seats at a new Chemin de Fer table

Initial = dict[str, Any]


@dataclass(frozen=True)
class Like:
    """Model for a new table: a version of another table, or only a game and a shape."""

    variant: str
    shape: Shape
    version: TableVersion | None


@dataclass(frozen=True)
class OfCurrency:
    """Forms of one currency: its chips, and the range of every bet with the name of the bet."""

    currency: str
    is_taken: bool
    money: CurrencyForm
    ranges: Mapping[str, tuple[str, RangeForm]]  # by code of the bet

    @property
    def forms(self) -> Iterator[forms.Form]:
        """All forms of the currency."""
        yield self.money
        yield from (form for _, form in self.ranges.values())

    @property
    def is_wrong(self) -> bool:
        """True if any form has errors."""
        return any(form.errors for form in self.forms)


@dataclass(frozen=True)
class Amounts:
    """Row of the matrix of limits: what it sets, and its fields in each currency."""

    name: str
    help_text: str
    cells: Sequence[tuple[str, Sequence[forms.BoundField]]]  # currency -> one field, or minimum and maximum


@dataclass(frozen=True)
class Sheet:
    """All forms of a table request. *naming* is None for an existing table."""

    like: Like
    terms: TermsForm
    naming: NamingForm | None
    currencies: Sequence[OfCurrency]
    chemin: CheminForm | None
    pace: PaceForm | None

    @property
    def matrix(self) -> Iterator[Amounts]:
        """The limits as a matrix: a row for each amount of a table and for each bet, a column for each currency."""
        if not self.currencies:
            return
        first = self.currencies[0]
        for field in first.money:
            cells = [(each.currency, [each.money[field.name]]) for each in self.currencies]
            yield Amounts(str(field.label), str(field.help_text), cells)
        for code, (name, _form) in first.ranges.items():
            yield Amounts(name, "", [(each.currency, list(each.ranges[code][1])) for each in self.currencies])

    def is_valid(self) -> bool:
        """Return whether all forms that count are valid.

        Each form is validated, so that each shows its errors.
        """
        wanted = [form for form in (self.naming, self.terms, self.chemin, self.pace) if form]
        taken = chain.from_iterable(each.forms for each in self.currencies if each.is_taken)
        return not [form for form in (*wanted, *taken) if not form.is_valid()]

    def asked(self) -> dict[str, Any]:
        """Return the data of valid forms, as `games.change_requests.requests` takes it.

        Raises UnusableClock.
        """
        terms = self.terms.cleaned_data
        asked = {"limits": self._limits(), "clock": self._clock()}
        return asked | {name: terms[name] for name in ("jurisdictions", "modes", "goes_live_at")} | self._named()

    def refuse(self, error: TableError) -> None:
        """Add an error to the field that it concerns."""
        form, field = self._field_of(error)
        form.add_error(field if field in form.fields else None, getattr(error, "message", str(error)))

    def _named(self) -> dict[str, Any]:
        if self.naming is None:
            return {}
        named = self.naming.cleaned_data
        slug = named["slug"] or slugify(named["name"])[:LONGEST_ADDRESS].strip("-")
        return named | {"slug": slug, "variant": self.like.variant, "shape": self.like.shape}

    def _limits(self) -> TableLimits:
        if self.chemin:
            given = self.chemin.cleaned_data
            entry = StoredChemin(
                seat_count=given["seat_count"],
                minimum=given["minimum"],
                maximum=given["maximum"],
                house_players=given["house_players"],
            )
            return {given["tender"]: entry}
        return {each.currency: _stored(each) for each in self.currencies if each.is_taken}

    def _clock(self) -> TableClock | None:
        if self.pace is None:
            return None
        try:
            return self.pace.kind(**self.pace.milliseconds())
        except ClockError as error:
            raise UnusableClock(str(error)) from error

    def _field_of(self, error: TableError) -> tuple[forms.Form, str]:
        if isinstance(error, UnusableLimits | ReturnTooLow):
            return self._field_of_limits(error)
        if isinstance(error, UnusableClock) and self.pace:
            return self.pace, ""
        if isinstance(error, UnusableAddress) and self.naming:
            return self.naming, "slug"
        if isinstance(error, NobodyEligible):
            return self.terms, error.part
        fields = {MissingLanguage: "jurisdictions", UnusableMoment: "goes_live_at"}
        return self.terms, fields.get(type(error), "")

    def _field_of_limits(self, error: UnusableLimits | ReturnTooLow) -> tuple[forms.Form, str]:
        found = next((each for each in self.currencies if each.currency == error.currency), None)
        if found is None:
            return self.chemin or self.terms, "currencies"
        if error.bet in found.ranges:
            return found.ranges[error.bet][1], "minimum" if isinstance(error, ReturnTooLow) else "maximum"
        return found.money, getattr(error, "part", "")


def sheet(like: Like, *, table: Table | None, data: QueryDict | None = None) -> Sheet:
    """Return the forms of a new table, or of another version of *table*.

    They are filled in from *data*, or from *like* if there is no data.
    """
    initial = _initial(like)
    shape = like.shape
    terms = TermsForm(data, initial=initial, shape=shape, is_new=table is None)
    naming = None if table else NamingForm(data, initial=initial)
    pace = PaceForm(data, prefix="pace", initial=initial["pace"], kind=CLOCKS[shape]) if shape in CLOCKS else None
    if shape is Shape.CHEMIN:
        wanted = initial["chemin"]["tender"] if data is None else data.get("chemin-tender")
        currency = wanted if wanted in Currency.values else Currency.values[0]
        chemin = CheminForm(data, prefix="chemin", initial=initial["chemin"], currency=currency)
        return Sheet(like, terms, naming, (), chemin, pace)
    taken = initial["currencies"] if data is None else data.getlist("currencies")
    currencies = [_of_currency(like, each, data, is_taken=each in taken) for each in Currency.values]
    return Sheet(like, terms, naming, currencies, None, pace)


def _initial(like: Like) -> Initial:
    """Return the initial values of the forms."""
    version = like.version
    limits = version.limits if version else {}
    house = everybody(Shape.SOLO, {})
    initial: Initial = {
        "jurisdictions": version.jurisdictions if version else house.jurisdictions,
        "modes": version.modes if version else list(Mode.values),
        "currencies": list(limits),
        "chat_language": version.table.chat_language if version else "",
    }
    if like.shape in PACES:
        initial["pace"] = written_pace((version.clock if version else None) or PACES[like.shape].stored())
    if like.shape is Shape.CHEMIN:
        initial["chemin"] = _chemin_initial(limits)
    return initial


def _chemin_initial(limits: Mapping[str, Any]) -> Initial:
    if not limits:
        return {"tender": Currency.values[0], "seat_count": SEATS, "house_players": 0}
    ((currency, entry),) = limits.items()
    return {**entry, "tender": currency, "minimum": written(entry["minimum"]), "maximum": written(entry["maximum"])}


def _of_currency(like: Like, currency: str, data: QueryDict | None, *, is_taken: bool) -> OfCurrency:
    entry: Mapping[str, Any] = (like.version.limits if like.version else {}).get(currency, {})
    game = VARIANTS[like.variant]
    money = _form(CurrencyForm, currency, data, _written(entry), currency=currency, is_read=is_taken, shape=like.shape)
    ranges = {}
    for bet in game.bets:
        low_high = dict(
            zip(("minimum", "maximum"), map(written, entry.get("bets", {}).get(bet.code, ())), strict=False)
        )
        form = _form(RangeForm, f"{currency}-{bet.code}", data, low_high, currency=currency, is_read=is_taken)
        ranges[bet.code] = bet_name(game, bet.code, get_language() or "en"), form
    return OfCurrency(currency, is_taken, money, ranges)


def _form(kind: type[Any], prefix: str, data: QueryDict | None, initial: Initial, *, is_read: bool, **more: Any) -> Any:
    """Return a form with the submitted values.

    A form that does not count is not validated, and keeps what was typed.
    """
    if data is None:
        return kind(prefix=prefix, initial=initial, **more)
    if is_read:
        return kind(data, prefix=prefix, **more)
    typed = {name: data.get(f"{prefix}-{name}", "") for name in kind.base_fields}
    return kind(prefix=prefix, initial=typed, **more)


def _written(entry: Mapping[str, Any]) -> Initial:
    """Return the limits of a currency formatted for its form."""
    amounts = {name: written(entry[name]) for name in ("step", "liability") if name in entry}
    return amounts | {name: written_chips(entry[name]) for name in ("chips", "tray") if name in entry}


def _stored(each: OfCurrency) -> StoredCurrency:
    money = each.money.cleaned_data
    stored: StoredCurrency = {
        "step": money["step"],
        "chips": money["chips"],
        "bets": {
            code: [form.cleaned_data["minimum"], form.cleaned_data["maximum"]]
            for code, (_, form) in each.ranges.items()
        },
    }
    if money["tray"]:
        stored["tray"] = money["tray"]
    if "liability" in money:
        stored["liability"] = money["liability"]
    return stored
