"""Forms for time-outs, self-exclusion and the reality check."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from players.models import Player
from players.protection import exclusions, play_sessions

OWN_DATE = "own"
FOR_GOOD = "good"


class TimeOutForm(forms.Form):
    """A day, a week, a month, or until a date."""

    length = forms.ChoiceField(
        label=gettext_lazy("Duration"),
        choices=[
            ("day", gettext_lazy("1 day")),
            ("week", gettext_lazy("1 week")),
            ("month", gettext_lazy("1 month")),
            (OWN_DATE, gettext_lazy("Until a date I choose")),
        ],
    )
    until = forms.DateField(
        label=gettext_lazy("Until"),
        required=False,
        input_formats=["%Y-%m-%d"],
        widget=forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"}),
        help_text=gettext_lazy("Only if you choose your own date: at most six weeks from now."),
    )

    def clean(self) -> dict[str, Any]:
        """Require the date only if it was chosen, otherwise drop it."""
        cleaned: dict[str, Any] = super().clean() or {}
        if cleaned.get("length") != OWN_DATE:
            cleaned["until"] = None
        elif not cleaned.get("until") and "until" not in self.errors:
            self.add_error("until", _("Choose the date from which you can play again."))
        return cleaned

    def refuse_date(self) -> None:
        """Add an error that names the possible dates."""
        self.add_error("until", _("Choose a date after today and at most six weeks from now."))


class SelfExclusionForm(forms.Form):
    """Duration of a self-exclusion, and confirmation that it cannot be undone."""

    months = forms.ChoiceField(label=gettext_lazy("Duration"))
    is_sure = forms.BooleanField(
        label=gettext_lazy("I understand that no one can end this early."),
        error_messages={"required": gettext_lazy("Tick this box to confirm your self-exclusion.")},
    )

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = [
            (str(months), ngettext("%d month", "%d months", months) % months)
            for months in exclusions.months_offered(player)
        ]
        self.fields["months"].choices = [*offered, (FOR_GOOD, _("Permanently"))]  # type: ignore[attr-defined]

    def clean_months(self) -> int | None:
        """Return the number of months; None: permanently."""
        chosen = self.cleaned_data["months"]
        return None if chosen == FOR_GOOD else int(chosen)


class IntervalForm(forms.Form):
    """Interval of the reality check, in minutes."""

    minutes = forms.TypedChoiceField(label=gettext_lazy("Remind me"), coerce=int)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = {minutes: _("every %(minutes)d minutes") % {"minutes": minutes} for minutes in play_sessions.INTERVALS}
        self.fields["minutes"].choices = list(words.items())  # type: ignore[attr-defined]
