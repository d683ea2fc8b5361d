"""What a table page may send."""

from django import forms

from games.controls import Change, Deal

BET = "bet:"
TAKE = "take:"


class SlipForm(forms.Form):
    """A click on the table: which button, with the round, the slip, the version of the table and the chip that the page
    showed.
    """

    action = forms.CharField(max_length=40)
    round_id = forms.UUIDField()
    slip_version = forms.IntegerField(min_value=0, max_value=2**31 - 1)
    table_version = forms.IntegerField(min_value=1, max_value=2**31 - 1)
    chip = forms.IntegerField(min_value=1, max_value=10**12, required=False)
    player_value = forms.CharField(max_length=64, required=False)

    def clean_action(self) -> str | Deal | Change:
        """Return the bet clicked with what to do there, or what to do with the slip."""
        action: str = self.cleaned_data["action"]
        if action.startswith((BET, TAKE)):
            return action
        for kind in (Deal, Change):
            if action in kind.__members__.values():
                return kind(action)
        raise forms.ValidationError("unknown action", code="unknown")
