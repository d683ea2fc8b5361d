"""Form inputs for placeholders whose values staff must give.

Each value is written into the reply in the player's language and time zone. The wallet registers
the input for amounts (`register`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django import forms
from django.utils.translation import override

from players.datetime_format import written_until
from players.models import Player
from players.support.replies.filling import PLACEHOLDERS, UNFILLED

LONGEST: Final = 1000  # characters per input


@dataclass(frozen=True)
class Input:
    """Form field for a placeholder, and the function that writes its value in the active language."""

    field: Callable[[Player], forms.Field]
    write: Callable[[Any, Player], str]


def _words(name: str) -> Input:
    def field(player: Player) -> forms.Field:
        label = f"{name.replace('_', ' ').capitalize()}, as the player reads it ({player.user.language})"
        return forms.CharField(label=label, max_length=LONGEST, required=False)

    return Input(field, lambda value, player: str(value))


def _until_field(player: Player) -> forms.Field:
    return forms.DateTimeField(
        label=f"Until, by the player’s clock ({player.jurisdiction.time_zone})",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
    )


def _until(value: datetime, player: Player) -> str:
    zone = player.jurisdiction.time_zone
    return written_until(value.replace(tzinfo=ZoneInfo(zone)), zone)  # the form reads it in its own time zone


_inputs: Final[dict[str, Input]] = {placeholder: _words(placeholder) for placeholder in PLACEHOLDERS} | {
    "until": Input(_until_field, _until)
}


def register(placeholder: str, asked: Input) -> None:
    """Replace the plain-text input of a placeholder."""
    _inputs[placeholder] = asked


class PlaceholdersForm(forms.Form):
    """A form with a ``text`` and an input for each placeholder that is still open in it."""

    def __init__(self, *args: Any, player: Player, **kwargs: Any) -> None:
        """Add an input for each open placeholder of the reply to *player*."""
        super().__init__(*args, **kwargs)
        self.player = player
        text = str((self.data if self.is_bound else self.initial).get("text") or "")
        self.open_placeholders = [placeholder for placeholder in PLACEHOLDERS if f"[{placeholder}]" in text]
        for placeholder in self.open_placeholders:
            self.fields[_field(placeholder)] = _inputs[placeholder].field(player)

    @property
    def placeholder_fields(self) -> list[forms.BoundField]:
        """Return the inputs of the open placeholders."""
        return [self[_field(placeholder)] for placeholder in self.open_placeholders]

    def filled(self, text: str) -> str:
        """Return *text* with the given values. The form must have been cleaned."""
        with override(self.player.user.language):
            for placeholder in self.open_placeholders:
                value = self.cleaned_data.get(_field(placeholder))
                if value not in (None, ""):
                    text = text.replace(f"[{placeholder}]", _inputs[placeholder].write(value, self.player))
        return text

    def clean(self) -> dict[str, Any]:
        """Insert the given values. Refuse a text with open placeholders."""
        asked = super().clean() or {}
        if "text" in asked:
            asked["text"] = self.filled(asked["text"])
            if open_placeholders := sorted(set(UNFILLED.findall(asked["text"]))):
                self.add_error("text", f"Fill in the remaining placeholders: {', '.join(open_placeholders)}.")
        return asked


def _field(placeholder: str) -> str:
    return f"mark_{placeholder}"
