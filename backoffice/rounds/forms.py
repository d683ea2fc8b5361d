"""Search form for rounds."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django import forms

from games.models import Table
from games.variants import GAMES
from games.verification.search import END, Status, Wanted
from wallet.models import Currency, Mode

MINOR: Final = 100
OUTCOMES: Final = {"player": ("player", "punter"), "banker": ("banker",), "tie": ("tie", "draw")}
"""Outcome in the form -> stored outcomes. Chemin de Fer tables store their own values."""
AMOUNTS: Final = ("staked_least", "staked_most", "paid_least", "paid_most")


class When(forms.DateTimeField):
    """Moment to the second, in UTC."""

    def __init__(self, label: str) -> None:
        super().__init__(
            label=label, required=False, widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1})
        )

    def clean(self, value: Any) -> datetime | None:
        """Read a moment.

        Raises ValidationError for a moment outside the range of dates in UTC, as in the year 1.
        """
        try:
            return super().clean(value)
        except OverflowError as error:
            raise forms.ValidationError("There is no such moment.") from error


class Amount(forms.DecimalField):
    """Amount of money in whole units with two decimals."""

    def __init__(self, label: str) -> None:
        super().__init__(label=label, required=False, min_value=0, max_digits=15, decimal_places=2)


class RoundsForm(forms.Form):
    """Search for rounds. A code or an id finds one round; the other fields narrow the list."""

    round = forms.CharField(required=False, label="Code or id of the round", max_length=100)
    player = forms.CharField(required=False, label="Player", max_length=254)
    since = When("From (UTC)")
    until = When("Before (UTC)")
    table = forms.ModelChoiceField(Table.objects.order_by("name", "pk"), required=False, empty_label="All")
    game = forms.ChoiceField(
        required=False, choices=lambda: [("", "All"), *((slug, GAMES[slug].label("en", "name")) for slug in GAMES)]
    )
    mode = forms.ChoiceField(required=False, label="Money", choices=[("", "All"), ("R", "Real"), ("F", "Free")])
    status = forms.ChoiceField(
        required=False,
        choices=[("", "All that are over"), *((each.value, each.value.capitalize()) for each in Status)],
    )
    ending = forms.ChoiceField(
        label="Won by",
        required=False,
        choices=[("", "All"), ("player", "Player, punters"), ("banker", "Banker, bank"), ("tie", "Tie, draw")],
    )
    currency = forms.ChoiceField(required=False, choices=[("", "All"), *((code, code) for code in Currency.values)])
    staked_least = Amount("Staked, at least")
    staked_most = Amount("Staked, at most")
    paid_least = Amount("Paid back, at least")
    paid_most = Amount("Paid back, at most")
    before = forms.IntegerField(required=False, min_value=1, max_value=END, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """Require a currency for amounts, and ranges that begin before they end."""
        asked = super().clean() or {}
        if not asked.get("currency") and any(asked.get(name) is not None for name in AMOUNTS):
            self.add_error("currency", "Say in which currency.")
        for first, last in (("since", "until"), ("staked_least", "staked_most"), ("paid_least", "paid_most")):
            least, most = asked.get(first), asked.get(last)
            if least is not None and most is not None and least > most:
                self.add_error(last, "This comes before what it begins with.")
        return asked

    def wanted(self, players: Iterable[int] | None) -> Wanted:
        """Return the search of a valid form.

        *players* are those that the player field matched, None if it is empty.
        """
        asked = self.cleaned_data
        return Wanted(
            players=None if players is None else tuple(players),
            since=asked["since"],
            before=asked["until"],
            tables=_tables(asked["table"], asked["game"]),
            modes=(Mode(asked["mode"]),) if asked["mode"] else tuple(Mode),
            currency=asked["currency"],
            staked=(_minor(asked["staked_least"]), _minor(asked["staked_most"])),
            paid=(_minor(asked["paid_least"]), _minor(asked["paid_most"])),
            outcome=OUTCOMES.get(asked["ending"], ()),
            status=Status(asked["status"]) if asked["status"] else None,
        )


def _tables(table: Table | None, game: str) -> tuple[int, ...] | None:
    if table is None and not game:
        return None
    found = Table.objects.filter(variant=game) if game else Table.objects.all()
    return tuple((found.filter(pk=table.pk) if table else found).values_list("pk", flat=True))


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else int(amount * MINOR)
