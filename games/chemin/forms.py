"""What the page of a Chemin de Fer table may send."""

from typing import Any, Final, NamedTuple

from django import forms

from games.betting import idempotency
from games.chemin.options import NAMES
from games.engine.chemin import Call
from games.engine.chemin.actions import MakeCall
from wallet.cashier.forms import MoneyField, MoneyForm

KEEP: Final = "keep"  # what Enter presses: nothing happens
JOIN, LEAVE, STEP_AWAY, COME_BACK = "join", "leave", "step_away", "come_back"
AT: Final = "join:"  # before the number of a place


class Deed(NamedTuple):
    """What is decided: an action by its name, and the call where it is one."""

    name: str
    call: Call | None


class ActForm(MoneyForm):
    """An answer to what is asked: which question, which button, and the amount where one is to choose, in the
    reader's notation.
    """

    question = forms.IntegerField(min_value=0, max_value=2**63 - 1)
    action = forms.CharField(max_length=40)
    mark = forms.UUIDField(required=False)
    amount = MoneyField(required=False)

    def clean_action(self) -> Deed:
        """Return what the button says."""
        name, _, call = self.cleaned_data["action"].partition(":")
        if name not in NAMES.values() or (name == NAMES[MakeCall]) != (call in Call.__members__.values()):
            raise forms.ValidationError("unknown", code="unknown")
        return Deed(name, Call(call) if call else None)

    def clean(self) -> dict[str, Any]:
        """Bind the mark to what is answered."""
        said: dict[str, Any] = super().clean() or self.cleaned_data
        answer = (said.get(each) for each in ("question", "action", "amount"))
        return {**said, "mark": idempotency.bound(said.get("mark"), *answer)}

    @property
    def fault(self) -> str:
        """Say what is wrong with the amount; "" where it is not the amount."""
        return str(self.errors["amount"][0]) if self.errors.keys() == {"amount"} else ""


class SeatForm(forms.Form):
    """Sitting down, at a place or at random, stepping away, coming back, getting up."""

    action = forms.CharField(max_length=20)

    def clean_action(self) -> str | int:
        """Return what to do, or the place to sit down at."""
        action: str = self.cleaned_data["action"]
        if action in (KEEP, JOIN, LEAVE, STEP_AWAY, COME_BACK):
            return action
        number = action.removeprefix(AT)
        if number != action and number.isascii() and number.isdigit() and len(number) == 1:
            return int(number)
        raise forms.ValidationError("unknown", code="unknown")


def answer_of(form: ActForm) -> dict[str, Any]:
    """Return what `games.chemin.play.decide` takes of a form that is valid."""
    deed: Deed = form.cleaned_data["action"]
    return {
        "question": form.cleaned_data["question"],
        "action_name": deed.name,
        "call": deed.call,
        "amount": form.cleaned_data["amount"],
        "mark": form.cleaned_data["mark"],
    }
