"""Forms of the table pages."""

from typing import Self

from django import forms

from games.betting import idempotency
from games.betting.rules import Change, Deal

BET = "bet:"
TAKE = "take:"
FAVOURITE = "favourite:"
KEEP = "keep"  # sent by Enter, which changes nothing


class _Shared(forms.Field):
    """A field that no form changes. Django copies each field for each form, which takes longer than to check it."""

    def __deepcopy__(self, memo: object) -> Self:
        return self


class _Fields(dict[str, forms.Field]):
    """The fields of a form, which is not given a copy of them either."""

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Text(_Shared, forms.CharField):
    """A text."""


class Number(_Shared, forms.IntegerField):
    """A whole number."""


class Id(_Shared, forms.UUIDField):
    """A UUID."""


class TableForm(forms.Form):
    """A click on a table: the button, and the round, table version and chip that the page showed."""

    action = Text(max_length=40)
    round_id = Id()
    table_version = Number(min_value=1, max_value=2**31 - 1)
    chip = Number(min_value=1, max_value=10**12, required=False)
    idempotency_key = Id(required=False)

    def _clean_fields(self) -> None:
        """Check as Django does, without what it needs to show a form again: a page of a table is never one."""
        for name, field in self.fields.items():
            try:
                self.cleaned_data[name] = field.clean(self.data.get(name))
                if clean := getattr(self, f"clean_{name}", None):
                    self.cleaned_data[name] = clean()
            except forms.ValidationError as error:
                self.add_error(name, error)

    def clean(self) -> None:
        """Bind the idempotency key to the content of the click."""
        said = self.cleaned_data
        said["idempotency_key"] = idempotency.bound(
            said.get("idempotency_key"), *(said.get(each) for each in ("action", "chip", "round_id"))
        )


class SlipForm(TableForm):
    """A click on a solo table, with the slip version that the page showed."""

    slip_version = Number(min_value=0, max_value=2**31 - 1)
    # what was sent is mixed in: the browser keeps it, and checks
    player_value = Text(max_length=64, required=False, strip=False)

    def clean_action(self) -> str | Deal | Change:
        """Return the clicked bet with its prefix, a change or deal of the slip, or `KEEP`."""
        action: str = self.cleaned_data["action"]
        if action == KEEP or action.startswith((BET, TAKE)):
            return action
        for kind in (Deal, Change):
            if action in kind.__members__.values():
                return kind(action)
        raise forms.ValidationError("unknown", code="unknown")


class ClickForm(TableForm):
    """A click at a shared table."""

    def clean_action(self) -> str | int | Change:
        """Return the clicked bet with its prefix, the number of a favourite, a change of the slip, or `KEEP`."""
        action: str = self.cleaned_data["action"]
        if action == KEEP or action.startswith((BET, TAKE)):
            return action
        number = action.removeprefix(FAVOURITE)
        if number != action and number.isdecimal() and int(number) < 2**63:
            return int(number)
        if action in Change.__members__.values():
            return Change(action)
        raise forms.ValidationError("unknown", code="unknown")


for form in (SlipForm, ClickForm):
    form.base_fields = _Fields(form.base_fields)
