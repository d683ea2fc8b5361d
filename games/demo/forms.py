"""What a guest's pages may send."""

from typing import Any

from django import forms
from django.utils.translation import ngettext

from games.betting.controls import Change, Deal
from games.betting.forms import SlipForm

REFILL = "refill"
PLAY, WATCH = "play", "watch"


class GuestSlipForm(SlipForm):
    """A click on the table, where a guest may refill too."""

    def clean_action(self) -> str | Deal | Change:
        """Return what `SlipForm` returns, or `REFILL`."""
        return REFILL if self.cleaned_data["action"] == REFILL else super().clean_action()


class DoorForm(forms.Form):
    """How a visitor becomes a guest: by confirming their age, once, and saying what to do first."""

    adult = forms.BooleanField(required=False)
    to = forms.ChoiceField(choices=[(PLAY, PLAY), (WATCH, WATCH)], required=False)

    def __init__(self, *args: Any, confirmed: bool, minimum_age: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.confirmed, self.minimum_age = confirmed, minimum_age

    def clean_adult(self) -> bool:
        """Refuse whoever has not confirmed their age."""
        if not (self.confirmed or self.cleaned_data["adult"]):
            sentence = ngettext(
                "Confirm first that you are at least %d year old.",
                "Confirm first that you are at least %d years old.",
                self.minimum_age,
            )
            raise forms.ValidationError(sentence % self.minimum_age)
        return True

    @property
    def fault(self) -> str:
        """One sentence on what is missing, or nothing."""
        return "" if not self.is_bound or self.is_valid() else str(next(iter(self.errors.values()))[0])
